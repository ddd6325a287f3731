package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// TestADivisionKeepsTheHistoriesOfChangedGroups divides a crawl among two shards, changes the group of a host, so that
// it belongs to the other shard, and divides the crawl again. One shard keeps the history of the host, whose new shard
// has no copy of it, and no URI is counted twice.
func TestADivisionKeepsTheHistoriesOfChangedGroups(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	p := newPlace(t, db, "a")
	url := p.options().Database
	var want []string
	p.run(func(f *frontier.Frontier) { p.crawl(f, 0, 70); want = p.histories(f) })
	p.split(2)
	for p.wants = 1; p.wants <= 2; p.wants++ {
		p.drop(nil)
	}
	const moved = "h3.example"
	was := shardOf(moved, "", 2)
	p.group = func(h uri.Host) string {
		for n := 'a'; h == moved; n++ {
			if g := string(n); shardOf(h, g, 2) != was {
				return g
			}
		}
		return ""
	}
	p.split(4)
	left, err := leaveCluster(t.Context(), leaveOptions{
		Database: url, To: t.TempDir(), Now: time.Now(), Group: p.group,
		Open: func(folder string) (*frontier.Frontier, error) {
			return frontier.Open(frontier.Options{Dir: folder, Now: time.Now(), Compactors: -1})
		},
	})
	if err != nil || left.Moved != 10 {
		t.Errorf("left with %+v before the copies were divided, want 10 URIs of %s: %v", left, moved, err)
	}
	var got []string
	var counted, listed, hosts int64
	for p.wants = 1; p.wants <= 4; p.wants++ {
		p.drop(func(f *frontier.Frontier) {
			got = append(got, p.histories(f)...)
			if has := f.Has(moved); has != (p.wants == was || !f.IsForeign(moved)) {
				t.Errorf("shard %d has %s: %t, want it in shard %d and its own one", p.wants, moved, has, was)
			}
			n, _, err := f.Count(time.Now(), frontier.Selection{}, "")
			p.must(err)
			c := f.Counts(time.Now())
			if states := c.Ready + c.Snoozed + c.Busy + c.Idle + c.Paused; states != c.Hosts {
				t.Errorf("shard %d has %d hosts in all states, and %d hosts", p.wants, states, c.Hosts)
			}
			counted, listed, hosts = counted+c.URIs, listed+n, hosts+c.Hosts
		})
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the shards have %d histories, want %d:\n%q\n%q", len(got), len(want), got, want)
	}
	if counted != 70 || listed != 70 || hosts != 8 {
		t.Errorf("%d URIs are counted and %d listed, of %d hosts; want 70 of 7, one of which is in two shards", counted, listed, hosts)
	}
}

// drop takes the shard that the place wants, waits until the hosts of other shards are removed, and does something.
func (p *place) drop(do func(*frontier.Frontier)) {
	p.Helper()
	s := p.ship()
	s.eventually("the hosts of other shards are removed", func() bool { return !p.report().Shards[p.wants-1].Strays })
	if do != nil {
		do(s.f)
	}
	s.leave()
}
