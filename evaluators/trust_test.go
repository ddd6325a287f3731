package evaluators

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

const (
	monday  = "Mon, 02 Jan 2006 15:04:05 GMT"
	tuesday = "Tue, 03 Jan 2006 15:04:05 GMT"
	html    = "text/html; charset=utf-8"
)

var bar = Threshold{Proof: 3, Precision: 0.98}

// The ancestors' table for one header, and what does not go into it.
func TestEachObservationGoesIntoItsFieldOfTheTable(t *testing.T) {
	t.Parallel()
	tag := func(s string) Validators { return Validators{ETag: s} }
	for _, row := range []struct {
		name string
		see  Observation
		of   Witness
		want Standing
	}{
		{
			"same ETag, same body: no change, rightly",
			Observation{Before: tag(`"a"`), Now: tag(`"a"`), State: Unchanged},
			WitnessETag,
			Standing{SameRight: 1, Known: 1},
		},
		{
			"same ETag, other body: no change, falsely",
			Observation{Before: tag(`"a"`), Now: tag(`"a"`), State: Changed},
			WitnessETag,
			Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
		{
			"other ETag, other body: change, rightly",
			Observation{Before: tag(`"a"`), Now: tag(`"b"`), State: Changed},
			WitnessETag,
			Standing{ChangeRight: 1},
		},
		{
			"other ETag, same body: change, falsely",
			Observation{Before: tag(`"a"`), Now: tag(`"b"`), State: Unchanged},
			WitnessETag,
			Standing{ChangeWrong: 1},
		},
		{
			"no ETag any more is missing",
			Observation{Before: tag(`"a"`), State: Unchanged},
			WitnessETag,
			Standing{Missing: 1},
		},
		{
			"an ETag that nothing is remembered of predicts nothing",
			Observation{Now: tag(`"a"`), State: Unchanged},
			WitnessETag,
			Standing{},
		},
		{
			"a weak ETag is compared weakly and is a witness of its own",
			Observation{Before: tag(`W/"a"`), Now: tag(`"a"`), State: Changed},
			WitnessWeakETag,
			Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
		{
			"an unknown state says nothing",
			Observation{Before: tag(`"a"`), Now: tag(`"a"`)},
			WitnessETag,
			Standing{},
		},
		{
			"a conditional request that told of a change",
			Observation{State: Changed, Conditional: true},
			WitnessNotModified,
			Standing{ChangeRight: 1},
		},
		{
			"an audit that found what the 304 had said",
			Observation{State: Unchanged, Denied: true},
			WitnessNotModified,
			Standing{SameRight: 1, Known: 1},
		},
		{
			"an audit that found a change which may be newer than the 304",
			Observation{State: Changed, Denied: true},
			WitnessNotModified,
			Standing{Doubts: 1},
		},
		{
			"an audit that found a change older than the 304",
			Observation{State: Changed, Denied: true, Stale: true},
			WitnessNotModified,
			Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.see.MIME = html
			got := Reputation{}.After(row.see)
			if s := got[ClassText][row.of]; s != row.want {
				t.Errorf("got %+v, want %+v", s, row.want)
			}
			if got[ClassOther] != (Reputation{})[ClassOther] {
				t.Error("a page of text changed the reputation of other types")
			}
		})
	}
}

func visits(r Reputation, n int, o Observation) Reputation {
	for range n {
		r = r.After(o)
	}
	return r
}

func TestAWitnessIsBelievedOnceProvenAndUntilItIsWrong(t *testing.T) {
	t.Parallel()
	same := Validators{LastModified: monday}
	right := Observation{MIME: html, Before: same, Now: same, State: Unchanged}
	lie := Observation{MIME: html, Before: same, Now: same, State: Changed}
	doubted := func(r Reputation) bool { return r.Doubts(html, bar)[WitnessLastModified] }

	static := Reputation{}
	if !doubted(visits(static, 11, right)) || doubted(visits(static, 12, right)) {
		t.Error("a witness that never told of a change must be right twelve times, not three")
	}
	told := Observation{MIME: html, Before: same, Now: Validators{LastModified: tuesday}, State: Changed}
	r := visits(Reputation{}.After(told), 2, right)
	if !doubted(r) {
		t.Error("believed after two right predictions, three are asked for")
	}
	r = visits(r, 1, right)
	if doubted(r) {
		t.Error("doubted after three right predictions")
	}
	if !r.Doubts("image/png", bar)[WitnessLastModified] {
		t.Error("believed about images because of pages")
	}
	if !doubted(visits(r, 1, lie)) {
		t.Error("believed though one of four predictions was a lie")
	}
	r = visits(r, 1000, right)
	if doubted(visits(r, 1, lie)) || !doubted(visits(r, 2, lie)) {
		t.Error("a long honest witness must fall with the second lie, however long it was honest")
	}
	if r = visits(visits(r, 2, lie), 63, right); doubted(r) {
		t.Error("a witness that was corrected does not regain its standing")
	}
	if (Reputation{}).Doubts(html, Threshold{}) != (Doubts{}) {
		t.Error("without a bar somebody is doubted")
	}
}

func TestAServerThatAlwaysSays304IsDoubtedAfterTheSecondAudit(t *testing.T) {
	t.Parallel()
	found := Observation{MIME: html, State: Changed, Denied: true}
	told := Observation{MIME: html, State: Changed, Conditional: true}
	fallen := func(r Reputation) bool { return r.Doubts(html, bar)[WitnessNotModified] }
	r := visits(Reputation{}, 1, found)
	if fallen(r) {
		t.Error("one audit that finds a change is no proof of a lie")
	}
	if fallen(visits(r.After(told), 1, found)) {
		t.Error("fallen though a conditional request between the audits told of a change")
	}
	r = visits(r, 1, found)
	if !fallen(r) {
		t.Fatal("two audits in a row found changes that no 304 told of, and it is still believed")
	}
	if got := (Midfetch{Doubted: r.Doubts(html, bar)}).Conditions(Validators{ETag: `"a"`}); got != (Validators{}) {
		t.Errorf("conditions %+v are sent to a server whose 304 is not believed", got)
	}
	quiet := Observation{MIME: html, State: Unchanged}
	if fallen(visits(r, 64, quiet)) {
		t.Error("it never gets another chance")
	}
}

func TestADoubtedValidatorIsNeitherBelievedNorSent(t *testing.T) {
	t.Parallel()
	both := Validators{ETag: `"a"`, LastModified: monday}
	weak := Validators{ETag: `W/"a"`, LastModified: monday}
	etag := Doubts{WitnessETag: true}
	for _, row := range []struct {
		name        string
		m           Midfetch
		before, now Validators
		unchanged   bool
		sent        Validators
	}{
		{"a doubted ETag leaves the date to decide", Midfetch{Doubted: etag}, both, both, true, Validators{LastModified: monday}},
		{"a doubted ETag that differs still shows a change", Midfetch{Doubted: etag}, both, Validators{
			ETag: `"b"`, LastModified: monday,
		}, false, Validators{LastModified: monday}},
		{"nobody is left who could vouch", Midfetch{
			DecideBy: ETag, Doubted: etag,
		}, both, both, false, Validators{}},
		{"doubt of strong ETags does not apply to weak ones", Midfetch{
			DecideBy: ETag, Doubted: etag,
		}, weak, weak, true, Validators{ETag: `W/"a"`}},
		{"either uses the one that is believed", Midfetch{
			DecideBy: Either, Doubted: etag,
		}, both, both, true, Validators{LastModified: monday}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got, why := row.m.Unchanged(row.before, row.now); got != row.unchanged {
				t.Errorf("unchanged = %t (%s)", got, why)
			}
			if got := row.m.Conditions(row.before); got != row.sent {
				t.Errorf("sent %+v, want %+v", got, row.sent)
			}
		})
	}
}

