package crawler

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// onDisk returns a crawler whose disk has that many free bytes.
func onDisk(free func() (int64, error)) *Crawler {
	return &Crawler{
		parts: Parts{FreeSpace: free, Config: config.NewLive(new(config.Config))},
		wake:  make(chan struct{}, 1), broken: make(chan error, 1),
	}
}

// A disk that fails holds the crawl. If it fails for a minute, the process must be started again: a file system that is
// read-only after an error cannot be repaired while its files are open. A full disk is waited for without end.
func TestADiskThatFailsForAMinuteIsGivenUp(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		faults []syscall.Errno // each ten seconds after the one before; 0 is a visit that succeeds
		at     int             // the fault with which the crawl is given up; -1 = never
	}{
		"write errors":              {[]syscall.Errno{5, 5, 5, 5, 5, 5, 5}, 6},
		"read-only after an error":  {[]syscall.Errno{5, syscall.EROFS, syscall.EROFS, syscall.EROFS, 5, 5, 5}, 6},
		"a disk that is well again": {[]syscall.Errno{5, 5, 5, 5, 0, 5, 5, 5, 5}, -1},
		"a full disk":               {repeat(syscall.ENOSPC, 1000), -1},
		"a quota":                   {repeat(syscall.EDQUOT, 1000), -1},
		"another fault in between":  {[]syscall.Errno{5, 5, 5, syscall.ENOSPC, 5, 5, 5, 5}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given error
			s := onDisk(func() (int64, error) { return 1 << 40, nil })
			for i, errno := range c.faults {
				now := start.Add(time.Duration(i) * 10 * time.Second)
				if errno == 0 {
					s.endHold()
					continue
				}
				s.hold(now, fmt.Errorf("archive http://a.example/: %w", errno))
				select {
				case given = <-s.broken:
				default:
				}
				if want := c.at >= 0 && i >= c.at; (given != nil) != want {
					t.Fatalf("fault %d: given up with %v, want given up: %t", i, given, want)
				}
			}
			if given != nil && !errors.Is(given, syscall.EIO) {
				t.Errorf("given up with %v, want the cause in it", given)
			}
			if s.Status().Held == "" {
				t.Error("the crawl is not held")
			}
		})
	}
}

func repeat(errno syscall.Errno, n int) (list []syscall.Errno) {
	for range n {
		list = append(list, errno)
	}
	return list
}

// A held crawl tries again after ten seconds, also if the clock was set back by a day or ten years meanwhile.
func TestAHeldCrawlTriesAgainAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, jump := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		s := onDisk(func() (int64, error) { return 1 << 40, nil })
		s.hold(start, syscall.EMFILE)
		if ok, _ := s.mayClaim(start.Add(9 * time.Second)); ok {
			t.Error("the crawl resumes before ten seconds have passed")
		}
		if ok, trial := s.mayClaim(start.Add(10*time.Second + jump)); !ok || !trial {
			t.Errorf("after a jump by %s: MayClaim = %t, %t; want a trial", jump, ok, trial)
		}
	}
}

// TestABriefFaultEndsTheHoldSoon holds the crawl twice: because of a fault that can be looked at again each second, and
// because of another one, after which one visit is a trial.
func TestABriefFaultEndsTheHoldSoon(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		fault  error
		within time.Duration
		trial  bool
	}{
		"brief": {NewBriefFault(errors.New("the database does not answer")), 2 * time.Second, false},
		"other": {errors.New("the disk is full"), 11 * time.Second, true},
	} {
		fault := c.fault
		s := onDisk(func() (int64, error) { return 1 << 40, fault })
		if ok, _ := s.mayClaim(start); ok {
			t.Errorf("%s: a URI may be claimed", name)
		}
		// Only what this machine is to blame for makes another node crawl instead.
		if why, since := s.Status().Fault(); (why != "") != c.trial || c.trial && !since.Equal(start) {
			t.Errorf("%s: the fault of this machine is %q since %s", name, why, since)
		}
		s.Pause("maintenance", start, time.Time{})
		if why, _ := s.Status().Fault(); why != "" {
			t.Errorf("%s: a crawl that is paused has the fault %q", name, why)
		}
		s.Resume()
		fault = nil
		now := start
		for ok := false; !ok; ok, _ = s.mayClaim(now) {
			if now = now.Add(100 * time.Millisecond); now.Sub(start) > time.Minute {
				t.Fatalf("%s: the crawl is held", name)
			}
		}
		if took := now.Sub(start); took > c.within || took < c.within/2 {
			t.Errorf("%s: the hold ended after %v, want at most %v", name, took, c.within)
		}
		if held := s.Status().Held != ""; held != c.trial {
			t.Errorf("%s: held until a trial: %t, want %t", name, held, c.trial)
		}
	}
}

var errRefused = errors.New("connection refused")

