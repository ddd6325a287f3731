package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// leave claims a URI and settles it as out of scope: it is due again a day later.
func (w *world) leave(now time.Time, u string) {
	w.Helper()
	c := w.claim(now, u)
	r := c.Record
	r.DueInScope, r.Due, r.LastStatus = r.Due, now.Add(24*time.Hour), -5000
	w.settle(c, frontier.Settlement{Record: r, Finished: now, NoRequest: true})
}

func (w *world) outOfScope(n int) (list []uri.URI) {
	w.Helper()
	w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		some, next, err := w.OutOfScope(from, n)
		for _, r := range some {
			list = append(list, r.URI)
		}
		return next, err
	})
	return list
}

func TestURIsOutOfScopeAreListedAndReturnToTheirDueTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		host := fmt.Sprintf("http://a%d.example/", i)
		w.add(at(time.Duration(i)*time.Second), host)
		w.add(at(2*time.Hour), host+"1", host+"2")
	}
	now := at(time.Hour)
	for _, u := range []string{"http://a0.example/", "http://a1.example/", "http://a2.example/"} {
		w.leave(now, u)
	}
	w.check()
	for _, n := range []int{1, 2, 3, 100} {
		if got := w.outOfScope(n); len(got) != 3 {
			t.Errorf("in pages of %d: %v, want three URIs", n, got)
		}
	}
	w.reopen(now) // the list is stored
	back, unknown, never := parse(t, "http://a1.example/"), parse(t, "http://a9.example/"), parse(t, "http://a1.example/1")
	n, err := w.ReturnToScope(now, back, unknown, never)
	if err != nil || n != 1 {
		t.Fatalf("ReturnToScope = %d, %v; want 1", n, err)
	}
	if r := w.get("http://a1.example/"); !r.Due.Equal(at(time.Second)) || !r.DueInScope.IsZero() || r.LastStatus == -5000 {
		t.Errorf("back in scope: %+v, want it due as it was", r.History)
	}
	if r := w.get("http://a2.example/"); !r.Due.Equal(now.Add(24*time.Hour)) || !r.DueInScope.Equal(at(2*time.Second)) {
		t.Errorf("still out of scope: %+v", r.History)
	}
	w.check()
	if got := w.outOfScope(10); len(got) != 2 {
		t.Errorf("still out of scope: %v, want two", got)
	}
}

func TestURIsOutOfScopeLeaveTheListWhenTheyAreVisitedForgottenOrSteered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := at(time.Hour)
	all := []string{"http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/"}
	for _, u := range all {
		w.add(day, u)
		w.leave(now, u)
	}
	only := func(u string) frontier.Selection { return frontier.Selection{URIs: []uri.URI{parse(t, u)}} }
	w.steerAt(now, only(all[0]), frontier.Action{Verb: frontier.Forget})
	w.steerAt(now, only(all[1]), frontier.Action{Verb: frontier.Reschedule, Due: now.Add(48 * time.Hour)})
	later := now.Add(25 * time.Hour)
	for range 2 {
		c := w.claimAny(later)
		if n, err := w.ReturnToScope(later, c.Record.URI); n != 0 || err != nil {
			t.Errorf("ReturnToScope of a claimed URI = %d, %v; want 0", n, err)
		}
		o := visited(c, later, time.Hour)
		o.Record.DueInScope = time.Time{}
		w.settle(c, o)
	}
	w.check()
	if got := w.outOfScope(10); len(got) != 0 {
		t.Errorf("listed: %v, want none", got)
	}
}

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
