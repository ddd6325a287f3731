package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Each test in this file is about a fault that an earlier crawler had.

// The adaptive-revisit frontier and others lost the rests of their hosts when they were opened again, and sent requests
// at once.
func TestPolitenessSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 2)...)
	c, _, err := w.Claim(day)
	if err != nil {
		t.Fatal(err)
	}
	o := visited(c, day, 24*time.Hour)
	o.Politeness = frontier.Politeness{MinDelay: 10 * time.Minute}
	w.settle(c, o)
	w.reopen(at(time.Second))
	w.nothing(at(10*time.Minute - time.Millisecond))
	if _, ok, err := w.Claim(at(10 * time.Minute)); !ok || err != nil {
		t.Errorf("Claim after the delay: %v, %v", ok, err)
	}
}

// Rows that were marked as claimed stayed claimed forever when the process had been killed.
func TestClaimedURIsReturnToTheQueueAfterAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/", at(time.Minute))
	before := w.get("http://a.example/")
	w.claim(at(time.Hour), "http://a.example/")
	w.reopen(at(time.Hour))
	if got := w.claim(at(2*time.Hour), "http://a.example/"); got.Record != before || got.Overdue != 119*time.Minute {
		t.Errorf("claimed again: %+v, overdue %s; want the record as before", got.Record, got.Overdue)
	}
	// A host queue with claimed URIs only could not be opened.
	w.reopen(at(2 * time.Hour))
}

// URIs that failed, or that robots.txt forbade, were due at the end of time.
func TestFailingURIsAreVisitedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	now := day
	for range 40 { // more often than the maximum number of retries
		c := w.claim(now, "http://a.example/")
		o := visited(c, now, 0)
		o.Record.Failures++
		o.Record.Due = time.Unix(1<<62, 0)
		w.settle(c, o)
		next, ok := w.NextReady()
		if !ok || next.After(now.AddDate(11, 0, 0)) {
			t.Fatalf("next visit %s, %v; want it within ten years", next, ok)
		}
		now = next
	}
}

func TestForbiddenURIsAreVisitedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	o := visited(c, day, 28*24*time.Hour)
	o.Forbidden = true
	w.settle(c, o)
	w.addDue(day, "http://a.example/robots.txt", at(time.Hour))
	c = w.nextAt(at(time.Hour), "http://a.example/robots.txt")
	o = visited(c, at(time.Hour), 24*time.Hour)
	o.Reopen = true
	w.settle(c, o)
	w.nextAt(at(time.Hour+2*time.Second), "http://a.example/")
}

// When one slot of a host was freed, the wake times of all its claimed slots were overwritten.
func TestFreeingOneSlotFreesNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 3 } })
	w.add(day, pages("a.example", 9)...)
	var claims []frontier.Claim
	for range 3 {
		c, ok, err := w.Claim(day)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		claims = append(claims, c)
	}
	if err := w.Release(claims[1], day); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := w.Claim(day); !ok || err != nil {
		t.Fatalf("the freed slot is not free: %v, %v", ok, err)
	}
	w.nothing(at(time.Hour))
	for _, c := range []frontier.Claim{claims[2], claims[0]} { // the others can still settle
		w.settle(c, visited(c, at(time.Minute), time.Hour))
	}
}

// All seeds were fetched at once whenever the crawler was started or its settings were changed.
func TestAddingSeedsAgainFetchesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed := frontier.Candidate{URI: parse(t, "http://a.example/"), Seed: "http://a.example/"}
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	w.settle(c, visited(c, day, 12*time.Hour))
	for range 3 {
		w.reopen(at(time.Hour))
		if added, err := w.Add(at(time.Hour), seed); err != nil || added.Known != 1 {
			t.Fatalf("Add(seed) = %+v, %v; want it known", added, err)
		}
	}
	w.nextAt(at(12*time.Hour), "http://a.example/")
}

