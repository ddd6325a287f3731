package frontier_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// day is the time at which the tests begin.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// polite is the politeness of most tests: a delay of exactly two seconds.
var polite = frontier.Politeness{MinDelay: 2 * time.Second, MaxDelay: 2 * time.Second}

func at(d time.Duration) time.Time { return day.Add(d) }

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	must(t, err)
	return u
}

func candidates(t testing.TB, texts ...string) []frontier.Candidate {
	t.Helper()
	var cs []frontier.Candidate
	for _, s := range texts {
		cs = append(cs, frontier.Candidate{URI: parse(t, s), Seed: s})
	}
	return cs
}

// world is a frontier and the folder of its store.
type world struct {
	testing.TB
	*frontier.Frontier
	o frontier.Options
}

// newWorld opens a frontier. It is checked and closed at the end of the test.
func newWorld(t testing.TB, change ...func(*frontier.Options)) *world {
	t.Helper()
	w := &world{TB: t, o: frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: day}}
	for _, c := range change {
		c(&w.o)
	}
	w.open(day)
	t.Cleanup(func() {
		if w.Frontier != nil {
			w.close()
		}
	})
	return w
}

func (w *world) open(now time.Time) {
	w.Helper()
	w.o.Now = now
	f, err := frontier.Open(w.o)
	must(w, err)
	w.Frontier = f
}

func (w *world) close() {
	w.Helper()
	must(w, errors.Join(w.Check(), w.Frontier.Close()))
	w.Frontier = nil
}

func (w *world) reopen(now time.Time) {
	w.Helper()
	w.close()
	w.open(now)
}

// add adds URIs in one call and expects all of them to be new.
func (w *world) add(now time.Time, texts ...string) {
	w.Helper()
	added, err := w.Add(now, candidates(w, texts...)...)
	if err != nil || added.New != len(texts) {
		w.Fatalf("Add(%v) = %+v, %v; want all new", texts, added, err)
	}
}

// addAll adds candidates.
func (w *world) addAll(cs ...frontier.Candidate) frontier.Added {
	w.Helper()
	added, err := w.Add(day, cs...)
	must(w, err)
	return added
}

// addDue adds one URI with a due time.
func (w *world) addDue(now time.Time, text string, due time.Time) {
	w.Helper()
	if added, err := w.Add(now, frontier.Candidate{URI: parse(w, text), Due: due}); err != nil || added.New != 1 {
		w.Fatalf("Add(%s) = %+v, %v; want it new", text, added, err)
	}
}

// claim claims a URI now, and fails the test if it is not the expected one.
func (w *world) claim(now time.Time, text string) frontier.Claim {
	w.Helper()
	c, ok, err := w.Claim(now)
	if err != nil || !ok || c.Record.URI.String() != text {
		w.Fatalf("Claim(%s) = %q, %v, %v; want %s", now.Format(time.StampMilli), c.Record.URI, ok, err, text)
	}
	return c
}

// nothing fails the test if a URI can be claimed now.
func (w *world) nothing(now time.Time) {
	w.Helper()
	if c, ok, err := w.Claim(now); err != nil || ok {
		w.Fatalf("Claim(%s) = %q, %v, %v; want nothing", now.Format(time.StampMilli), c.Record.URI, ok, err)
	}
}

// nextAt expects that the URI can be claimed at the given time, and that no URI can be claimed a millisecond earlier.
func (w *world) nextAt(want time.Time, text string) frontier.Claim {
	w.Helper()
	got, ok := w.NextReady()
	if !ok || !got.Equal(want) {
		w.Fatalf("NextReady() = %s, %v; want %s", got, ok, want)
	}
	w.nothing(want.Add(-time.Millisecond))
	return w.claim(want, text)
}

// visited returns the settlement of a visit that took no time and ended now. The host rests as polite says, and the URI
// is due again after the wait.
func visited(c frontier.Claim, now time.Time, wait time.Duration) frontier.Settlement {
	r := c.Record
	r.Visits++
	r.LastVisit = now
	r.Due = now.Add(wait)
	return frontier.Settlement{Record: r, Finished: now, Politeness: polite}
}

func (w *world) settle(c frontier.Claim, o frontier.Settlement) frontier.Added {
	w.Helper()
	added, err := w.Settle(c, o)
	must(w, err)
	return added
}

func (w *world) get(text string) frontier.Record {
	w.Helper()
	r, ok, err := w.Get(parse(w, text))
	if err != nil || !ok {
		w.Fatalf("Get(%s) = %v, %v; want it", text, ok, err)
	}
	return r
}

func (w *world) check() {
	w.Helper()
	must(w, w.Check())
}

func (w *world) wantErr(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("error %v, want %v", err, want)
	}
}

// steerHosts applies a verb without a time to all hosts that match a pattern.
func (w *world) steerHosts(now time.Time, pattern string, verb frontier.HostVerb) {
	w.Helper()
	_, _, err := w.SteerHosts(now, pattern, frontier.HostAction{Verb: verb})
	must(w, err)
}

// walk calls step with one cursor after the other, until the walk is complete, and returns the number of calls.
func (w *world) walk(step func(from frontier.Cursor) (next frontier.Cursor, err error)) (steps int) {
	w.Helper()
	for from, more := frontier.Cursor(""), true; more; more = from != "" {
		var err error
		from, err = step(from)
		must(w, err)
		steps++
	}
	return steps
}

// pages returns n numbered URIs of a host.
func pages(host string, n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("http://%s/page/%d", host, i)
	}
	return s
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