func TestContradictsFindsA304WithAnotherETag(t *testing.T) {
	t.Parallel()
	before := Validators{ETag: `"a"`, LastModified: monday}
	date, tag := Validators{LastModified: monday}, Validators{ETag: `"a"`}
	var m Midfetch
	if !m.Contradicts(date, before, Validators{ETag: `"b"`}) {
		t.Error("a 304 to a date with another ETag is believed")
	}
	if m.Contradicts(date, before, Validators{ETag: `W/"a"`}) || m.Contradicts(tag, before, Validators{ETag: `"a-gzip"`}) {
		t.Error("a 304 with the same ETag in its weak form, or to an ETag that was asked about, is taken for a contradiction")
	}
}

// Lots are spread evenly; the share that is drawn is measured over ten thousand of them.
func TestAuditsAreMoreFrequentAfterAnErrorAndFewerAsEvidenceGrows(t *testing.T) {
	t.Parallel()
	same := Validators{LastModified: monday}
	right := Observation{MIME: html, Before: same, Now: same, State: Unchanged}
	lie := Observation{MIME: html, Before: same, Now: same, State: Changed}
	a := Audit{Share: 0.01}
	share := func(r Reputation) int {
		n := 0
		for i := range uint64(10_000) {
			if due, _ := a.Due(r, Visit{MIME: html, Random: i * (1 << 63 / 5_000)}); due {
				n++
			}
		}
		return n
	}
	honest := visits(Reputation{}, 64, right)
	for name, row := range map[string]struct {
		r    Reputation
		want int
	}{
		"nothing known":     {Reputation{}, 300},
		"long known honest": {honest, 100},
		"after a lie":       {honest.After(lie), 1000},
	} {
		if got := share(row.r); got < row.want-2 || got > row.want+2 {
			t.Errorf("%s: %d of 10,000 visits are audits, want %d", name, got, row.want)
		}
	}
}