// Each time a known URI was found through a redirect, it was promoted and fetched at once.
func TestRediscoveryDoesNotPromoteAURI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/home", at(12*time.Hour))
	w.add(day, "http://b.example/")
	c := w.claim(day, "http://b.example/")
	o := visited(c, day, 24*time.Hour)
	o.Found = []frontier.Candidate{{URI: parse(t, "http://a.example/home"), Hops: "R", Due: day}}
	w.settle(c, o)
	w.nextAt(at(12*time.Hour), "http://a.example/home")
}

// A host was ready at the due time of one URI, and handed out another one that was not due, because readiness and order
// used different keys.
func TestReadinessAndOrderAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/later", at(time.Hour))
	w.addDue(day, "http://a.example/soon", at(time.Minute)) // added later, due earlier
	c := w.nextAt(at(time.Minute), "http://a.example/soon")
	w.settle(c, visited(c, at(time.Minute), 10*time.Minute))
	c = w.nextAt(at(11*time.Minute), "http://a.example/soon")
	if c.Overdue != 0 {
		t.Errorf("Overdue = %s, want 0", c.Overdue)
	}
	w.settle(c, visited(c, at(11*time.Minute), 10*time.Hour))
	w.nextAt(at(time.Hour), "http://a.example/later")
}

// A URI that could not be fetched occupied a slot of its host for 30 retries of a quarter of an hour each. The other
// URIs of the host had to wait.
func TestARetryDoesNotBlockTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/broken", day)
	w.addDue(day, "http://a.example/good", at(time.Millisecond))
	c := w.claim(at(time.Second), "http://a.example/broken")
	o := visited(c, at(time.Second), 15*time.Minute)
	o.Record.Failures++
	w.settle(c, o)
	w.nextAt(at(3*time.Second), "http://a.example/good")
}

// The counters of hosts were lost at a restart, or recounted by a scan of every URI.
func TestCountersSurviveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, append(pages("a.example", 30), pages("b.example", 3)...)...)
	before := w.Counts(at(-time.Hour))
	if before.URIs != 33 || before.Queued != 33 || before.Hosts != 2 || before.Snoozed != 2 {
		t.Fatalf("Counts = %+v", before)
	}
	w.reopen(at(-time.Hour))
	same(t, w.Counts(at(-time.Hour)), before)
}

// A feed item with a date far in the future moved a watermark, and all items with earlier dates were ignored.
func TestAFutureDateHidesNoURI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/far", at(10*365*24*time.Hour))
	w.reopen(day)
	w.addDue(day, "http://a.example/near", at(time.Hour))
	w.reopen(day)
	w.nextAt(at(time.Hour), "http://a.example/near")
	w.check()
}

// A politeness delay below two seconds had no effect.
func TestShortPolitenessDelaysTakeEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/1", day)
	w.addDue(day, "http://a.example/2", at(time.Millisecond))
	c := w.claim(at(time.Second), "http://a.example/1")
	o := visited(c, at(time.Second), time.Hour)
	o.Politeness = frontier.Politeness{MinDelay: 50 * time.Millisecond, MaxDelay: time.Second}
	w.settle(c, o)
	w.nextAt(at(1050*time.Millisecond), "http://a.example/2")
}

// A failed visit erased the history of a URI.
func TestFailedVisitsKeepTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	o := frontier.Settlement{Record: full(c.Record.URI), Finished: day}
	o.Record.Due = at(time.Hour)
	w.settle(c, o)
	c = w.claim(at(time.Hour), "http://a.example/")
	failed := c.Record
	failed.Failures++
	failed.LastStatus = 503
	failed.Due = at(2 * time.Hour)
	w.settle(c, frontier.Settlement{Record: failed, Finished: at(time.Hour)})
	want := o.Record
	want.Failures++
	want.LastStatus = 503
	want.Due = at(2 * time.Hour)
	same(t, w.get("http://a.example/"), want)
}
