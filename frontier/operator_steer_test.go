package frontier_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

func named(t testing.TB, texts ...string) (s frontier.Selection) {
	for _, text := range texts {
		s.URIs = append(s.URIs, parse(t, text))
	}
	return s
}

// selected lists all selected URIs, n at a time, and returns their texts in order.
func (w *world) selected(now time.Time, s frontier.Selection, n int) (texts []string) {
	w.Helper()
	w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		list, next, err := w.List(now, s, from, n)
		if len(list) > n {
			w.Errorf("listed %d URIs, want at most %d", len(list), n)
		}
		for _, e := range list {
			texts = append(texts, e.URI.String())
		}
		return next, err
	})
	slices.Sort(texts)
	return texts
}

func TestSelectionMeetsAllConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://example.org/a", "https://example.org/b", "http://www.example.org/a", "http://notexample.org/a", "http://example.org:81/a")
	w.addDue(day, "http://late.example/x", at(time.Hour))
	now := at(time.Minute)
	c := w.claimAny(now)
	all := []string{
		"http://example.org/a", "http://example.org:81/a", "http://late.example/x", "http://notexample.org/a", "http://www.example.org/a",
		"https://example.org/b",
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == c.Record.URI.String() })
	for _, test := range []struct {
		name string
		s    frontier.Selection
		want []string
	}{
		{"nothing set means all", frontier.Selection{}, all},
		{"a host is one host with both its schemes, and without its other ports", frontier.Selection{Host: "example.org"}, []string{all[0], all[5]}},
		{"a star means the host and those below it", frontier.Selection{Host: "*.example.org"}, []string{all[0], all[4], all[5]}},
		{"a prefix is of the whole URI", frontier.Selection{Prefix: "http://example.org"}, []string{all[0], all[1]}},
		{"a prefix with a path is on one host", frontier.Selection{Prefix: "http://example.org/"}, []string{all[0]}},
		{"an expression may match anywhere", frontier.Selection{Match: regexp.MustCompile(`/[bx]$`)}, []string{all[2], all[5]}},
		{"named URIs are looked up, and unknown ones skipped", named(t, all[2], "http://none.example/"), []string{all[2]}},
		{"conditions hold together", frontier.Selection{Host: "*.example.org", Match: regexp.MustCompile(`a$`)}, []string{all[0], all[4]}},
		{"waiting ones are not due yet", frontier.Selection{States: []frontier.State{frontier.StateWaiting}}, []string{all[2]}},
		{"due ones are not in progress", frontier.Selection{States: []frontier.State{frontier.StateDue}}, slices.DeleteFunc(slices.Clone(rest), func(s string) bool { return s == all[2] })},
		{"those in progress", frontier.Selection{States: []frontier.State{frontier.StateInProgress}}, []string{c.Record.URI.String()}},
		{"states hold together", frontier.Selection{States: []frontier.State{frontier.StateDue, frontier.StateWaiting}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 100} {
				same(t, w.selected(now, test.s, n), test.want)
			}
			n, next, err := w.Count(now, test.s, "")
			if err != nil || next != "" || n != int64(len(test.want)) {
				t.Errorf("Count = %d, %q, %v; want %d", n, next, err, len(test.want))
			}
		})
	}
}

func TestInvalidSelectionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	force := frontier.Action{Verb: frontier.Force}
	for name, c := range map[string]struct {
		s    frontier.Selection
		from frontier.Cursor
		a    frontier.Action
	}{
		"an unknown state":              {frontier.Selection{States: []frontier.State{"lost"}}, "", force},
		"a foreign cursor":              {frontier.Selection{}, "xyz", force},
		"a cursor of another selection": {named(t, "http://a.example/"), "00000001000000000000000000000000", force},
		"an unknown verb":               {frontier.Selection{}, "", frontier.Action{Verb: "shoot"}},
		"no time to reschedule to":      {frontier.Selection{}, "", frontier.Action{Verb: frontier.Reschedule}},
	} {
		if _, _, err := w.Steer(day, c.s, c.a, c.from); !errors.Is(err, frontier.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := w.SteerHosts(day, "*", frontier.HostAction{Verb: "shoot"})
	w.wantErr(err, frontier.ErrInvalid)
}

func TestRescheduledURIsKeepTheirHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := fixtureRecords(t)[38]
	_, err := w.Import(day, false, frontier.Entry{Record: want})
	must(t, err)
	text := want.URI.String()
	w.steerAt(day, named(t, text), frontier.Action{Verb: frontier.Reschedule, Due: at(time.Minute)})
	want.Due, want.Why = at(time.Minute), "the operator asked for it"
	same(t, w.get(text), want)
	w.nextAt(at(time.Minute), text)
}

func TestSpreadIsEven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range pages("a.example", 400) {
		w.addDue(day, text, at(24*time.Hour))
	}
	w.steerAt(day, frontier.Selection{}, frontier.Action{Verb: frontier.Force, Spread: 4 * time.Hour})
	hours := [4]int{}
	must(t, w.Each(func(r frontier.Record) error { hours[r.Due.Sub(day)/time.Hour]++; return nil }))
	for hour, n := range hours {
		if n < 60 || n > 140 {
			t.Errorf("hour %d: %d of 400 URIs in %v", hour, n, hours)
		}
	}
}

