package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Hosts are evicted while others find, claim, settle, list, steer and count. No error occurs, the store is sound, and
// every seed is still there.
func TestEvictionNextToEverythingElse(t *testing.T) {
	t.Parallel()
	const rounds, most = 150, 100 * 150 // of each user; more than rounds until a host was evicted, on a busy machine
	w := newWorld(t, func(o *frontier.Options) {
		o.NewHosts = frontier.NewHosts{Total: 30}
		o.Quotas = frontier.QuotasFor(4)
		o.Group = func(h uri.Host) string { return []string{"", "g"}[len(h)%2] }
		o.Limits = func(uri.Host) frontier.Limits { return frontier.Limits{URIs: 1000, PerDirectory: 100} }
	})
	var users sync.WaitGroup
	for n, do := range []func(*rand.Rand, time.Time) error{
		w.findSome, w.visitOne, w.visitOne,
		func(r *rand.Rand, now time.Time) error {
			_, _, err := w.List(now, frontier.Selection{Host: hostPattern(r)}, "", 50)
			return err
		},
		func(r *rand.Rand, now time.Time) error {
			verb := []frontier.Verb{frontier.Force, frontier.Forget}[r.IntN(2)]
			s := frontier.Selection{Prefix: fmt.Sprintf("http://n%d.example/1", r.IntN(50))}
			_, _, err := w.Steer(now, s, frontier.Action{Verb: verb}, "")
			return err
		},
		func(r *rand.Rand, now time.Time) error {
			if _, _, err := w.SteerHosts(now, "n1.example", frontier.HostAction{Verb: frontier.Pause}); err != nil {
				return err
			}
			_, _, err := w.SteerHosts(now, hostPattern(r), frontier.HostAction{Verb: frontier.Wake})
			return err
		},
		func(*rand.Rand, time.Time) error { return w.RefreshHosts() },
		func(r *rand.Rand, now time.Time) error {
			w.Hosts(now)
			w.Counts(now)
			_, err := w.Upcoming(uri.Host(fmt.Sprintf("n%d.example", r.IntN(50))), 10)
			return err
		},
	} {
		users.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for i := 0; i < rounds || i < most && w.EvictedHosts() == 0; i++ {
				if err := do(r, day.Add(time.Duration(i)*time.Hour)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	var evicting sync.WaitGroup
	evicting.Go(func() {
		for !isClosed(done) {
			if _, err := w.MakeRoom(done); err != nil {
				t.Error(err)
				return
			}
		}
	})
	users.Wait()
	close(done)
	evicting.Wait()
	if w.EvictedHosts() == 0 {
		t.Error("no host was evicted")
	}
	w.check()
	w.reopen(day.Add(most * time.Hour))
	for n := range 3 {
		seed := fmt.Sprintf("http://seed%d.example/", n)
		if _, ok, err := w.Get(parse(t, seed)); !ok || err != nil {
			t.Errorf("Get(%s) = %t, %v", seed, ok, err)
		}
	}
}

func isClosed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func hostPattern(r *rand.Rand) string {
	return []string{"*", fmt.Sprintf("n%d.example", r.IntN(50))}[r.IntN(2)]
}

// findSome adds links to random hosts, and a seed.
func (w *world) findSome(r *rand.Rand, now time.Time) error {
	cs := []frontier.Candidate{{URI: uri.FromCanonical(fmt.Sprintf("http://seed%d.example/", r.IntN(3)))}}
	for range 5 {
		text := fmt.Sprintf("http://n%d.example/%d/%d", r.IntN(50), r.IntN(3), r.IntN(30))
		cs = append(cs, frontier.Candidate{URI: uri.FromCanonical(text), Hops: "L"})
	}
	_, err := w.Add(now, cs...)
	return err
}

// visitOne claims a URI. Only the hosts of seeds answer.
func (w *world) visitOne(r *rand.Rand, now time.Time) error {
	c, ok, err := w.Claim(now)
	if err != nil || !ok {
		return err
	}
	o := visited(c, now, time.Hour)
	o.HostDown = c.Record.Hops != ""
	for range r.IntN(3) {
		text := fmt.Sprintf("http://n%d.example/%d", r.IntN(50), r.IntN(9))
		o.Found = append(o.Found, frontier.Candidate{URI: uri.FromCanonical(text), Hops: "L"})
	}
	_, err = w.Settle(c, o)
	return err
}

// Hosts with anything that somebody wants or has archived are never evicted.
func TestHostsThatMatterAreNotEvicted(t *testing.T) {
	t.Parallel()
	const total = 9
	w := newWorld(t, func(o *frontier.Options) {
		o.NewHosts = frontier.NewHosts{Total: total}
		o.Keep = func(h uri.Host) bool { return h == "file.example" }
	})
	w.add(day, "http://seed.example/")
	links := []string{
		"http://file.example/", "http://held.example/", "http://paused.example/", "http://answered.example/",
		"http://archived.example/", "http://dead.example/", "http://visited.example/",
	}
	for _, text := range links {
		w.addAll(frontier.Candidate{URI: parse(t, text), Hops: "L"})
	}
	for range len(links) + 1 {
		c := w.claimAny(day)
		if c.Record.URI.Host() == "answered.example" {
			w.answer(c, day)
		} else {
			w.isDown(c, day)
		}
	}
	// Another crawl has captured it.
	entry := frontier.Entry{Record: w.get("http://archived.example/")}
	entry.LastCapture, entry.Versions = day, 1
	if _, err := w.Import(day, true, entry); err != nil {
		t.Fatal(err)
	}
	w.steerAt(day, named(t, "http://held.example/"), frontier.Action{Verb: frontier.Hold})
	w.steerHosts(day, "paused.example", frontier.Pause)
	later := day.Add(30 * 24 * time.Hour)
	for c, ok, err := w.Claim(later); ok; c, ok, err = w.Claim(later) { // visited.example is being visited
		must(t, err)
		switch c.Record.URI.Host() {
		case "visited.example":
		case "seed.example", "answered.example":
			w.answer(c, later)
		default:
			w.isDown(c, later)
		}
	}
	w.addAll(frontier.Candidate{URI: parse(t, "http://untried.example/"), Hops: "L"})
	if n := w.makeRoom(); n != 1 {
		t.Errorf("MakeRoom = %d, want 1", n)
	}
	for _, text := range append(links, "http://seed.example/", "http://untried.example/") {
		_, ok, err := w.Get(parse(t, text))
		if want := text != "http://dead.example/"; err != nil || ok != want {
			t.Errorf("Get(%s) = %t, %v; want %t", text, ok, err, want)
		}
	}
}