// TestAProxyThatFailsIsProbedMoreAndMoreSeldom lets a proxy fail at every probe for an hour, with other visits between.
func TestAProxyThatFailsIsProbedMoreAndMoreSeldom(t *testing.T) {
	t.Parallel()
	var w proxyWatch
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w.Works("home")
	if _, rests := w.Rest("office", now); rests {
		t.Error("the hosts behind a proxy rest that has not failed")
	}
	if _, first := w.Failed("office", errRefused, now); !first {
		t.Error("the first failure is not the first")
	}
	for range 20 { // visits that were in progress when it failed
		if until, first := w.Failed("office", errRefused, now); first || until.Sub(now) != 10*time.Second {
			t.Errorf("one of many failures at once: first %t, until %s", first, until)
		}
	}
	probes := []time.Duration{}
	for after := time.Duration(0); after < time.Hour; after += time.Second {
		now := now.Add(after)
		if _, rests := w.Rest("office", now); !rests {
			probes = append(probes, after)
			if _, second := w.Rest("office", now); !second {
				t.Fatalf("two probes at once, after %s", after)
			}
			w.Failed("office", errRefused, now.Add(time.Millisecond))
		}
		if _, rests := w.Rest("home", now); rests {
			t.Fatal("the hosts behind another proxy rest")
		}
	}
	if n := len(probes); n < 10 || n > 20 || probes[0] != 10*time.Second || probes[n-1]-probes[n-2] < 5*time.Minute {
		t.Errorf("probes after %v", probes)
	}
	if down := w.Down(func(string) bool { return true }); len(down) != 1 || down[0].Name != "office" || down[0].Why != "connection refused" || !down[0].Since.Equal(now) {
		t.Errorf("down: %+v", down)
	}
	if !w.Works("office") || w.Works("office") || len(w.Down(func(string) bool { return true })) != 0 {
		t.Error("the proxy works again, but that is not known")
	}
	if _, rests := w.Rest("office", now); rests {
		t.Error("the hosts behind a proxy rest that works again")
	}
}

// TestAProbeThatNeverEndsIsFollowedByAnother abandons a probe, as a visit that ends for another reason does.
func TestAProbeThatNeverEndsIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	var w proxyWatch
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w.Failed("office", errRefused, now)
	now = now.Add(10 * time.Second)
	if _, rests := w.Rest("office", now); rests {
		t.Fatal("no probe")
	}
	if until, rests := w.Rest("office", now); !rests || until.Sub(now) != 30*time.Second {
		t.Fatalf("a second probe, %s", until.Sub(now))
	}
	if _, rests := w.Rest("office", now.Add(30*time.Second)); rests {
		t.Error("no second probe")
	}
	if _, rests := w.Rest("office", now.Add(-time.Hour)); rests {
		t.Error("a clock that was set back keeps the hosts at rest")
	}
}

// TestASilentProxy lets a proxy not answer, before and after a visit has got through it.
func TestASilentProxy(t *testing.T) {
	t.Parallel()
	var w proxyWatch
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	silent := func(known, want bool, why string) {
		t.Helper()
		if first := w.Silent("office", known, errRefused, now); first != want {
			t.Errorf("%s: it counts as down from now on: %t", why, first)
		}
	}
	if _, rests := w.Rest("office", now); rests {
		t.Fatal("no visit may try the proxy")
	}
	if until, rests := w.Rest("office", now); !rests || until.Sub(now) != 2*time.Second {
		t.Errorf("a second visit before the first got through: rests %t, until %s", rests, until)
	}
	if down := w.Down(func(string) bool { return true }); len(down) != 0 {
		t.Errorf("nothing is known, and down are %+v", down)
	}
	silent(false, true, "the first visit has no answer")
	silent(false, false, "another one that began before has none")
	if w.Works("office"); len(w.Down(func(string) bool { return true })) != 0 {
		t.Error("it works and is down")
	}
	for range 10 {
		silent(false, false, "a host that never answered has no answer")
	}
	silent(true, false, "one host has no answer")
	silent(true, false, "a second host has none")
	w.Works("office")
	silent(true, false, "one host has no answer, after another got through")
	silent(true, false, "a second host has none")
	silent(true, true, "a third host has none")
	if until, rests := w.Rest("office", now); !rests || until.Sub(now) != 10*time.Second {
		t.Errorf("the proxy is down: rests %t, until %s", rests, until)
	}
}

// on returns a record of a URI that is in the queue. known reports whether its host has answered before.
func on(host string, known bool, now time.Time) frontier.Record {
	r := frontier.Record{URI: uri.FromCanonical("http://" + host + "/"), History: frontier.History{Due: now}}
	if known {
		r.LastCapture = now.Add(-time.Hour)
	}
	return r
}

// network returns the address of a host: all hosts of .test have the same one.
func network(host string) netip.Prefix {
	if strings.HasSuffix(host, ".test") {
		return netip.MustParsePrefix("192.0.2.7/32")
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, host[0]}), 32)
}

