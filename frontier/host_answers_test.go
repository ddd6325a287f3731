package frontier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// visitTook claims the next URI, which must be this one, and settles it after a visit of this duration.
func (w *world) visitTook(now time.Time, want string, took time.Duration) time.Time {
	w.Helper()
	c := w.claim(now, want)
	o := visited(c, now.Add(took), time.Minute)
	o.Took, o.Politeness = took, frontier.Politeness{}
	w.settle(c, o)
	return o.Finished
}

func TestHostsThatDoNotAnswerLeaveWorkersForTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) { o.MaxDoubtful = 3 })
	w.add(day, "http://healthy.example/")
	now := w.visitTook(day, "http://healthy.example/", time.Second)
	now = w.visitTook(now.Add(time.Minute), "http://healthy.example/", time.Second)
	for n := range 12 { // due long before the healthy host
		w.addDue(day, fmt.Sprintf("http://drip%d.example/", n), day)
	}
	var dripping []frontier.Claim
	for {
		c, ok, err := w.Claim(now)
		must(t, err)
		if !ok {
			break
		}
		dripping = append(dripping, c)
	}
	if len(dripping) != 3 {
		t.Fatalf("%d claims of hosts that have not answered are in progress, want 3", len(dripping))
	}
	// Every visit of the healthy host in the next quarter of an hour is in time.
	for range 15 {
		next, ok := w.NextReady()
		if !ok || next.After(now.Add(2*time.Minute)) {
			t.Fatalf("the next visit is at %s (%v), want a visit of the healthy host within two minutes", next, ok)
		}
		now = w.visitTook(next, "http://healthy.example/", time.Second)
	}
	// A place that becomes free is used again.
	slow := visited(dripping[0], now, 24*time.Hour)
	slow.Took = time.Minute
	w.settle(dripping[0], slow)
	if c, ok, err := w.Claim(now); err != nil || !ok || !strings.HasPrefix(c.Record.URI.Hostname(), "drip") {
		t.Errorf("Claim() = %v, %v, %v, want a host that has not answered", c.Record.URI, ok, err)
	}
}

func TestAHostStopsAndBeginsToAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		took []time.Duration // the visits; negative = the host is down
		want bool
	}{
		{"new", nil, false},
		{"one fast visit", fast(1), false},
		{"two fast visits", fast(2), true},
		{"down", []time.Duration{-time.Second}, false},
		{"down after fast visits", append(fast(5), -time.Second), false},
		{"up again", append(fast(5), -time.Second, time.Second, time.Second), true},
		{"just fast enough", []time.Duration{time.Second, frontier.SlowVisit - 1}, true},
		{"slow", append(fast(5), frontier.SlowVisit), false},
		{"seven fast visits after a slow one", append([]time.Duration{time.Minute}, fast(7)...), false},
		{"eight fast visits after a slow one", append([]time.Duration{time.Minute}, fast(8)...), true},
		{"a failure between them does not help", append([]time.Duration{time.Minute, -time.Second}, fast(7)...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *frontier.Options) { o.MaxDoubtful = 1 })
			w.add(day, "http://a.example/")
			now := day
			for _, took := range c.took {
				next, _ := w.NextReady()
				claim := w.claim(next, "http://a.example/")
				now = next.Add(max(took, -took))
				o := visited(claim, now, time.Minute)
				o.Took, o.HostDown = now.Sub(next), took < 0
				w.settle(claim, o)
			}
			now = now.Add(2 * time.Hour) // beyond any rest
			w.addDue(now, "http://held.example/", now.Add(-48*time.Hour))
			if _, ok, err := w.Claim(now); err != nil || !ok { // takes the only place for hosts that do not answer
				t.Fatal(ok, err)
			}
			claim, ok, err := w.Claim(now)
			must(t, err)
			if ok != c.want || ok && claim.Record.URI.Hostname() != "a.example" {
				t.Errorf("Claim() = %v, %v; want %v", claim.Record.URI, ok, c.want)
			}
		})
	}
}

// fast returns n fast visits.
func fast(n int) []time.Duration { return slices.Repeat([]time.Duration{time.Second}, n) }
