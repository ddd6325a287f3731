package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// Hosts of three domains at four addresses are claimed, settled and steered in random order. No quota is ever exceeded,
// and nothing waits in line although it could be claimed.
func TestQuotasHoldAndNothingStarves(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		p := rand.New(rand.NewPCG(seed, 1))
		now := start
		f := openTest(t, Options{Quotas: Quotas{PerDomain: 5, PerAddress: 6, PerServer: 2, Unmet: 2}})
		for n := range 60 {
			link(t, f, fmt.Sprintf("http://h%d.domain%d.example:%d/", n, n%3, 1000+n%7))
		}
		var claims []Claim
		for range 600 {
			now = now.Add(time.Duration(p.IntN(400)) * time.Millisecond)
			switch {
			case p.IntN(3) > 0 || len(claims) == 0:
				c, ok, err := f.Claim(now)
				noErr(t, err)
				if ok {
					claims = append(claims, c)
				} else {
					nothingIsClaimable(t, f, now)
				}
			case p.IntN(20) == 0:
				verb := []HostVerb{Pause, Resume, Wake}[p.IntN(3)]
				pattern := string(claims[p.IntN(len(claims))].Record.URI.Host())
				_, _, err := f.SteerHosts(now, pattern, HostAction{Verb: verb})
				noErr(t, err)
			default:
				i := p.IntN(len(claims))
				c := claims[i]
				claims = append(claims[:i], claims[i+1:]...)
				address := netip.AddrFrom4([4]byte{192, 0, 2, byte(p.IntN(4))})
				o := Settlement{Record: c.Record, Finished: now, HostDown: p.IntN(4) == 0, Address: address}
				if o.HostDown {
					o.Address = netip.Addr{}
				}
				o.Record.Due = now.Add(time.Duration(p.IntN(5)) * time.Second)
				_, err := f.Settle(c, o)
				noErr(t, err)
			}
			for key, q := range f.quotaByKey {
				if q.claims > q.max && !key.address.IsValid() {
					t.Fatalf("%d claims under the quota %v of %d", q.claims, key, q.max)
				}
			}
			if p.IntN(20) == 0 {
				noErr(t, f.Check())
			}
		}
	}
}

// nothingIsClaimable fails the test if a host is ready and within its quotas.
func nothingIsClaimable(t *testing.T, f *Frontier, now time.Time) {
	t.Helper()
	for _, h := range f.byID {
		if h.ownReadyAt <= now.UnixMilli() && h.usedUp() == nil {
			t.Fatalf("host %s is ready and within its quotas, but was not handed out (it waits: %v)", h.name, h.waitsFor != nil)
		}
	}
}

// An owner of 300 names, and of a hundred ports at one address, gets its share of the workers and no more. The other
// host is served at once.
func TestAnOwnerOfManyNamesGetsItsShareOnly(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{Quotas: QuotasFor(50)})
	for n := range 300 {
		link(t, f, fmt.Sprintf("http://n%d.owner.example/", n))
		link(t, f, fmt.Sprintf("http://198.51.100.7:%d/", 8000+n))
	}
	link(t, f, "http://well.example/")
	claimed := map[string]int{}
	for range 50 {
		c, ok, err := f.Claim(start)
		noErr(t, err)
		if ok {
			claimed[c.Record.URI.Domain()]++
		}
	}
	if claimed["owner.example"] != 12 || claimed["198.51.100.7"] != 12 || claimed["well.example"] != 1 {
		t.Errorf("50 workers claimed %v; want 12 of the owner's names, 12 of the address, and the other host", claimed)
	}
}