// nobody is a network in which no canary can be reached.
func nobody(string) bool { return false }

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
		{"three hosts of one domain", []string{"a.owner.example", "b.owner.example", "c.owner.example"}, time.Second, true, false},
		{"three hosts at one address", []string{"a.shared.test", "b.shared2.test", "c.shared3.test"}, time.Second, true, false},
		{"three hosts in three hours", []string{"a.example", "b.example", "c.example"}, 61 * time.Minute, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var w uplinkWatch
			down := false
			for i, host := range c.hosts {
				at := now.Add(time.Duration(i) * c.after)
				down = w.Unreachable(on(host, c.known, at), network(host), at) && w.Decide(at, nil, nobody)
			}
			if down != c.want || w.Down() != c.want {
				t.Errorf("down: %t, %t; want %t", down, w.Down(), c.want)
			}
		})
	}
}

func TestAnswerEndsAnOutageAndReturnsSuspectedHosts(t *testing.T) {
	t.Parallel()
	var w uplinkWatch
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		if w.Unreachable(on(host, true, now), network(host), now) {
			w.Decide(now, nil, nobody)
		}
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
	answered := uri.FromCanonical("http://d.example/")
	suspects, probed := w.Answered(answered, netip.Prefix{}, later)
	if len(suspects) != 2 || len(probed) != 1 || w.Down() {
		t.Errorf("suspects %v, probed %v, down %t; want two suspects, one probed host, and an end of the outage", suspects, probed, w.Down())
	}
	if suspects, probed = w.Answered(answered, netip.Prefix{}, later); len(suspects)+len(probed) > 0 {
		t.Errorf("a second answer returns %v and %v, want nothing", suspects, probed)
	}
}

// A thousand strangers refuse together, and our network is up: a canary that the operator named, or one that has
// answered lately, shows it.
func TestACanaryShowsThatOurNetworkIsUp(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		named []string
		up    string // the only address that can be reached
		down  bool
	}{
		{"a canary that the operator named", []string{"down.example:443", "provider.example:443"}, "provider.example:443", false},
		{"a host that has answered lately", nil, "well.example:80", false},
		{"one of the strangers", nil, "s5.example:80", true},
		{"none", []string{"provider.example:443"}, "", true},
	} {
		var w uplinkWatch
		w.Answered(uri.FromCanonical("http://well.example/"), netip.Prefix{}, start)
		now, asked := start.Add(time.Minute), []string{}
		reach := func(address string) bool { asked = append(asked, address); return address == c.up }
		down := false
		for n := range 1000 {
			now = now.Add(10 * time.Millisecond)
			host := fmt.Sprintf("s%d.example", n)
			if w.Unreachable(on(host, true, now), netip.Prefix{}, now) {
				down = w.Decide(now, c.named, reach)
			}
			if w.Down() {
				break
			}
		}
		if down != c.down || w.Down() != c.down {
			t.Errorf("%s: down %t, %t; want %t (asked %v)", c.name, down, w.Down(), c.down, asked)
		}
		if len(asked) > 4 || slices.Contains(asked, "s5.example:80") {
			t.Errorf("%s: asked %v, want four canaries at most, and none of the strangers", c.name, asked)
		}
	}
}

// Workers that fail while canaries are asked wait for the answer, and ask nobody. The clock of a bubble stands still
// while one waits for a mutex, so a mutex here would stop a crawl that is played.
func TestOneWorkerAsksTheCanaries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w uplinkWatch
		var asked, down atomic.Int32
		for range 5 {
			go func() {
				if w.Decide(time.Now(), []string{"silent:80"}, func(string) bool {
					asked.Add(1)
					time.Sleep(canaryTimeout)
					return false
				}) {
					down.Add(1)
				}
			}()
		}
		time.Sleep(canaryTimeout + time.Second)
		if asked.Load() != 1 || down.Load() != 5 {
			t.Errorf("%d workers asked, and %d of five know that the network is down", asked.Load(), down.Load())
		}
	})
}

// A network that is down is probed every ten seconds, and one that was found up is trusted for ten seconds, also if the
// clock was set back meanwhile.
func TestProbesGoOnAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, jump := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		var down, up uplinkWatch
		if !down.Decide(now, nil, nobody) || up.Decide(now, []string{"a:80"}, func(string) bool { return true }) {
			t.Fatal("the canary does not decide")
		}
		if down.MayProbe(now.Add(9 * time.Second)) {
			t.Error("a probe before ten seconds have passed")
		}
		later := now.Add(10*time.Second + jump)
		if !down.MayProbe(later) {
			t.Errorf("after a jump by %s: no probe", jump)
		}
		if !up.Decide(later.Add(time.Second), []string{"a:80"}, nobody) {
			t.Errorf("after a jump by %s: the network still counts as up", jump)
		}
	}
}
