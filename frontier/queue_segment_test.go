package frontier_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// The segments that are cached for the queue of a crowded host are updated when URIs are added, removed or moved. They
// are not read again. Check compares them with the queue.
func TestQueueSegmentsHaveNoGap(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	for seed := range uint64(6) {
		w := newWorld(t, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 3 } })
		rnd := rand.New(rand.NewPCG(seed, 0))
		soon := []time.Duration{time.Second, time.Minute, time.Hour, 100 * time.Hour}[:2+seed%3]
		later := func() time.Duration { return 1 + time.Duration(rnd.Int64N(int64(soon[rnd.IntN(len(soon))]))) }
		now, n := day, 0
		add := func() {
			n++
			u := parse(t, fmt.Sprintf("http://a.example/%d", n))
			due := now.Add(-later())
			if seed%2 == 1 {
				due = due.Add(later())
			}
			_, err := w.Add(now, frontier.Candidate{URI: u, Hops: "L", Due: due})
			w.wantErr(err, nil)
		}
		for range 150 * (1 + seed%4) {
			add()
		}
		var claims []frontier.Claim
		for step := range 1500 {
			now = now.Add(time.Duration(rnd.Int64N(int64(seed+1) * int64(time.Second))))
			switch what := rnd.IntN(20); {
			case what == 0 || what < 9 && seed == 3: // as many URIs are added as are visited
				add()
			case what == 1:
				named := frontier.Selection{URIs: []uri.URI{parse(t, fmt.Sprintf("http://a.example/%d", 1+rnd.IntN(n)))}}
				verb := []frontier.Verb{frontier.Forget, frontier.Hold, frontier.Release, frontier.Force}[rnd.IntN(4)]
				_, _, err := w.Steer(now, named, frontier.Action{Verb: verb}, "")
				w.wantErr(err, nil)
			case what < 11 && len(claims) < 3:
				if c, ok, err := w.Claim(now); err != nil {
					t.Fatal(err)
				} else if ok {
					claims = append(claims, c)
				}
			case len(claims) > 0:
				i := rnd.IntN(len(claims))
				c := claims[i]
				o := visited(c, now, later())
				o.Politeness = frontier.Politeness{}
				if what == 19 {
					w.wantErr(w.Release(c, now), nil)
				} else if what == 18 { // the store fails; the claim stays valid
					broken := errors.New("broken")
					o.AlsoWrite = func(*badger.Txn) error { return broken }
					_, err := w.Settle(c, o)
					w.wantErr(err, broken)
					continue
				} else {
					w.settle(c, o)
				}
				claims = append(claims[:i], claims[i+1:]...)
			}
			if step%25 == 0 {
				w.check()
			}
		}
		for _, c := range claims {
			w.wantErr(w.Release(c, now), nil)
		}
	}
}
