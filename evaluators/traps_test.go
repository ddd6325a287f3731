package evaluators_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/evaluators"
)

// The tests of this file are named after faults that other crawlers have had.

// Heritrix never reset the state of a URI: once unchanged, always unchanged.
func TestStickyUnchanged(t *testing.T) {
	t.Parallel()
	before := evaluators.Before{Known: true, Status: 200, Comparison: sum("v1")}
	var judge evaluators.ChangeEvaluator
	for range 3 {
		if v := judge.Judge(before, evaluators.Seen{Status: 200, Unread: true}); v.State != evaluators.Unchanged {
			t.Fatalf("a mid-fetch abort is %+v", v)
		}
	}
	v := judge.Judge(before, evaluators.Seen{Status: 200, Comparison: sum("v2"), Complete: true})
	if v.State != evaluators.Changed {
		t.Errorf("a change after unchanged visits is %+v, want changed", v)
	}
}

// Chronicrawl had the change bit the wrong way round in its scheduler.
func TestChangeBitInverted(t *testing.T) {
	t.Parallel()
	stack := evaluators.Default()
	rapid.Check(t, func(t *rapid.T) {
		previous := time.Duration(rapid.Int64Range(int64(hour), int64(28*day)).Draw(t, "previous"))
		next := func(s evaluators.State) time.Duration {
			return stack.Next(evaluators.WaitInput{MIME: "text/html", State: s, Previous: previous}).Interval
		}
		if got := next(evaluators.Unchanged); got <= previous && previous < 28*day-time.Millisecond {
			t.Fatalf("unchanged after %s waits %s, want longer", previous, got)
		}
		if got := next(evaluators.Changed); got >= previous && previous > hour+time.Millisecond {
			t.Fatalf("changed after %s waits %s, want shorter", previous, got)
		}
		if got := next(evaluators.Unknown); got != previous {
			t.Fatalf("unknown after %s waits %s, want the same", previous, got)
		}
	})
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

// urlwatch sent its own clock as If-Modified-Since. Here a file server that compares seconds is asked again with
// what it said itself.
func TestOwnClockAsIfModifiedSince(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.txt")
	changed := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	if err := os.WriteFile(file, []byte("news"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, changed, changed); err != nil {
		t.Fatal(err)
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-Modified-Since"))
		http.ServeFile(w, r, file)
	}))
	defer server.Close()
	var remembered evaluators.Validators
	var statuses []int
	for range 2 {
		request, err := http.NewRequest(http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := (evaluators.Midfetch{}).Conditions(remembered); c.LastModified != "" {
			request.Header.Set("If-Modified-Since", c.LastModified)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		statuses = append(statuses, answer.StatusCode)
		remembered = evaluators.ValidatorsOf(answer.Header)
	}
	if want := "Fri, 02 Jan 2026 03:04:05 GMT"; asked[1] != want {
		t.Errorf("the second visit sent If-Modified-Since %q, want the server's own %q", asked[1], want)
	}
	if statuses[0] != 200 || statuses[1] != 304 {
		t.Errorf("statuses are %v, want 200 and 304", statuses)
	}
}

// StormCrawler compared the signature of the empty body of a 304 and found a change.
func TestNotModifiedCountedAsChange(t *testing.T) {
	t.Parallel()
	before := evaluators.Before{Known: true, Status: 200, Comparison: sum("news")}
	seen := evaluators.Seen{Status: 304, Comparison: sum(""), Unread: true}
	if v := (evaluators.ChangeEvaluator{}).Judge(before, seen); v.State != evaluators.Unchanged {
		t.Errorf("a 304 is %+v, want unchanged", v)
	}
}

// StormCrawler wiped what it knew on an error. A broken visit between two good ones leaves digest and interval.
func TestMetadataWipedOnError(t *testing.T) {
	t.Parallel()
	stack := evaluators.Default()
	before := evaluators.Before{Known: true, Status: 200, Comparison: sum("news")}
	interval := 30 * hour
	for _, seen := range []evaluators.Seen{
		{Status: 503, Comparison: sum("sorr")},
		{Status: 200, Comparison: sum("ne")},
		{Status: 200, Comparison: scrubbed("news", 3), Complete: true},
	} {
		v := evaluators.ChangeEvaluator{}.Judge(before, seen)
		interval = stack.Next(evaluators.WaitInput{
			MIME: "text/html", State: v.State, First: v.First, Previous: interval,
		}).Interval
		if v.State != evaluators.Unknown || interval != 30*hour {
			t.Fatalf("%+v: verdict %+v and interval %s, want unknown and 30h", seen, v, interval)
		}
	}
	v := evaluators.ChangeEvaluator{}.Judge(before, evaluators.Seen{Status: 200, Comparison: sum("news"), Complete: true})
	w := stack.Next(evaluators.WaitInput{MIME: "text/html", State: v.State, Previous: interval})
	if w.Interval != 45*hour {
		t.Errorf("the next good visit waits %+v, want 30h × 1.5", w)
	}
}

// Heritrix forgot the factor 1000 between seconds and milliseconds on one path. The ancestors' maximum is 2,419,200 s.
func TestSecondsAndMillisecondsMixed(t *testing.T) {
	t.Parallel()
	for _, e := range evaluators.Default() {
		rule := e.Rule.(evaluators.Classic)
		if rule.Max.Milliseconds() != 2_419_200_000 || rule.Min.Milliseconds() != 3_600_000 ||
			rule.Unknown.Milliseconds() != 259_200_000 {
			t.Errorf("%s: min %d ms, max %d ms, unknown %d ms", e.Name, rule.Min.Milliseconds(), rule.Max.Milliseconds(), rule.Unknown.Milliseconds())
		}
	}
}

// diffengine used the part of an elapsed time below one day.
func TestElapsedTimeThatWrapsDaily(t *testing.T) {
	t.Parallel()
	stack := evaluators.Stack{{Name: "all", Rule: evaluators.Classic{UseOverdue: true}}}
	w := stack.Next(evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour, Overdue: 50 * hour})
	if w.Interval != 90*hour {
		t.Errorf("10h + 50h overdue, unchanged: %+v, want 90h", w)
	}
}

// A daily seed of ukwa-heritrix drifted. An interval with equal bounds is the same whatever was seen.
func TestIntervalRuleDriftsADailySeed(t *testing.T) {
	t.Parallel()
	stack := evaluators.Stack{
		{Name: "daily", Rule: evaluators.Classic{Initial: day, Min: day, Max: day, Unknown: day, UseOverdue: true}},
	}
	in := evaluators.WaitInput{State: evaluators.Changed, First: true}
	for visit := range 30 {
		w := stack.Next(in)
		if w.Interval != day {
			t.Fatalf("visit %d: %+v, want 24h", visit+1, w)
		}
		in = evaluators.WaitInput{
			State: evaluators.State(visit % 3), Previous: w.Interval, Overdue: time.Duration(visit) * time.Minute,
		}
	}
}

// Heritrix used a factor of zero to divide by, and jumped to the maximum when a page changed.
func TestFactorOfZeroSendsAChangedPageToTheMaximum(t *testing.T) {
	t.Parallel()
	w := evaluators.Stack{{Name: "all"}}.Next(evaluators.WaitInput{State: evaluators.Changed, Previous: 12 * hour})
	if w.Interval != 8*hour {
		t.Errorf("changed after 12h with a factor of zero: %+v, want the default's 8h", w)
	}
}
