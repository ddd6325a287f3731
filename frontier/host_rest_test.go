package frontier_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// Each rest below is tested twice: in a frontier that stays open, and in one that is closed and opened right after the
// visit. Both rests must be equal.
func TestRestsSurviveARestart(t *testing.T) {
	t.Parallel()
	end := at(time.Second)
	for _, c := range []struct {
		name string
		o    frontier.Settlement
		want time.Duration // rest after the end of the visit
	}{
		{"the politeness delay", frontier.Settlement{Politeness: polite}, 2 * time.Second},
		{
			"a delay of fractions of a millisecond is rounded up",
			frontier.Settlement{Politeness: frontier.Politeness{MinDelay: 1500 * time.Microsecond}},
			2 * time.Millisecond,
		},
		{"Retry-After", frontier.Settlement{Politeness: polite, RetryAfter: end.Add(time.Hour)}, time.Hour},
		{"a Retry-After of next year, which only one URI has, is cut to an hour", frontier.Settlement{RetryAfter: end.AddDate(1, 0, 0)}, time.Hour},
		{"a rest of a year is cut to a day", frontier.Settlement{Rest: end.AddDate(1, 0, 0)}, 24 * time.Hour},
		{"a Retry-After below the delay", frontier.Settlement{Politeness: polite, RetryAfter: end.Add(time.Second)}, 2 * time.Second},
		{"a Retry-After in the past", frontier.Settlement{Politeness: polite, RetryAfter: day.AddDate(-1, 0, 0)}, 2 * time.Second},
		{"a host that is down", frontier.Settlement{Politeness: polite, HostDown: true}, time.Minute},
	} {
		for _, restart := range []bool{false, true} {
			name := c.name
			if restart {
				name += ", over a restart"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.addDue(day, "http://a.example/1", day)
				w.addDue(day, "http://a.example/2", at(time.Millisecond))
				claim := w.claim(at(500*time.Millisecond), "http://a.example/1")
				o := c.o
				o.Record, o.Finished = claim.Record, end
				o.Record.Due = end.AddDate(1, 0, 0)
				w.settle(claim, o)
				if restart {
					w.reopen(end)
				}
				w.nextAt(end.Add(c.want), "http://a.example/2")
			})
		}
	}
}

// Nothing at the name of a host ever answered: its rests grow up to four weeks. A host that answered is expected back.
func TestAHostThatNeverAnsweredRestsForWeeks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	now := day
	fail := func(want time.Duration) {
		t.Helper()
		c := w.claim(now, "http://a.example/")
		o := visited(c, now, 0)
		o.HostDown, o.Record.Due = true, c.Record.Due
		w.settle(c, o)
		w.reopen(now)
		if next, ok := w.NextReady(); !ok || next.Sub(now) != want {
			t.Fatalf("the host rests for %s (%v), want %s", next.Sub(now), ok, want)
		}
		now = now.Add(want)
	}
	for n := range 15 {
		fail(time.Minute << n)
	}
	const weeks = 28 * 24 * time.Hour
	fail(1 << 15 * time.Minute)
	for range 3 {
		fail(weeks)
	}
	if c := w.claim(now, "http://a.example/"); !c.NeverAnswered || c.HostFailures != 19 {
		t.Errorf("the claim says that the host never answered: %v, after %d failures; want 19", c.NeverAnswered, c.HostFailures)
	} else {
		w.settle(c, visited(c, now, 0))
	}
	now = now.Add(2 * time.Second)
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		fail(want * time.Minute)
	}
}

// TestHostKeepsReasonWhileDown stores why a host is down, until it is reached or woken, and across a restart.
func TestHostKeepsReasonWhileDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	reason := func(want string) {
		t.Helper()
		if v, _ := w.Host("a.example", day); v.Reason != want {
			t.Errorf("the reason is %q, want %q", v.Reason, want)
		}
	}
	visit := func(now time.Time, down bool, why string) time.Time {
		t.Helper()
		c := w.claim(now, "http://a.example/")
		o := visited(c, now, 0)
		o.HostDown, o.Reason, o.Record.Due, o.Record.LastError = down, why, now, why
		w.settle(c, o)
		next, _ := w.NextReady()
		return next
	}
	next := visit(day, true, "lookup a.example: no such host")
	reason("lookup a.example: no such host")
	next = visit(next, true, strings.Repeat("ü", frontier.MaxError))
	reason(strings.Repeat("ü", frontier.MaxError/2))
	w.reopen(next)
	reason(strings.Repeat("ü", frontier.MaxError/2))
	if r := w.get("http://a.example/"); len(r.LastError) != frontier.MaxError {
		t.Errorf("the URI has an error of %d bytes, want %d", len(r.LastError), frontier.MaxError)
	}
	next = next.Add(time.Hour)
	next = visit(next, false, "")
	reason("")
	visit(next, true, "refused")
	w.steerHosts(next, "a.example", frontier.Wake)
	reason("")
}

