package crawler

import (
	"errors"
	"testing"
	"time"
)

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
