package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestARecordIsRevisedBetweenTwoVisits(t *testing.T) {
	t.Parallel()
	const u = "http://a.example/"
	w := newWorld(t)
	w.add(at(0), u)
	revise := func(now time.Time, change func(*frontier.Record) bool) bool {
		t.Helper()
		done, err := w.Revise(now, parse(t, u), change)
		must(t, err)
		w.check()
		return done
	}
	later := func(r *frontier.Record) bool {
		r.Due, r.Why, r.Rendered, r.Versions = at(5*time.Hour), "the text", "seen", 7
		return true
	}
	c := w.claim(at(time.Minute), u)
	if revise(at(time.Minute), later) {
		t.Error("a URI that is being visited was revised")
	}
	r := c.Record
	r.Due, r.Visits = at(2*time.Hour), 1
	w.settle(c, frontier.Settlement{Record: r, Finished: at(time.Minute)})
	if revise(at(time.Hour), func(r *frontier.Record) bool { r.Visits = 99; return false }) {
		t.Error("a record that was to stay was revised")
	}
	if !revise(at(time.Hour), later) {
		t.Error("the record was not revised")
	}
	if done, err := w.Revise(at(0), parse(t, "http://never.example/"), later); done || err != nil {
		t.Errorf("an unknown URI: %v, %v", done, err)
	}
	w.reopen(at(2 * time.Hour)) // it is stored, and so is its place in the queue
	if got := w.get(u); got.Why != "the text" || got.Rendered != "seen" || got.Versions != 7 || got.Visits != 1 {
		t.Errorf("the record is %+v", got)
	}
	if c, ok, err := w.Claim(at(3 * time.Hour)); ok || err != nil {
		t.Errorf("before its new due time, %v was claimed, %v", c.Record.URI, err)
	}
	w.claim(at(5*time.Hour), u)
}
