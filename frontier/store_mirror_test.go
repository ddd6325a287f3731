package frontier_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// copied is a copy of a store that is fed by shipments only.
type copied struct {
	*play
	of      *frontier.Frontier // the opening that m follows
	m       *frontier.Mirror
	running sync.WaitGroup
	rows    map[string][]byte
	version uint64 // of the last shipment
	shipped int
	bound   int           // of the mirror's memory
	claimed *atomic.Int64 // by all games; an operator may have paused or held everything in some
}

// follow begins to follow the store if it was opened again.
func (c *copied) follow() {
	c.Helper()
	if c.of == c.Frontier {
		return
	}
	c.running.Wait() // the store that was closed has ended it
	c.of, c.m = c.Frontier, frontier.NewMirror(c.Frontier, c.bound)
	m := c.m
	c.running.Go(func() {
		if err := m.Run(context.Background()); err != nil {
			c.Error(err)
		}
	})
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	c.wantErr(c.m.AwaitStart(c.Context(), again.C), nil)
	c.wantErr(c.m.Since(c.version), nil)
}

// ship moves what has changed to the copy, sometimes twice, sometimes without an answer.
func (c *copied) ship() {
	c.Helper()
	s, err := c.m.Shipment(c.Context())
	c.wantErr(err, nil)
	defer s.Close()
	c.wantErr(s.Each(func(portion []frontier.ChangedRow) error {
		for _, r := range portion {
			if r.Gone {
				delete(c.rows, string(r.Key))
			} else {
				c.rows[string(r.Key)] = r.Value
			}
		}
		c.shipped += len(portion)
		return nil
	}), nil)
	if c.IntN(5) > 0 {
		c.m.Shipped(s)
		c.version = s.Version
	}
}

// store returns the rows of the store that a copy has.
func (c *copied) store() map[string][]byte {
	rows := c.values()
	maps.DeleteFunc(rows, func(k string, _ []byte) bool { return k[0] == 'q' || k == "mmirror" })
	return rows
}

// TestTheMirrorEqualsTheStore plays random moves, restarts included. A copy that is fed by shipments only equals the
// store key by key. A store that is loaded from the copy has the same histories, and hands out the same URIs.
func TestTheMirrorEqualsTheStore(t *testing.T) {
	t.Parallel()
	games, moves := 4, 250
	if slow.Reduced() {
		games = 2
	}
	var claimed atomic.Int64
	t.Cleanup(func() {
		if claimed.Load() == 0 {
			t.Error("nothing was claimed from any copy")
		}
	})
	for seed := range uint64(games) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			p := &play{
				Rand: rand.New(rand.NewPCG(seed, 7)), now: day,
				m: model{uris: map[string]*modelURI{}, hosts: map[uri.Host]*modelHost{}},
			}
			p.world = newWorld(t, func(o *frontier.Options) {
				o.Valence = func(h uri.Host) int { return 1 + int(h[1]-'0') }
				o.RestAfterCrash = time.Minute
			})
			c := &copied{play: p, rows: map[string][]byte{}, claimed: &claimed, bound: []int{1_000, 3}[seed%2]}
			for n := range moves {
				p.now = p.now.Add(time.Duration(p.IntN(60_000)) * time.Millisecond)
				c.follow()
				p.move()
				c.follow()
				if n%5 == 0 {
					c.ship()
					if diff := cmp.Diff(c.store(), c.rows); diff != "" {
						t.Fatalf("after move %d the copy differs (-store +copy):\n%s", n, diff)
					}
				}
			}
			c.ship()
			if c.shipped < moves {
				t.Errorf("only %d rows were shipped", c.shipped)
			}
			c.compareLoaded()
			c.running.Wait()
		})
	}
}

// compareLoaded loads a store from the copy, and compares its histories and its claims with the store, both
// after an unclean end.
func (c *copied) compareLoaded() {
	c.Helper()
	if len(c.claims) == 0 {
		c.claimOne()
	}
	c.ship()
	o := c.o
	o.Dir = c.TempDir()
	_, err := frontier.Load(o, false, func(put func(k, v []byte) error) error {
		for k, v := range c.rows {
			if err := put([]byte(k), bytes.Clone(v)); err != nil {
				return err
			}
		}
		return nil
	})
	c.wantErr(err, nil)
	half := o
	half.Dir = c.TempDir()
	_, err = frontier.Load(half, true, func(put func(k, v []byte) error) error {
		return errors.Join(put([]byte("dpayload"), nil), errors.New("the database is away"))
	})
	if _, opened := frontier.Open(half); err == nil || opened == nil || !strings.Contains(opened.Error(), "not loaded to the end") {
		c.Errorf("half a store was loaded with the error %v and opened with %v", err, opened)
	}
	if _, err := frontier.Load(o, false, func(func(k, v []byte) error) error { return nil }); err == nil {
		c.Error("a store was loaded over another one")
	}
	c.reopen(c.now)
	o.Now = c.now
	loaded, err := frontier.Open(o)
	c.wantErr(err, nil)
	c.wantErr(loaded.Check(), nil)
	if a, b := histories(c, c.Frontier), histories(c, loaded); !slices.Equal(a, b) {
		c.Errorf("the histories differ:\n%s", cmp.Diff(a, b))
	}
	if a, b := claimAll(c, c.Frontier, c.now), claimAll(c, loaded, c.now); !slices.Equal(a, b) {
		c.Errorf("the claims differ:\n%s", cmp.Diff(a, b))
	} else {
		c.claimed.Add(int64(len(a)))
	}
	c.wantErr(loaded.Close(), nil)
	c.close()
}

func histories(t testing.TB, f *frontier.Frontier) (list []string) {
	t.Helper()
	must(t, f.Each(func(r frontier.Record) error { list = append(list, fmt.Sprintf("%+v", r)); return nil }))
	return list
}

// claimAll claims what can be claimed, each with the time of its claim, and abandons it.
func claimAll(t testing.TB, f *frontier.Frontier, now time.Time) (list []string) {
	t.Helper()
	for range 60 {
		next, ok := f.NextReady()
		if !ok {
			break
		}
		if next.After(now) {
			now = next
		}
		claim, ok, err := f.Claim(now)
		must(t, err)
		if !ok {
			continue
		}
		list = append(list, now.String()+" "+claim.Record.URI.String())
		r := claim.Record
		r.Due = now.Add(time.Hour)
		if _, err := f.Settle(claim, frontier.Settlement{Record: r, Finished: now}); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
