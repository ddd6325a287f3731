package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// The tests in this file cover more faults that earlier crawlers had with states, counters and steering.

// When the last URI of a queue was removed, the queue was counted as snoozed and never as empty again.
func TestAnEmptiedHostIsIdleAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	w.steerAt(day, named(t, "http://a.example/"), frontier.Action{Verb: frontier.Forget})
	if got := w.Counts(at(time.Hour)); got.Idle != 1 || got.Hosts != 1 || got.URIs != 0 || got.Queued != 0 {
		t.Errorf("Counts = %+v, want one idle host without URIs", got)
	}
	if next, ok := w.NextReady(); ok {
		t.Errorf("NextReady = %s for a host without URIs", next)
	}
	w.reopen(at(time.Hour))
	w.add(at(time.Hour), "http://a.example/new")
	w.claim(at(time.Hour), "http://a.example/new")
}

// URIs could neither be listed nor deleted, because the functions for that did nothing.
func TestURIsCanBeListedAndForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 5)...)
	s := frontier.Selection{Prefix: "http://a.example/page/"}
	if got := w.selected(day, s, 2); len(got) != 5 {
		t.Errorf("listed %v", got)
	}
	if done := w.steerAt(day, s, frontier.Action{Verb: frontier.Forget}); done.Changed != 5 {
		t.Errorf("deleted %+v", done)
	}
	if got := w.selected(day, frontier.Selection{}, 2); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
}

// URIs that had fallen out of scope stayed in the queues because of a missing break, and could not be removed.
func TestRejectedURIsCanBeForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/in")
	in := w.claim(day, "http://a.example/in")
	w.settle(in, visited(in, day, time.Hour))
	w.add(at(time.Minute), "http://a.example/out")
	c := w.claim(at(time.Minute), "http://a.example/out")
	o := visited(c, at(time.Minute), 24*time.Hour)
	o.Record.LastStatus, o.NoRequest = -5000, true
	w.settle(c, o)
	rejected := frontier.Selection{States: []frontier.State{frontier.StateRejected}}
	same(t, w.selected(at(time.Minute), rejected, 9), []string{"http://a.example/out"})
	if done := w.steerAt(at(time.Minute), rejected, frontier.Action{Verb: frontier.Forget}); done.Changed != 1 {
		t.Errorf("forgot %+v", done)
	}
	same(t, w.selected(at(time.Minute), frontier.Selection{}, 9), []string{"http://a.example/in"})
}

// The valence of a host was stored and could not be changed, and a valence of zero crashed the crawler.
func TestANewValenceAppliesToKnownHosts(t *testing.T) {
	t.Parallel()
	valence := 0
	w := newWorld(t, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return valence } })
	w.add(day, pages("a.example", 9)...)
	slots := func() (n int) {
		var claims []frontier.Claim
		for {
			c, ok, err := w.Claim(day)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			claims = append(claims, c)
		}
		for _, c := range claims {
			if err := w.Release(c, day); err != nil {
				t.Fatal(err)
			}
		}
		return len(claims)
	}
	if n := slots(); n != 1 {
		t.Errorf("a host with a valence of 0 has %d slots, want 1", n)
	}
	for _, want := range []int{3, 1} {
		valence = want
		if err := w.RefreshHosts(); err != nil {
			t.Fatal(err)
		}
		if n := slots(); n != want {
			t.Errorf("%d slots, want the new valence, %d", n, want)
		}
		w.reopen(day)
		if n := slots(); n != want {
			t.Errorf("%d slots after a restart, want %d", n, want)
		}
	}
}

// A URI used up its retries while it waited for robots.txt.
func TestDeferralsConsumeNoRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	before := w.get("http://a.example/")
	now := day
	for range 50 {
		c := w.claim(now, "http://a.example/")
		d, err := w.Divert(c, c.Record.URI.Robots(), now)
		if err != nil {
			t.Fatal(err)
		}
		o := visited(d, now, 0)
		o.Record.Due = time.Time{}
		w.settle(d, o)
		now = now.Add(2 * time.Second)
	}
	same(t, w.get("http://a.example/"), before)
}

// There was no delay after a failed visit, so that an overloaded host received requests even faster.
func TestPolitenessAppliesAfterFailures(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*frontier.Settlement){
		"an error":         func(o *frontier.Settlement) { o.Record.Failures, o.Record.LastStatus = 1, 503 },
		"robots forbid it": func(o *frontier.Settlement) { o.Forbidden = true },
		"the host is down": func(o *frontier.Settlement) { o.HostDown = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add(day, "http://a.example/1", "http://a.example/2")
			c := w.claimAny(day)
			o := visited(c, day, time.Hour)
			change(&o)
			w.settle(c, o)
			w.nothing(at(2*time.Second - time.Millisecond))
		})
	}
}

// Crawl-delay was ignored, and so was a minimum delay above the maximum.
func TestCrawlDelayIsRespected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/1", "http://a.example/2")
	c := w.claimAny(day)
	o := visited(c, day, time.Hour)
	o.Politeness = frontier.Politeness{
		DelayFactor: 5, MinDelay: 2 * time.Second, MaxDelay: time.Second,
		CrawlDelay: 30 * time.Second,
	}
	o.Took = time.Second
	w.settle(c, o)
	w.nothing(at(30*time.Second - time.Millisecond))
	w.claimAny(at(30 * time.Second))
}

// A host in back-off was visited at once after a restart.
func TestBackOffSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	now := day
	for range 3 { // rests of one, two and four minutes
		c := w.claim(now, "http://a.example/")
		o := visited(c, now, time.Second)
		o.HostDown = true
		w.settle(c, o)
		w.reopen(now)
		next, ok := w.NextReady()
		if !ok {
			t.Fatal("nothing waits")
		}
		w.nothing(next.Add(-time.Millisecond))
		now = next
	}
	if want := at(7 * time.Minute); !now.Equal(want) {
		t.Errorf("the third rest ends at %s, want %s: the count of failures was lost", now, want)
	}
}

// If the end of a visit was never reported, its host was blocked permanently.
func TestUnendedVisitsLeaveNoTraceAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/1", "http://a.example/2", "http://b.example/")
	lost := w.claimAny(day)
	if got := w.Counts(day); got.InProgress != 1 {
		t.Errorf("Counts = %+v", got)
	}
	w.claimAny(day) // the other host does not wait for it
	w.nothing(day)
	w.reopen(day)
	if got := w.Counts(day); got.InProgress != 0 {
		t.Errorf("Counts after a restart = %+v", got)
	}
	w.wantErr(w.Release(lost, day), frontier.ErrStale)
	for range 2 {
		w.claimAny(at(time.Hour))
	}
}

// Reading a counter changed it, and some counters were divided by the number of queues even if it was zero.
func TestReadingDoesNotChangeCounters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.Counts(day); got != (frontier.Counts{}) {
		t.Errorf("Counts of an empty frontier = %+v", got)
	}
	w.add(day, pages("a.example", 3)...)
	first := w.Counts(day)
	for range 3 {
		same(t, w.Counts(day), first)
	}
}
