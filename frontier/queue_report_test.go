package frontier_test

import (
	"testing"
	"time"
)

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