func TestNoBodyStaysUnreadBeyondTheLimits(t *testing.T) {
	t.Parallel()
	a := Audit{Every: 5, Within: 24 * time.Hour}
	for _, row := range []struct {
		name string
		v    Visit
		want bool
	}{
		{"the fourth visit in a row", Visit{Unread: 4}, false},
		{"the fifth visit in a row", Visit{Unread: 5}, true},
		{"a day after the last reading", Visit{Unread: 1, Since: 24 * time.Hour}, true},
		{"a day after the last reading, with none unread", Visit{Since: 24 * time.Hour}, false},
	} {
		row.v.Random = 1<<64 - 1
		if got, _ := a.Due(Reputation{}, row.v); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if due, _ := (Audit{}).Due(Reputation{}, Visit{Unread: 1 << 30}); due {
		t.Error("the zero value audits")
	}
}

func TestDatesAreComparedOnlyWithTheServersOwn(t *testing.T) {
	t.Parallel()
	h := http.Header{"Last-Modified": {monday}, "Date": {tuesday}}
	if !ChangedBefore(h, 23*time.Hour) || ChangedBefore(h, 25*time.Hour) ||
		ChangedBefore(http.Header{}, 0) {
		t.Error("the age of a change is not what Date and Last-Modified say")
	}
	for _, c := range []struct {
		date string
		want time.Duration // the age of the change; -1 = it is not known
	}{
		{tuesday, 24 * time.Hour},
		{"Mon, 02 Jan 2006 15:05:05 GMT", time.Minute},
		{"Mon, 02 Jan 2006 15:05:04 GMT", -1}, // made for the request, perhaps
		{"", -1},
	} {
		at, ok := ChangedAt(http.Header{"Last-Modified": {monday}, "Date": {c.date}}, january)
		if ok != (c.want >= 0) || ok && january.Sub(at) != c.want {
			t.Errorf("sent at %q, it changed at %s, %t; want %s ago", c.date, at, ok, c.want)
		}
	}
	if got := Lasting(h); got.LastModified != monday {
		t.Errorf("a date of yesterday is not kept: %+v", got)
	}
	h.Set("Date", monday)
	if got := Lasting(h); got.LastModified != "" {
		t.Errorf("a date of this very second is kept: %+v", got)
	}
}

func TestClassesOfTypes(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]Class{
		"text/html": ClassText, "TEXT/CSS; charset=x": ClassText, "application/rss+xml": ClassText,
		"application/json": ClassText, "application/javascript": ClassText,
		"image/svg+xml": ClassOther, "image/png": ClassOther, "": ClassOther, "application/pdf": ClassOther,
	} {
		if got := ClassOf(mime); got != want {
			t.Errorf("%q is %s, want %s", mime, got, want)
		}
	}
}