// A Crawl-delay that is longer than the rest of all hosts applies after an unclean stop too, and a proper restart
// soon after does not end it.
func TestLongDelaysHoldAfterAnUncleanStop(t *testing.T) {
	t.Parallel()
	for _, restarts := range []int{0, 1} {
		w := newWorld(t, func(o *frontier.Options) { o.RestAfterCrash = time.Minute })
		w.add(day, "http://a.example/", "http://b.example/")
		for _, visit := range []struct {
			uri   string
			delay time.Duration
		}{{"http://a.example/", 5 * time.Minute}, {"http://b.example/", 2 * time.Second}} {
			c := w.claim(day, visit.uri)
			o := visited(c, day, time.Second)
			o.Politeness = frontier.Politeness{CrawlDelay: visit.delay}
			w.settle(c, o)
		}
		now := at(10 * time.Minute)
		w.claimAny(now)
		w.claimAny(now)
		now = now.Add(time.Second)
		w.reopen(now) // in the middle of two visits
		for range restarts {
			w.reopen(now.Add(2 * time.Second))
		}
		w.nothing(now.Add(time.Minute - time.Millisecond))
		w.claim(now.Add(time.Minute), "http://b.example/")
		w.nothing(now.Add(5*time.Minute - time.Millisecond))
		w.claim(now.Add(5*time.Minute), "http://a.example/")
	}
}

// A host rests also after a visit that failed because of a local fault.
func TestAHostRestsAfterAnAbandonedVisit(t *testing.T) {
	t.Parallel()
	for _, restarts := range []int{0, 1} {
		w := newWorld(t)
		w.add(day, "http://a.example/")
		before := w.get("http://a.example/")
		c := w.claim(day, "http://a.example/")
		end := at(time.Second)
		must(t, w.Abandon(c, end, 5*time.Second))
		w.wantErr(w.Abandon(c, end, time.Second), frontier.ErrStale)
		w.check()
		if after := w.get("http://a.example/"); after != before {
			t.Errorf("the record is now %+v, want it as before: %+v", after, before)
		}
		for range restarts {
			w.reopen(end)
		}
		c = w.nextAt(end.Add(5*time.Second), "http://a.example/")
		must(t, w.Abandon(c, end, 5*time.Minute))
		w.claim(end.Add(5*time.Minute), "http://a.example/")
		w.reopen(end.Add(5 * time.Minute)) // in the middle of a visit
		w.nextAt(end.Add(10*time.Minute), "http://a.example/")
	}
}

// kill opens a copy of the store as a kill would leave it now. The frontier before it stays open.
func (w *world) kill(now time.Time) {
	w.Helper()
	dir := filepath.Join(w.TempDir(), "killed")
	must(w, smalldisk.CopyFS(dir, w.o.Dir))
	before := w.Frontier
	w.Cleanup(func() { _ = before.Close() })
	w.o.Dir = dir
	w.open(now)
}

// A daemon that is killed every 20 seconds sends no request while all hosts rest: for 30 seconds, or for as long as the
// settings of a host ask for, since its first visit has left no delay. The rest counts from the last time at which a
// request can have been in flight, so that it ends.
func TestKillsBeforeTheFirstClaimDoNotProlongTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) {
		o.LongestDelay = func(uri.Host) time.Duration { return 40 * time.Second }
	})
	w.add(day, "http://a.example/")
	w.claimAny(day)
	now := at(time.Second)
	w.kill(now) // in the middle of a visit
	end := now.Add(40 * time.Second)
	for range 3 {
		now = now.Add(10 * time.Second)
		w.nothing(now)
		w.kill(now)
		w.nextAt(end, "http://a.example/") // this claims it
		w.kill(now)                        // and so this is a kill in the middle of a visit again
		end = now.Add(40 * time.Second)
	}
	for now.Before(end) {
		now = now.Add(10 * time.Second)
		w.kill(now)
	}
	w.claim(end, "http://a.example/")
	w.reopen(end)
	w.close()
	w.open(end)
	if _, ok := w.values('m')["mquiet"]; !ok {
		t.Error("an open store without claims has no mark")
	}
	w.claimAny(end.Add(time.Hour))
	if got, ok := w.values('m')["mquiet"]; ok {
		t.Errorf("the mark %x is there after a claim", got)
	}
}

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