// If an operator makes very many URIs of a host due at once, neither its front page nor other hosts are delayed.
func TestForcingManyURIsCausesNoStampede(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	const crowd = 3_000
	w := newWorld(t)
	link := func(text string, due time.Time) {
		c := frontier.Candidate{URI: parse(t, text), Hops: "L", Via: "http://big.example/front", Due: due}
		if added, err := w.Add(day, c); err != nil || added.New != 1 {
			t.Fatal(added, err)
		}
	}
	for _, text := range pages("big.example", crowd) {
		link(text, at(30*24*time.Hour))
	}
	for _, text := range pages("big.example/busy", 60) { // more due URIs than the host can visit, so that the order applies
		link(text, day)
	}
	w.add(day, "http://small.example/")
	w.addDue(day, "http://big.example/front", at(-time.Minute))
	visits := map[string]int{}
	var last, front time.Time // last visit to the big host, and to its front page
	forced := false
	for now := day; now.Before(at(2 * time.Hour)); {
		if !forced && !now.Before(at(time.Minute)) {
			forced = true
			done := w.steerAt(now, frontier.Selection{Prefix: "http://big.example/page/"}, frontier.Action{Verb: frontier.Force})
			if done.Changed != crowd {
				t.Fatalf("force = %+v", done)
			}
			w.add(now, "http://big.example/seed")
		}
		c, ok, err := w.Claim(now)
		must(t, err)
		if !ok {
			now, _ = w.NextReady()
			continue
		}
		text := c.Record.URI.String()
		o := visited(c, now, 30*24*time.Hour)
		switch {
		case text == "http://big.example/front":
			if late := now.Sub(front); !front.IsZero() && late > 2*time.Minute+20*time.Second {
				t.Errorf("at %s the front page had waited for %s", now.Sub(day), late)
			}
			front = now
			o = visited(c, now, 2*time.Minute)
		case text == "http://big.example/seed":
			if c.Overdue > 10*time.Minute {
				t.Errorf("a new seed waited for %s", c.Overdue)
			}
		case text == "http://small.example/":
			if c.Overdue > time.Millisecond {
				t.Errorf("the other host waited for %s", c.Overdue)
			}
			o = visited(c, now, time.Minute)
		}
		if c.Record.URI.Host() == "big.example" {
			if now.Sub(last) < 2*time.Second {
				t.Fatalf("two visits within %s", now.Sub(last))
			}
			last = now
		}
		o.Record.Wait = o.Record.Due.Sub(now)
		w.settle(c, o)
		visits[text]++
	}
	if n := visits["http://small.example/"]; n < 119 {
		t.Errorf("%d visits to the other host, want one each minute", n)
	}
	if n := visits["http://big.example/front"]; n < 50 {
		t.Errorf("%d visits to the front page, want about one every two minutes", n)
	}
	if n := visits["http://big.example/seed"]; n != 1 {
		t.Errorf("%d visits to a new seed, want its first visit", n)
	}
}

// TestSurveyVisitsEachURIOnce walks through more URIs than one step reads.
func TestSurveyVisitsEachURIOnce(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	t.Parallel()
	w := newWorld(t)
	const many = 21_000
	cs := make([]frontier.Candidate, many)
	for i := range cs {
		cs[i] = frontier.Candidate{URI: parse(t, fmt.Sprintf("http://h%d.example/%d", i%3, i)), Due: at(time.Duration(i) * time.Second)}
	}
	w.addAll(cs...)
	for host, want := range map[uri.Host][2]int{"h1.example": {many / 3, 1}, "": {many, 2}} {
		seen, times := 0, map[time.Time]bool{}
		steps := w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
			return w.Survey(host, from, func(x frontier.SurveyedURI) { times[x.Due] = true; seen++ })
		})
		if [2]int{seen, steps} != want || len(times) != seen {
			t.Errorf("%d URIs of %q, %d different ones, in %d steps; want %v", seen, host, len(times), steps, want)
		}
	}
	for _, c := range []struct {
		after time.Duration
		most  int64
		want  int64
	}{{-time.Second, 100, 0}, {0, 100, 1}, {98 * time.Second, 1000, 99}, {time.Hour, 100, 100}} {
		if n, err := w.CountDue(at(c.after), c.most); err != nil || n != c.want {
			t.Errorf("%d are due after %s, counted to %d, %v; want %d", n, c.after, c.most, err, c.want)
		}
	}
}

// Upcoming lists the queue of a host in the order of due times, without claimed URIs.
func TestUpcomingIsInTheOrderOfDueTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, after := range map[string]time.Duration{"0": 3 * time.Hour, "1": time.Hour, "2": 2 * time.Hour, "3": 0} {
		w.addDue(at(0), "http://a.example/"+text, at(after))
	}
	w.addDue(at(0), "http://b.example/", at(0))
	next := func(n int) string {
		t.Helper()
		list, err := w.Upcoming("a.example", n)
		must(t, err)
		text := ""
		for _, r := range list {
			text += r.URI.String()[len("http://a.example/"):]
		}
		return text
	}
	if got := next(10); got != "3120" {
		t.Errorf("the queue is %s, want 3120", got)
	}
	if got := next(2); got != "31" {
		t.Errorf("the first two are %s, want 31", got)
	}
	c := w.claim(at(0), "http://a.example/3")
	w.settle(c, visited(c, at(time.Second), 90*time.Minute))
	if got := next(10); got != "1320" {
		t.Errorf("after a visit the queue is %s, want 1320", got)
	}
	if list, err := w.Upcoming("c.example", 10); len(list) != 0 || err != nil {
		t.Errorf("an unknown host has %v, %v", list, err)
	}
}