// Every mode against its definition in words, over all combinations of missing, same, other and not remembered.
func TestEveryModeOverTheFullTable(t *testing.T) {
	t.Parallel()
	values := []string{"", "x", "y", `W/"x"`}
	for _, be := range values {
		for _, bm := range values {
			for _, ne := range values {
				for _, nm := range values {
					checkModes(t, Validators{ETag: be, LastModified: bm}, Validators{ETag: ne, LastModified: nm})
				}
			}
		}
	}
}

func checkModes(t *testing.T, before, now Validators) {
	t.Helper()
	sameETag := now.ETag != "" && now.ETag == before.ETag
	sameDate := now.LastModified != "" && now.LastModified == before.LastModified
	for mode, want := range map[DecideBy]bool{
		Agree:        (sameETag || sameDate) && (sameETag || now.ETag == "") && (sameDate || now.LastModified == ""),
		ETag:         sameETag,
		LastModified: sameDate,
		Either:       sameETag || sameDate,
		Off:          false,
	} {
		got, reason := Midfetch{DecideBy: mode}.Unchanged(before, now)
		if got != want || reason == "" {
			t.Errorf("%s: before %+v, now %+v: %t (%q), want %t", mode, before, now, got, reason, want)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	both := Validators{ETag: `W/"6-x"`, LastModified: "yesterday, more or less"}
	etag := Validators{ETag: both.ETag}
	date := Validators{LastModified: both.LastModified}
	none := Validators{}
	for _, c := range []struct {
		name         string
		mode         DecideBy
		before, want Validators
	}{
		{"agree sends the ETag alone", Agree, both, etag},
		{"agree sends the date if there is no ETag", Agree, date, date},
		{"agree sends nothing of nothing", Agree, none, none},
		{"either sends the ETag alone", Either, both, etag},
		{"either sends the date if there is no ETag", Either, date, date},
		{"etag sends the ETag", ETag, both, etag},
		{"etag never sends the date", ETag, date, none},
		{"last-modified sends the date", LastModified, both, date},
		{"last-modified never sends the ETag", LastModified, etag, none},
		{"off sends nothing", Off, both, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := (Midfetch{DecideBy: c.mode}).Conditions(c.before); got != c.want {
				t.Errorf("%s: Conditions(%+v) = %+v, want %+v", c.mode, c.before, got, c.want)
			}
		})
	}
}

// Heritrix looked for a header named last-etag. Here a real server sends an ETag and nothing else.
func TestHeaderNameThatDoesNotExist(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("etag", `"5f2c-61a"`)
	}))
	defer server.Close()
	visit := func() Validators {
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return ValidatorsOf(answer.Header)
	}
	first, second := visit(), visit()
	if want := (Validators{ETag: `"5f2c-61a"`}); first != want {
		t.Fatalf("validators of the first answer are %+v, want %+v", first, want)
	}
	if got, reason := (Midfetch{}).Unchanged(first, second); !got || reason != "same ETag" {
		t.Errorf("the second answer is unchanged: %t (%s), want true", got, reason)
	}
}