// passed counts the remains of earlier visits that a search in the host's queue skips between the watermark on disk and
// the first URI.
func passed(t *testing.T, f *Frontier) int {
	t.Helper()
	n := 0
	err := f.db.View(func(txn *badger.Txn) error {
		var w hostRow
		if _, err := readRow(txn, hostKey(1), &w); err != nil {
			return err
		}
		it := txn.NewIterator(badger.IteratorOptions{AllVersions: true, Prefix: key(kindQueue, 1, nil)})
		defer it.Close()
		var deleted []byte
		for it.Seek(queueKey(1, place([]byte(w.Mark)))); it.Valid(); it.Next() {
			switch item := it.Item(); {
			case bytes.Equal(item.Key(), deleted): // an earlier version of the deleted key
			case !item.IsDeletedOrExpired():
				return nil
			default:
				deleted = item.KeyCopy(deleted)
				n++
			}
		}
		return nil
	})
	noErr(t, err)
	return n
}

// The cost of a claim does not depend on the number of earlier visits to its host, because the queue is read from the
// watermark. Read from its head, the search would skip the remains of all earlier visits. The same holds right after
// a restart.
func TestWatermarkKeepsTheCostOfAClaimFlat(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	f := openTest(t, o)
	const uris, visits = 2000, 3000
	cs := make([]Candidate, uris)
	for i := range cs {
		// Half of them are due in the same millisecond.
		cs[i] = Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://a.example/%d", i)), Due: start.Add(time.Duration(i%2*i) * time.Millisecond)}
	}
	_, err := f.Add(start, cs...)
	noErr(t, err)
	now := start.Add(time.Hour)
	for i := range visits {
		now = now.Add(time.Second)
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := c.Record
		r.Due = now.Add(20 * time.Minute)
		if i%100 == 0 {
			r.Due = now // the watermark has to move back
		}
		_, err = f.Settle(c, Settlement{Record: r, Finished: now})
		noErr(t, err)
		if n := passed(t, f); n > 1 {
			t.Fatalf("after %d visits a search from the watermark skips %d remains, want at most 1", i+1, n)
		}
		if i%1000 == 999 {
			noErr(t, errors.Join(f.Check(), f.Close()))
			f = openTest(t, o)
		}
	}
}

// A kill after any portion of an eviction leaves a sound store, in which the eviction is completed later and the number
// of the host is used again.
func TestKillBetweenPortionsOfAnEviction(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), NewHosts: NewHosts{Total: 1}}
	f := openTest(t, o)
	for n := range 3*evictBatch - 1 {
		link(t, f, fmt.Sprintf("http://dead.example/%d", n))
	}
	c, _, err := f.Claim(start)
	noErr(t, err)
	down := Settlement{Record: c.Record, Finished: start, HostDown: true, Robots: &RobotsCopy{Fetched: start}}
	down.Record.Due = start.Add(time.Hour)
	_, err = f.Settle(c, down)
	noErr(t, err)
	h, from := f.hosts["dead.example"], fingerprint{}
	for portion, more := 1, true; more; portion++ {
		from, _, more, err = f.evictPortion(h, from)
		noErr(t, err)
		killed := o
		killed.Dir = filepath.Join(t.TempDir(), "killed")
		noErr(t, smalldisk.CopyFS(killed.Dir, o.Dir))
		g := openTest(t, killed)
		if left := g.hosts["dead.example"].uris; left != max(0, int64(3*evictBatch-1-portion*evictBatch)) {
			t.Errorf("after portion %d: %d URIs are left", portion, left)
		}
		if added := link(t, g, "http://new.example/"); added.Refused != 1 {
			t.Errorf("after portion %d: Add = %+v; want it refused before there is room", portion, added)
		}
		if n, err := g.MakeRoom(nil); n != 1 || err != nil {
			t.Errorf("after portion %d: MakeRoom = %d, %v", portion, n, err)
		}
		if added := link(t, g, "http://new.example/"); added.New != 1 || g.hosts["new.example"].id != 1 || len(g.byID) != 1 {
			t.Errorf("after portion %d: Add = %+v, %d hosts", portion, added, len(g.byID))
		}
		noErr(t, errors.Join(g.Check(), g.Close()))
	}
}
