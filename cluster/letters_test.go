package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// shipping is a node of a test that ships as the daemon does.
type shipping struct {
	*place
	n    *ownedShard
	f    *frontier.Frontier
	stop func() // stops following the store
	end  func() // stops shipping
}

func (p *place) ship() *shipping {
	p.Helper()
	s := &shipping{place: p}
	s.n, s.f, s.stop = p.open()
	ctx, cancel := context.WithCancel(p.Context())
	var ships sync.WaitGroup
	ships.Go(func() { s.n.Ship(ctx, func() error { return nil }) })
	s.end = func() { cancel(); ships.Wait() }
	return s
}

// leave stops properly.
func (s *shipping) leave() {
	s.Helper()
	s.end()
	s.finish(s.n, s.f, s.stop)
}

// beatBefore lets a node see the crawl before it is divided. The returned function takes a shard with what it saw then.
func (p *place) beatBefore() (take func()) {
	p.Helper()
	n, err := openNode(p.Context(), p.options(), func(error) {})
	p.must(err)
	st := (<-n.seen).States
	return func() {
		p.Helper()
		defer n.Close()
		s, err := n.take(p.Context(), st.Shards[0], 1)
		p.must(err)
		if s == nil || s.shards != 2 {
			p.Fatalf("a node that saw the crawl before its division has taken %+v, want one of 2 shards", s)
		}
		p.must(s.release(p.Context(), true))
	}
}

// knowsOnlyShard makes sure that a command on the stopped node knows the shard of its store.
func (p *place) knowsOnlyShard(shard int) {
	p.Helper()
	n, err := checkStopped(p.Context(), p.stopped())
	p.must(err)
	shards, ok := n.Elsewhere(func(uri.Host) string { return "" }).(*letterbox)
	if !ok {
		p.Fatalf("a command on node %s takes the hosts of all shards", p.name)
	}
	for i := range 20 {
		h := uri.Host(fmt.Sprintf("h%d.example", i))
		if s := shardOf(h, "", 2); (shards.shard(h) == 0) != (s == shard) {
			p.Errorf("a command on node %s puts %s in shard %d, want %d", p.name, h, shards.shard(h), s)
		}
	}
	if v := shards.read("h0.example", []byte("key")); v != nil {
		p.Errorf("a stopped node read %q", v)
	}
}

// eventually waits until something is true.
func (p *place) eventually(what string, is func() bool) {
	p.Helper()
	for giveUp := time.Now().Add(daemontest.Patience); time.Now().Before(giveUp); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
	}
	p.Fatalf("node %s: %s did not happen; its log:\n%s", p.name, what, &p.log)
}

// TestNodesCrawlTheirShards divides a crawl of one node among two. Together they have each URI once, with its history;
// links to hosts of the other arrive there, also if the other was away.
func TestNodesCrawlTheirShards(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	var want []string
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 200); want = a.histories(f) })
	takeLate := newPlace(t, db, "early").beatBefore()
	a.split(2)
	takeLate()
	one, two := a.ship(), b.ship()
	if one.n.shard != 1 || two.n.shard != 2 {
		t.Fatalf("node a has shard %d, because it has its copy; node b has %d", one.n.shard, two.n.shard)
	}
	shards := []*shipping{one, two}
	for _, s := range shards {
		s.eventually("the removal of other hosts", func() bool { return s.f.Strays() == 0 })
	}
	got := map[string]string{}
	for _, s := range shards {
		list := s.histories(s.f)
		if len(list) == 0 {
			t.Errorf("node %s has nothing", s.name)
		}
		for _, h := range list {
			if other, both := got[h]; both {
				t.Errorf("nodes %s and %s have %s", other, s.name, h)
			}
			got[h] = s.name
		}
	}
	for _, h := range want {
		if got[h] == "" {
			t.Errorf("nobody has %s", h)
		}
	}

	link := func(s *shipping, path string) (other uri.URI) {
		for i := 0; ; i++ {
			h := uri.Host(fmt.Sprintf("new%d.example", i))
			if s.f.IsForeign(h) {
				u := uri.FromCanonical("http://" + string(h) + path)
				added, err := s.f.Add(time.Now(), frontier.Candidate{URI: u, Hops: "L", Seed: "http://seed.example/"})
				if err != nil || added.Posted != 1 {
					t.Errorf("added %+v, %v", added, err)
				}
				return u
			}
		}
	}
	knows := func(s *shipping, u uri.URI) func() bool {
		return func() bool { _, known, err := s.f.Get(u); return known && err == nil }
	}
	first := link(one, "/first")
	two.eventually("a link of node a", knows(two, first))
	two.leave()
	second := link(one, "/second")
	one.eventually("the letter", func() bool { l, err := lettersIn(one.f, 1, nil); return len(l) == 0 && err == nil })
	two = b.ship()
	two.eventually("a link of the time when node b was away", knows(two, second))
	two.must(two.n.shared.Send(t.Context(), two.n.epoch, []shared.Letter{{Shard: 1, Key: []byte("a"), Value: []byte("damaged")}}))
	third := link(two, "/third")
	one.eventually("a link of node b", knows(one, third))
	one.eventually("the removal of letters", func() bool {
		r := a.report()
		return r.Shards[0].Letters == 0 && r.Shards[1].Letters == 0 && r.Shards[0].Damaged == 1
	})
	one.leave()
	two.leave()
	a.knowsOnlyShard(1)
	b.knowsOnlyShard(2)

	// Node a takes shard 2 too, if it must, and loads its store.
	a.wants = 2
	moved := a.ship()
	if moved.n.shard != 2 {
		t.Fatalf("node a has shard %d", moved.n.shard)
	}
	for _, u := range []uri.URI{first, second} {
		if !knows(moved, u)() {
			t.Errorf("%s was lost when the shard was taken over", u)
		}
	}
	moved.leave()
}

// TestAShardThatNobodyCrawlsIsReported waits in virtual time while one of two shards has no owner.
func TestAShardThatNobodyCrawlsIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		w := watch{me: "a"}
		st := sighting{States: shared.States{Shards: []shared.State{{Owner: "a"}, {}}}, at: time.Now()}
		for range 60 {
			st.Shards[0].Beat++
			w.look(st, zerolog.New(&log))
			w.tell(zerolog.New(&log))
			st.at = st.at.Add(beatEvery)
		}
		if strings.Contains(log.String(), "another node crawls") {
			t.Errorf("a node takes itself for another one:\n%s", &log)
		}
		if n := strings.Count(log.String(), "nobody crawls a shard"); n != 1 || !strings.Contains(log.String(), `"shard":2`) {
			t.Errorf("reported %d times:\n%s", n, &log)
		}
	})
}

// TestAFencedOwnerIsFencedOnce waits in virtual time for a node that stands still, and whose shard nobody can take.
func TestAFencedOwnerIsFencedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w watch
		st := sighting{States: shared.States{Shards: []shared.State{{Owner: "a", Beat: 1}}}, at: time.Now()}
		fences := func() bool { w.look(st, zerolog.Nop()); return w.still().Owner != "" }
		if fences() {
			t.Error("fenced an owner that was seen once")
		}
		st.at = st.at.Add(fenceAfter)
		if !fences() {
			t.Error("did not fence an owner that stands still")
		}
		st.Shards[0].Fenced = true
		if fences() {
			t.Error("fenced an owner that is fenced")
		}
	})
}
