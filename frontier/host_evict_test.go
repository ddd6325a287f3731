package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// discovered returns links to n new hosts, as a page has them.
func discovered(t testing.TB, pattern string, from, n int) (cs []frontier.Candidate) {
	t.Helper()
	for i := from; i < from+n; i++ {
		cs = append(cs, frontier.Candidate{URI: parse(t, fmt.Sprintf(pattern, i)), Hops: "L", Due: day})
	}
	return cs
}

// isDown settles a claim as a visit that did not reach its host.
func (w *world) isDown(c frontier.Claim, now time.Time) {
	w.Helper()
	o := visited(c, now, 24*time.Hour)
	o.HostDown = true
	w.settle(c, o)
}

// answer settles a claim as a visit whose host answered.
func (w *world) answer(c frontier.Claim, now time.Time) {
	w.Helper()
	w.settle(c, visited(c, now, 1000*time.Hour))
}

func (w *world) makeRoom() int {
	w.Helper()
	n, err := w.MakeRoom(nil)
	must(w, err)
	return n
}

// A stranger invents 55,000 hosts. The number of known hosts stays at its bound, and a seed is crawled.
func TestInventedHostsAreEvicted(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	t.Parallel()
	const total = 2000
	w := newWorld(t, func(o *frontier.Options) { o.NewHosts = frontier.NewHosts{Total: total} })
	now, refused := day, 0
	w.add(now, "http://first.example/")
	w.answer(w.claim(now, "http://first.example/"), now)
	for n := 0; n < 55_000; n += 500 {
		added, err := w.Add(now, discovered(t, "http://h%d.invented.example/", n, 500)...)
		must(t, err)
		refused += added.Refused
		for {
			c, ok, err := w.Claim(now)
			must(t, err)
			if !ok {
				break
			}
			w.isDown(c, now)
		}
		w.makeRoom()
		now = now.Add(time.Second)
	}
	if known := w.Counts(now).Hosts; known > total {
		t.Errorf("%d hosts are known, want at most %d", known, total)
	}
	if int64(refused) != w.RefusedNewHosts() || refused == 0 || w.EvictedHosts() == 0 {
		t.Errorf("%d URIs refused and %d counted, %d hosts evicted", refused, w.RefusedNewHosts(), w.EvictedHosts())
	}
	for _, seed := range []string{"http://seed.example/", "http://another.example/"} {
		w.add(now, seed)
		w.answer(w.claim(now, seed), now)
	}
	w.check()
	w.reopen(now)
	for _, text := range []string{"http://first.example/", "http://seed.example/", "http://another.example/"} {
		if _, ok, err := w.Get(parse(t, text)); err != nil || !ok {
			t.Errorf("Get(%s) = %v, %v", text, ok, err)
		}
	}
}

// Random hosts are found, visited and evicted. A model knows which URIs may not vanish, and which must be gone.
func TestEvictionModel(t *testing.T) {
	t.Parallel()
	crawls, moves := uint64(6), 1500
	if slow.Reduced() {
		crawls, moves = 1, 1000
	}
	for seed := range crawls {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := evictionModel{
				Rand: rand.New(rand.NewPCG(seed, 1)), now: day, kept: map[uri.Host]bool{}, uris: map[string]bool{},
				down: map[uri.Host]bool{}, gone: map[string]bool{},
			}
			m.world = newWorld(t, func(o *frontier.Options) {
				o.NewHosts = frontier.NewHosts{Total: 12}
				o.Quotas = frontier.QuotasFor(8)
				o.Group = func(h uri.Host) string { return []string{"", "", "g"}[len(h)%3] }
				o.Limits = func(uri.Host) frontier.Limits { return frontier.Limits{URIs: 1000, PerDirectory: 100} }
			})
			for range moves {
				m.move()
			}
			if m.evicted == 0 || m.again == 0 {
				t.Errorf("%d URIs were evicted, %d found again", m.evicted, m.again)
			}
		})
	}
}

type evictionModel struct {
	*world
	*rand.Rand
	now    time.Time
	kept   map[uri.Host]bool // has a seed, or answered
	down   map[uri.Host]bool
	uris   map[string]bool
	claims []frontier.Claim
	gone   map[string]bool
	again  int // URIs that were found after they had been evicted

	evicted int // URIs
}

func (m *evictionModel) move() {
	m.now = m.now.Add(time.Duration(m.IntN(100)) * time.Second)
	switch n := m.IntN(20); {
	case n < 7:
		m.find()
	case n < 12:
		c, ok, err := m.Claim(m.now)
		must(m, err)
		if ok {
			m.claims = append(m.claims, c)
		}
	case n < 17 && len(m.claims) > 0:
		i := m.IntN(len(m.claims))
		c := m.claims[i]
		m.claims = append(m.claims[:i], m.claims[i+1:]...)
		host := c.Record.URI.Host()
		if m.IntN(4) == 0 && (m.kept[host] || len(m.kept) < 6) {
			m.answer(c, m.now)
			m.kept[host] = true
		} else {
			m.isDown(c, m.now)
			m.down[host] = true
		}
	case n < 19:
		m.makeRoom()
		m.compare()
	case m.IntN(4) == 0:
		m.claims = nil
		m.reopen(m.now)
		m.compare()
	}
}

// find adds a URI, of which one in ten is a seed.
func (m *evictionModel) find() {
	text := fmt.Sprintf("http://h%d.example/%d", m.IntN(40), m.IntN(60))
	c := frontier.Candidate{URI: parse(m, text), Hops: "L"}
	if m.IntN(10) == 0 && len(m.kept) < 6 {
		c.Hops = ""
	}
	_, known, err := m.Get(c.URI)
	must(m, err)
	added, err := m.Add(m.now, c)
	switch {
	case err != nil || added.Known > 0 != known || added.Refused > 0 && c.Hops == "":
		m.Fatalf("Add(%s) = %+v, %v; known: %t", text, added, err, known)
	case added.New == 0:
		return
	case m.gone[text]:
		m.again++
	}
	if c.Hops == "" {
		m.kept[c.URI.Host()] = true
	}
	m.uris[text] = true
}

// compare verifies that no URI vanished from a host that has a seed, answered, or is being visited.
func (m *evictionModel) compare() {
	m.Helper()
	m.check()
	claimed := map[uri.Host]bool{}
	for _, c := range m.claims {
		claimed[c.Record.URI.Host()] = true
	}
	for text := range m.uris {
		u := parse(m, text)
		_, ok, err := m.Get(u)
		must(m, err)
		if ok {
			continue
		}
		m.evicted, m.gone[text] = m.evicted+1, true
		if delete(m.uris, text); m.kept[u.Host()] || claimed[u.Host()] || !m.down[u.Host()] {
			m.Fatalf("%s was evicted; kept: %t, claimed: %t", text, m.kept[u.Host()], claimed[u.Host()])
		}
	}
}

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
		func(*rand.Rand, time.Time) error { return w.RefreshHosts(nil) },
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
	if w.EvictedHosts() == 0 { // a busy machine may have let the others run first
		_, err := w.MakeRoom(nil)
		must(t, err)
	}
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
