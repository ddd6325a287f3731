package uplink_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler/uplink"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// on returns a record of a URI that is in the queue. known reports whether its host has answered before.
func on(host string, known bool, now time.Time) frontier.Record {
	r := frontier.Record{URI: uri.FromCanonical("http://" + host + "/"), History: frontier.History{Due: now}}
	if known {
		r.LastCapture = now.Add(-time.Hour)
	}
	return r
}

func TestThreeUnreachableHostsInARowMeanAnOutage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		hosts []string
		after time.Duration // time between two visits
		known bool
		want  bool
	}{
		{"three hosts", []string{"a.example", "b.example", "c.example"}, time.Second, true, true},
		{"two hosts", []string{"a.example", "b.example"}, time.Second, true, false},
		{"one host three times", []string{"a.example", "a.example", "a.example"}, time.Second, true, false},
		{"three hosts that never answered", []string{"a.example", "b.example", "c.example"}, time.Second, false, false},
		{"three hosts in three hours", []string{"a.example", "b.example", "c.example"}, 61 * time.Minute, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var w uplink.Watch
			down := false
			for i, host := range c.hosts {
				at := now.Add(time.Duration(i) * c.after)
				down = w.Unreachable(on(host, c.known, at), at)
			}
			if down != c.want || w.Down() != c.want {
				t.Errorf("down: %t, %t; want %t", down, w.Down(), c.want)
			}
		})
	}
}

func TestAnswerEndsAnOutageAndReturnsSuspectedHosts(t *testing.T) {
	t.Parallel()
	var w uplink.Watch
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		w.Unreachable(on(host, true, now), now)
	}
	w.Probed("c.example")
	if w.MayProbe(now) {
		t.Error("a probe is allowed at once, want one after ten seconds")
	}
	later := now.Add(10 * time.Second)
	if !w.MayProbe(later) {
		t.Error("no probe is allowed after ten seconds")
	}
	w.Begin(1, later)
	if w.MayProbe(later.Add(time.Minute)) {
		t.Error("a second probe is allowed during the first")
	}
	w.End(1)
	suspects, probed := w.Answered()
	if len(suspects) != 2 || len(probed) != 1 || w.Down() {
		t.Errorf("suspects %v, probed %v, down %t; want two suspects, one probed host, and an end of the outage", suspects, probed, w.Down())
	}
	if suspects, probed = w.Answered(); len(suspects)+len(probed) > 0 {
		t.Errorf("a second answer returns %v and %v, want nothing", suspects, probed)
	}
}
