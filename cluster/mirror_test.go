package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// everything is the home of a store that has all parts.
var everything = home{own: shared.OwnPart(1), part: func(uri.Host) (int16, bool) { return 0, true }}

// copied is a copy of a store that is fed by shipments only.
type copied struct {
	*fixture
	*rand.Rand
	now     time.Time
	f       *frontier.Frontier
	m       *mirror
	stop    func()
	rows    map[string][]byte
	others  map[string][]byte // payloads
	index   *dedup.Index
	version uint64 // of the last shipment
	shipped int
	bound   int // of the mirror's memory
	hosts   int // that may be known; 0 = no bound
}

// follow opens the store and begins to follow it.
func (c *copied) follow() {
	c.Helper()
	var err error
	c.f, err = frontier.Open(frontier.Options{
		Dir: c.state, Now: c.now, Compactors: -1, NewHosts: frontier.NewHosts{Total: c.hosts},
	})
	c.must(err)
	c.index, err = dedup.Open(c.f.DB(), dedup.Options{})
	c.must(err)
	m := newMirror(c.f, everything, c.bound)
	c.m, c.stop = m, inBackground(func(ctx context.Context) {
		if err := m.run(ctx); err != nil {
			c.Error(err)
		}
	})
	c.must(m.awaitAll(c.Context()))
	c.must(m.since(c.version))
}

// move changes the store: by a visit, by rows of another package, or by opening it again.
func (c *copied) move() {
	c.Helper()
	c.now = c.now.Add(time.Duration(c.IntN(60_000)) * time.Millisecond)
	switch n := c.IntN(20); {
	case n == 0:
		c.stop()
		c.must(c.f.Close())
		c.follow()
	case n < 6: // a payload is archived, and another one not kept any more
		key, o := payloadOf(fmt.Sprint(c.IntN(1000)), fmt.Sprint(c.IntN(4), ".warc.gz"))
		c.must(errors.Join(c.index.Replace(key, o), c.index.Refer(o), c.index.Flush()))
		c.drop()
	case n < 14:
		u := uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", c.IntN(4), c.IntN(12)))
		_, err := c.f.Add(c.now, frontier.Candidate{URI: u, Due: c.now})
		c.must(err)
		claim, ok, err := c.f.Claim(c.now)
		if c.must(err); ok {
			claim.Record.Due = c.now.Add(time.Minute)
			_, err = c.f.Settle(claim, frontier.Settlement{Record: claim.Record, Finished: c.now})
			c.must(err)
		}
	default:
		set, drop := fmt.Sprint("pt", c.IntN(8)), fmt.Sprint("pt", c.IntN(8))
		c.must(frontier.UpdateOthers(c.f, []string{set, drop}, func(txn *badger.Txn, _ []string) error {
			return errors.Join(txn.Set([]byte(set), []byte(c.now.String())), txn.Delete([]byte(drop)))
		}, func([]string) {}))
	}
}

// drop removes the first entry of the dedup index from the store.
func (c *copied) drop() {
	c.must(c.f.DB().Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("d")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if k := it.Item().KeyCopy(nil); dedup.KindOf(k) == dedup.Entry {
				return txn.Delete(k)
			}
		}
		return nil
	}))
}

// ship moves what has changed to the copy, sometimes twice, sometimes without an answer.
func (c *copied) ship() {
	c.Helper()
	s, err := c.m.shipment(c.Context())
	c.must(err)
	defer s.close()
	c.must(s.each(func(portion []shared.Row) error {
		for _, r := range portion {
			switch {
			case r.Of != shared.OfPart && r.Gone:
				c.Errorf("the payload %q is removed from the copy", r.Key)
			case r.Of != shared.OfPart:
				c.others[string(r.Key)] = r.Value
			case r.Begins:
				maps.DeleteFunc(c.rows, func(k string, _ []byte) bool { return strings.HasPrefix(k, string(r.Key)) })
			case r.Gone:
				delete(c.rows, string(r.Key))
			default:
				c.rows[string(r.Key)] = r.Value
			}
		}
		c.shipped += len(portion)
		return nil
	}))
	if c.IntN(5) > 0 {
		c.m.shipped(s)
		c.version = s.version
	}
}

