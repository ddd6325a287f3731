package frontier_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// TestALoadedStoreEqualsTheOther plays random moves, restarts included. A store that is loaded from the rows that are
// not derived has the same histories, and hands out the same URIs.
func TestALoadedStoreEqualsTheOther(t *testing.T) {
	t.Parallel()
	games, moves := 4, 250
	if slow.Reduced() {
		games = 2
	}
	var claimed atomic.Int64 // by all games; an operator may have paused or held everything in some
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
			for range moves {
				p.now = p.now.Add(time.Duration(p.IntN(60_000)) * time.Millisecond)
				p.move()
			}
			claimed.Add(int64(p.compareLoaded()))
		})
	}
}

// compareLoaded loads a store from the rows of another one, and compares its histories and its claims with the other,
// both after an unclean end. It returns the number of claims.
func (p *play) compareLoaded() (claimed int) {
	p.Helper()
	if len(p.claims) == 0 {
		p.claimOne()
	}
	rows := p.portable()
	o := p.o
	o.Dir = p.TempDir()
	_, err := frontier.Load(o, false, func(put func(k, v []byte) error) error {
		for k, v := range rows {
			if err := put([]byte(k), bytes.Clone(v)); err != nil {
				return err
			}
		}
		return nil
	})
	p.wantErr(err, nil)
	half := o
	half.Dir = p.TempDir()
	_, err = frontier.Load(half, true, func(put func(k, v []byte) error) error {
		return errors.Join(put([]byte("tnews.example"), nil), errors.New("the database is away"))
	})
	if _, opened := frontier.Open(half); err == nil || opened == nil || !strings.Contains(opened.Error(), "not loaded to the end") {
		p.Errorf("half a store was loaded with the error %v and opened with %v", err, opened)
	}
	if _, err := frontier.Load(o, false, func(func(k, v []byte) error) error { return nil }); err == nil {
		p.Error("a store was loaded over another one")
	}
	p.reopen(p.now)
	o.Now = p.now
	loaded, err := frontier.Open(o)
	p.wantErr(err, nil)
	p.wantErr(loaded.Check(), nil)
	if a, b := histories(p, p.Frontier), histories(p, loaded); !slices.Equal(a, b) {
		p.Errorf("the histories differ:\n%s", cmp.Diff(a, b))
	}
	a, b := claimAll(p, p.Frontier, p.now), claimAll(p, loaded, p.now)
	if !slices.Equal(a, b) {
		p.Errorf("the claims differ:\n%s", cmp.Diff(a, b))
	}
	p.wantErr(loaded.Close(), nil)
	p.close()
	return len(a)
}

func histories(t testing.TB, f *frontier.Frontier) (list []string) {
	t.Helper()
	must(t, f.Each(func(r frontier.Record) error { list = append(list, fmt.Sprintf("%+v", r)); return nil }))
	slices.Sort(list) // the hosts may have other numbers
	return list
}

// claimAll claims what can be claimed, each with the time of its claim, and settles it for later. Hosts that are ready
// at the same time come in any order.
func claimAll(t testing.TB, f *frontier.Frontier, now time.Time) (list []string) {
	t.Helper()
	for end := now.Add(time.Hour); ; {
		next, ok := f.NextReady()
		if !ok || next.After(end) {
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
		r.Due = now.Add(1000 * time.Hour)
		if _, err := f.Settle(claim, frontier.Settlement{Record: r, Finished: now}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return list
}
