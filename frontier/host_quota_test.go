package frontier

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
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