// TestTheMirrorEqualsTheStore plays random moves, restarts included. A copy that is fed by shipments only equals the
// store key by key. It has all payloads that are in the store, and keeps the others.
func TestTheMirrorEqualsTheStore(t *testing.T) {
	t.Parallel()
	for seed, bound := range []int{1_000, 3} {
		t.Run(fmt.Sprintf("at most %d keys", bound), func(t *testing.T) {
			t.Parallel()
			c := &copied{
				fixture: newFixture(t, nil, "a"), Rand: rand.New(rand.NewPCG(uint64(seed), 7)), now: time.Unix(1.8e9, 0),
				rows: map[string][]byte{}, others: map[string][]byte{}, bound: bound,
			}
			c.follow()
			const moves = 250
			for n := range moves {
				if c.move(); n%5 > 0 {
					continue
				}
				c.ship()
				txn := c.f.DB().NewTransaction(false)
				it := txn.NewIterator(badger.DefaultIteratorOptions)
				for it.Rewind(); it.Valid(); it.Next() {
					k := it.Item().KeyCopy(nil)
					if !isPayload(k) {
						continue
					}
					v, err := it.Item().ValueCopy(nil)
					c.must(err)
					v, err = dedup.Portable(txn, k, v)
					if c.must(err); !bytes.Equal(c.others[string(k)], v) {
						t.Fatalf("after move %d the copy of the payload %q is %q, want %q", n, k, c.others[string(k)], v)
					}
				}
				it.Close()
				txn.Discard()
				if diff := cmp.Diff(c.fixture.rows(c.f), c.rows); diff != "" {
					t.Fatalf("after move %d the copy differs (-store +copy):\n%s", n, diff)
				}
			}
			if c.shipped < moves || len(c.others) < 20 {
				t.Errorf("only %d rows were shipped, and %d payloads", c.shipped, len(c.others))
			}
			c.stop()
			c.must(c.f.Close())
		})
	}
}

// TestAnEvictedHostLeavesNothingInTheCopy evicts hosts that were never reached. Other hosts have their numbers before
// anything is shipped.
func TestAnEvictedHostLeavesNothingInTheCopy(t *testing.T) {
	t.Parallel()
	c := &copied{
		fixture: newFixture(t, nil, "a"), Rand: rand.New(rand.NewPCG(1, 7)), now: time.Unix(1.8e9, 0), rows: map[string][]byte{},
		bound: 1000, hosts: 20,
	}
	c.follow()
	defer func() { c.stop(); c.must(c.f.Close()) }()
	for round := range 3 {
		for n := range 20 {
			c.now = c.now.Add(time.Second)
			u := uri.FromCanonical(fmt.Sprintf("http://h%d-%d.example/", round, n))
			_, err := c.f.Add(c.now, frontier.Candidate{URI: u, Hops: "L", Due: c.now})
			c.must(err)
		}
		for claim, ok, err := c.f.Claim(c.now); ok || err != nil; claim, ok, err = c.f.Claim(c.now) {
			c.must(err)
			claim.Record.Due, claim.Record.Failures = c.now.Add(24*time.Hour), 1
			_, err = c.f.Settle(claim, frontier.Settlement{Record: claim.Record, Finished: c.now, HostDown: true})
			c.must(err)
		}
		if round < 2 {
			c.ship()
		}
		evicted, err := c.f.MakeRoom(nil)
		if c.must(err); evicted == 0 {
			t.Error("no host was evicted")
		}
	}
	for range 20 { // some shipments have no answer
		c.ship()
	}
	if diff := cmp.Diff(c.fixture.rows(c.f), c.rows); diff != "" {
		t.Errorf("the copy differs (-store +copy):\n%s", diff)
	}
}

// TestOnlyRowsOfPartsThatAreHereAreShipped changes hosts of three parts. Rows of a part that leaves the store are not
// shipped any more, neither changed nor removed; neither are the rows of a part that comes.
func TestOnlyRowsOfPartsThatAreHereAreShipped(t *testing.T) {
	t.Parallel()
	c := &copied{fixture: newFixture(t, nil, "a"), Rand: rand.New(rand.NewPCG(1, 7)), now: time.Unix(1.8e9, 0), bound: 1000}
	c.follow()
	defer func() { c.stop(); c.must(c.f.Close()) }()
	gone := map[string]bool{"comes.example": true}
	c.m.home = home{own: shared.OwnPart(3), part: func(h uri.Host) (int16, bool) {
		return int16(len(h)), !gone[string(h)]
	}}
	parts := func() map[int16]int {
		t.Helper()
		s, err := c.m.shipment(t.Context())
		c.must(err)
		defer s.close()
		n := map[int16]int{}
		c.must(s.each(func(rows []shared.Row) error {
			for _, r := range rows {
				n[r.Part]++
			}
			return nil
		}))
		c.m.shipped(s)
		return n
	}
	add := func(path string) {
		t.Helper()
		for _, host := range []string{"a.example", "comes.example", "leaves.example"} {
			_, err := c.f.Add(c.now, frontier.Candidate{URI: uri.FromCanonical("http://" + host + "/" + path)})
			c.must(err)
		}
	}
	add("1")
	if n := parts(); n[9] == 0 || n[14] == 0 || len(n) != 2 {
		t.Errorf("rows were shipped of the parts %v", n)
	}
	gone["leaves.example"] = true
	add("2")
	if n := parts(); n[9] == 0 || len(n) != 1 {
		t.Errorf("rows were shipped of the parts %v, although two are not here", n)
	}
	add("3")
	done, err := c.f.DropStrays(nil, func(h uri.Host) bool { return !gone[string(h)] }, func() {})
	if err != nil || !done {
		t.Fatalf("removed: %t, %v", done, err)
	}
	if n := parts(); n[9] == 0 || len(n) != 1 {
		t.Errorf("rows of the parts %v were shipped, although two were removed only here", n)
	}
}

