package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
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
	if _, err := w.Add(day, cs...); err != nil {
		t.Fatal(err)
	}
	walk := func(host string) (seen, steps int) {
		t.Helper()
		times := map[time.Time]bool{}
		for from := frontier.Cursor(""); ; {
			next, err := w.Survey(parse(t, "http://"+host+"/").Host(), from, func(x frontier.SurveyedURI) { times[x.Due] = true; seen++ })
			must(t, err)
			steps++
			if from = next; next == "" {
				break
			}
		}
		if len(times) != seen {
			t.Errorf("%d URIs of %q were seen, some of them twice: %d due times", seen, host, len(times))
		}
		return seen, steps
	}
	if seen, steps := walk("h1.example"); seen != many/3 || steps != 1 {
		t.Errorf("%d URIs of one host in %d steps; want %d in one", seen, steps, many/3)
	}
	var seen, steps int
	for from := frontier.Cursor(""); ; steps++ {
		next, err := w.Survey("", from, func(frontier.SurveyedURI) { seen++ })
		must(t, err)
		if from = next; next == "" {
			break
		}
	}
	if seen != many || steps != 1 {
		t.Errorf("%d URIs with %d stops; want %d with one", seen, steps, many)
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
