package evaluators_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Every mode against its definition in words, over all combinations of missing, same, other and not remembered.
func TestEveryModeOverTheFullTable(t *testing.T) {
	t.Parallel()
	values := []string{"", "x", "y", `W/"x"`}
	for _, be := range values {
		for _, bm := range values {
			for _, ne := range values {
				for _, nm := range values {
					checkModes(t, evaluators.Validators{ETag: be, LastModified: bm}, evaluators.Validators{ETag: ne, LastModified: nm})
				}
			}
		}
	}
}

func checkModes(t *testing.T, before, now evaluators.Validators) {
	t.Helper()
	sameETag := now.ETag != "" && now.ETag == before.ETag
	sameDate := now.LastModified != "" && now.LastModified == before.LastModified
	for mode, want := range map[evaluators.DecideBy]bool{
		evaluators.Agree:        (sameETag || sameDate) && (sameETag || now.ETag == "") && (sameDate || now.LastModified == ""),
		evaluators.ETag:         sameETag,
		evaluators.LastModified: sameDate,
		evaluators.Either:       sameETag || sameDate,
		evaluators.Off:          false,
	} {
		got, reason := evaluators.Midfetch{DecideBy: mode}.Unchanged(before, now)
		if got != want || reason == "" {
			t.Errorf("%s: before %+v, now %+v: %t (%q), want %t", mode, before, now, got, reason, want)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	both := evaluators.Validators{ETag: `W/"6-x"`, LastModified: "yesterday, more or less"}
	etag := evaluators.Validators{ETag: both.ETag}
	date := evaluators.Validators{LastModified: both.LastModified}
	none := evaluators.Validators{}
	for _, c := range []struct {
		name         string
		mode         evaluators.DecideBy
		before, want evaluators.Validators
	}{
		{"agree sends the ETag alone", evaluators.Agree, both, etag},
		{"agree sends the date if there is no ETag", evaluators.Agree, date, date},
		{"agree sends nothing of nothing", evaluators.Agree, none, none},
		{"either sends the ETag alone", evaluators.Either, both, etag},
		{"either sends the date if there is no ETag", evaluators.Either, date, date},
		{"etag sends the ETag", evaluators.ETag, both, etag},
		{"etag never sends the date", evaluators.ETag, date, none},
		{"last-modified sends the date", evaluators.LastModified, both, date},
		{"last-modified never sends the ETag", evaluators.LastModified, etag, none},
		{"off sends nothing", evaluators.Off, both, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := (evaluators.Midfetch{DecideBy: c.mode}).Conditions(c.before); got != c.want {
				t.Errorf("%s: Conditions(%+v) = %+v, want %+v", c.mode, c.before, got, c.want)
			}
		})
	}
}

func TestDecideByNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"etag", "last-modified", "agree", "either", "off"} {
		d, err := evaluators.ParseDecideBy(name)
		if err != nil || d.String() != name {
			t.Errorf("ParseDecideBy(%q) = %s, %v", name, d, err)
		}
		var back evaluators.DecideBy
		text, err := json.Marshal(d)
		if err != nil || json.Unmarshal(text, &back) != nil || back != d {
			t.Errorf("%s is written as %s and read as %s (%v)", d, text, back, err)
		}
	}
	for _, name := range []string{"", "ETag", "both"} {
		if d, err := evaluators.ParseDecideBy(name); err == nil {
			t.Errorf("ParseDecideBy(%q) = %s, want an error", name, d)
		}
		d := evaluators.Either
		if err := d.UnmarshalText([]byte(name)); err == nil || d != evaluators.Either {
			t.Errorf("UnmarshalText(%q) = %s, %v; want an error and no change", name, d, err)
		}
	}
	if got := evaluators.DecideBy(99).String(); got != "decide-by(99)" {
		t.Errorf("a number without name is %q", got)
	}
}

// Heritrix looked for a header named last-etag. Here a real server sends an ETag and nothing else.
func TestHeaderNameThatDoesNotExist(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("etag", `"5f2c-61a"`)
	}))
	defer server.Close()
	visit := func() evaluators.Validators {
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return evaluators.ValidatorsOf(answer.Header)
	}
	first, second := visit(), visit()
	if want := (evaluators.Validators{ETag: `"5f2c-61a"`}); first != want {
		t.Fatalf("validators of the first answer are %+v, want %+v", first, want)
	}
	if got, reason := (evaluators.Midfetch{}).Unchanged(first, second); !got || reason != "same ETag" {
		t.Errorf("the second answer is unchanged: %t (%s), want true", got, reason)
	}
}