// TestAdoptedRowsAreNotShippedAgain lets a store adopt the rows of a host from a copy. Only what changes later is
// shipped, also after the store was opened again.
func TestAdoptedRowsAreNotShippedAgain(t *testing.T) {
	t.Parallel()
	shipped := func(c *copied) (list []shared.Row) {
		s, err := c.m.shipment(t.Context())
		c.must(err)
		defer s.close()
		c.must(s.each(func(rows []shared.Row) error { list = append(list, rows...); return nil }))
		c.m.shipped(s)
		return list
	}
	open := func(name string) *copied {
		c := &copied{fixture: newFixture(t, nil, name), now: time.Unix(1.8e9, 0), bound: 20}
		c.follow()
		t.Cleanup(func() { c.stop(); c.must(c.f.Close()) })
		return c
	}
	from, to := open("a"), open("b")
	for i := range 60 {
		u := uri.FromCanonical(fmt.Sprintf("http://h.example/%d", i))
		_, err := from.f.Add(from.now, frontier.Candidate{URI: u, Due: from.now})
		from.must(err)
	}
	_, err := to.f.Adopt(to.now, time.Time{}, func(put func(k, v []byte) error) error {
		for _, r := range shipped(from) {
			if err := put(r.Key, r.Value); err != nil {
				return err
			}
		}
		return nil
	})
	to.must(err)
	if n := len(shipped(to)); n > 5 {
		t.Errorf("%d rows were shipped after 60 URIs were adopted", n)
	}
	to.must(to.f.RefreshHosts(nil))
	claim, ok, err := to.f.Claim(to.now.Add(time.Minute))
	if err != nil || !ok {
		t.Fatalf("nothing can be claimed: %v", err)
	}
	claim.Record.Visits++
	_, err = to.f.Settle(claim, frontier.Settlement{Record: claim.Record, Finished: to.now.Add(time.Minute)})
	to.must(err)
	to.stop()
	to.must(to.f.Close())
	to.follow() // it looks for all that was ever changed
	found := 0
	rows := shipped(to)
	for _, r := range rows {
		found += countOf(bytes.HasPrefix(r.Key, []byte("u")) && !r.Gone)
	}
	if found != 1 || len(rows) > 8 {
		t.Errorf("%d rows were shipped after a visit, %d of them of URIs", len(rows), found)
	}
}

// TestAShipmentNamesTheLettersInIt ships letters. A damaged one is left out; when all are in the copy, each is removed
// from the store, unless it has changed.
func TestAShipmentNamesTheLettersInIt(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0, 2)
	m := newMirror(s.Frontier, home{own: -1, part: func(uri.Host) (int16, bool) { return 0, true }}, 1000)
	defer inBackground(func(ctx context.Context) { _ = m.run(ctx) })()
	s.must(m.awaitAll(t.Context()))
	first, second := parseURI(t, "http://"+hostIn(1, 2)+"/1"), parseURI(t, "http://"+hostIn(1, 2)+"/2")
	for _, u := range []uri.URI{first, second} {
		_, err := s.Add(day, frontier.Candidate{URI: u, Due: at(time.Hour)})
		s.must(err)
	}
	s.must(s.DB().Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set([]byte("pl\x00\x02short"), []byte("x")), txn.Set(append([]byte("pl\x7f\xff"), make([]byte, 12)...), []byte("x")))
	}))
	ship := func() (rows []shared.Row, is *shipment) {
		t.Helper()
		is, err := m.shipment(t.Context())
		s.must(err)
		for range 2 { // the answer to the first was lost
			rows = nil
			s.must(is.each(func(some []shared.Row) error {
				for _, r := range some {
					if r.Of == shared.Letters {
						rows = append(rows, r)
					}
				}
				return nil
			}))
		}
		is.close()
		return rows, is
	}
	rows, is := ship()
	if len(rows) != 2 || len(is.letters) != 2 || rows[0].Part != partOf(first.Host(), "") || rows[0].Gone {
		t.Fatalf("the letters are %v, named are %v", rows, is.letters)
	}
	_, err := s.Add(day, frontier.Candidate{URI: second, Sooner: true, Due: at(time.Minute)})
	s.must(err)
	m.shipped(is)
	s.must(sent(s.Frontier, is.letters))
	if rows, is = ship(); len(rows) != 1 {
		t.Fatalf("after the shipment the letters are %v, want the one that has changed", rows)
	}
	c, err := frontier.DecodeCandidate(rows[0].Value)
	if err != nil || c.URI != second || !c.Due.Equal(at(time.Minute)) {
		t.Fatalf("after the shipment the letters are %v, %v; want the one that has changed", rows, err)
	}
	m.shipped(is)
	s.must(sent(s.Frontier, is.letters))
	if rows, _ := ship(); len(rows) != 0 { // their removal is no change of the copy
		t.Errorf("shipped %v when nothing had changed", rows)
	}
}
