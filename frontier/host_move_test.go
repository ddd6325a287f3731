package frontier_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// away says whether all hosts belong to another store.
type away bool

func (a *away) Has(uri.Host) bool         { return bool(*a) }
func (*away) Row(uri.Host, []byte) []byte { return nil }
func (*away) Size() int64                 { return 0 }
func (*away) Post(*badger.Txn, frontier.Candidate, time.Time) (frontier.Added, func(), error) {
	return frontier.Added{}, nil, errors.New("nothing is found elsewhere")
}

// portable returns the rows of a store under portable keys.
func (w *world) portable() map[string][]byte {
	w.Helper()
	rows, found := w.values(), map[string][]byte{}
	for k, v := range rows {
		_, portable, ok := frontier.Portable([]byte(k), v, func(n uint32) uri.Host {
			for k, v := range rows {
				if k[0] == 'n' && binary.BigEndian.Uint32(v) == n {
					return uri.Host(k[1:])
				}
			}
			return ""
		})
		if ok {
			found[string(portable)] = v
		}
	}
	return found
}

// adopt has a store adopt the hosts of some rows, in any order.
func (w *world) adopt(now, asked time.Time, rows map[string][]byte) {
	w.Helper()
	_, err := w.Adopt(now, asked, func(put func(k, v []byte) error) error {
		for k, v := range rows {
			if err := put([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	})
	must(w, err)
}

// movable is a play in which all hosts move to another store and back, at any time.
type movable struct {
	*play
	other *world
	homes map[*world]*away
	moved int
}

// migrate has the other store adopt all hosts. If something is claimed, the store that had them has died.
func (p *movable) migrate() {
	p.log("all hosts move with %d claims", len(p.claims))
	was, is, clean := p.world, p.other, len(p.claims) == 0
	if clean {
		*p.homes[was] = true
		busy, err := was.PartWith()
		if must(p, err); len(busy) > 0 {
			p.Fatalf("%q have claims, want none", busy)
		}
	}
	rows := was.portable()
	p.world = is
	p.endClaims()
	asked := time.Time{}
	if !clean {
		asked = p.now
	}
	is.adopt(p.now, asked, rows)
	*p.homes[is] = false
	must(p, is.RefreshHosts(nil))
	if !clean {
		was.reopen(p.now)
	}
	*p.homes[was] = true
	must(p, was.RefreshHosts(nil))
	done, err := was.DropStrays(nil, func(uri.Host) bool { return false }, func() {})
	if left := histories(p, was.Frontier); !done || err != nil || len(left) > 0 || was.Strays() > 0 {
		p.Fatalf("hosts that moved away: %v, %v, left %q", done, err, left)
	}
	must(p, was.Check())
	p.other, p.moved = was, p.moved+1
}

// TestHostsMoveBetweenStores plays random moves, while all hosts move to another store and back. Nobody who asks the
// store that has them notices.
func TestHostsMoveBetweenStores(t *testing.T) {
	t.Parallel()
	games, moves := 8, 300
	if slow.Reduced() {
		games, moves = 3, 150
	}
	for seed := range uint64(games) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			p := &movable{homes: map[*world]*away{}, play: &play{
				Rand: rand.New(rand.NewPCG(seed, 3)), now: day,
				m: model{uris: map[string]*modelURI{}, hosts: map[uri.Host]*modelHost{}},
			}}
			open := func(far away) *world {
				w := newWorld(t, func(o *frontier.Options) {
					o.Valence = func(h uri.Host) int { return 1 + int(h[1]-'0') }
					o.RestAfterCrash, o.Elsewhere = time.Minute, &far
					if seed%4 < 2 {
						o.Group = func(h uri.Host) string { return []string{"a", "a", "b", ""}[h[1]-'0'] }
					}
				})
				p.homes[w] = &far
				return w
			}
			p.world, p.other = open(false), open(true)
			p.m.group = p.o.Group
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(strings.Join(p.moves[max(0, len(p.moves)-25):], "\n"))
				}
			})
			for range moves {
				p.now = p.now.Add(time.Duration(p.IntN(60_000)) * time.Millisecond)
				if p.IntN(20) == 0 {
					p.migrate()
				}
				p.move()
				p.compare()
			}
			if p.moved == 0 {
				t.Error("no host ever moved")
			}
		})
	}
}

// TestAnAdoptionThatFailedIsRepeated has the rows of hosts end too early, before and after a restart. The hosts have no
// URIs until all rows are here. Rows that were left out the second time are gone.
func TestAnAdoptionThatFailedIsRepeated(t *testing.T) {
	t.Parallel()
	from, far := newWorld(t), away(true)
	from.add(day, "http://a.example/1", "http://a.example/2", "http://b.example/")
	to := newWorld(t, func(o *frontier.Options) { o.Elsewhere = &far })
	rows := from.portable()
	late := errors.New("the database is away")
	for range 2 {
		_, err := to.Adopt(day, time.Time{}, func(put func(k, v []byte) error) error {
			for k, v := range rows {
				must(t, put([]byte(k), v))
			}
			if err := put([]byte("ua.example\x00short"), nil); !errors.Is(err, frontier.ErrCorrupt) {
				t.Errorf("the row of a URI under a damaged key: %v, want %v", err, frontier.ErrCorrupt)
			}
			return late
		})
		if !errors.Is(err, late) {
			t.Errorf("Adopt returned %v, want %v", err, late)
		}
		if n := len(histories(t, to.Frontier)); n > 0 && to.Counts(day).URIs > 0 {
			t.Errorf("%d URIs are known before all rows are here", n)
		}
	}
	maps.DeleteFunc(rows, func(k string, v []byte) bool { return bytes.Contains(v, []byte("http://a.example/2")) })
	to.adopt(day, time.Time{}, rows)
	far = false
	must(t, to.RefreshHosts(nil))
	must(t, to.Check())
	var got []string
	must(t, to.Each(func(r frontier.Record) error { got = append(got, r.URI.String()); return nil }))
	if slices.Sort(got); !slices.Equal(got, []string{"http://a.example/1", "http://b.example/"}) {
		t.Errorf("the store has %q", got)
	}
}

// TestAdoptedHostsRestSinceTheyWereAsked has a store adopt hosts of one that ended in some way, at some time before.
func TestAdoptedHostsRestSinceTheyWereAsked(t *testing.T) {
	t.Parallel()
	from := newWorld(t)
	from.add(day, "http://a.example/1")
	for name, row := range map[string]struct {
		asked time.Time
		rests time.Duration
	}{
		"it stopped properly":       {time.Time{}, 0},
		"it has just died":          {day, time.Minute},
		"it died 40 s ago":          {day.Add(-40 * time.Second), 20 * time.Second},
		"it died a long time ago":   {day.Add(-time.Hour), 0},
		"its clock was ahead of us": {day.Add(time.Second), 61 * time.Second},
	} {
		far := away(true)
		to := newWorld(t, func(o *frontier.Options) { o.Elsewhere, o.RestAfterCrash = &far, time.Minute })
		to.adopt(day, row.asked, from.portable())
		far = false
		must(t, to.RefreshHosts(nil))
		if _, ok, err := to.Claim(day.Add(row.rests - time.Millisecond)); ok && row.rests > 0 || err != nil {
			t.Errorf("%s: the host is asked too early: %v", name, err)
		}
		if _, ok, err := to.Claim(day.Add(row.rests)); !ok || err != nil {
			t.Errorf("%s: the host is not asked after %s: %v", name, row.rests, err)
		}
	}
}
