package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

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
