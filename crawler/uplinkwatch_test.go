package crawler

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

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
