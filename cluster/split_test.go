package cluster

import (
	"slices"
	"testing"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// TestHostsFollowTheirGroups divides a crawl among two shards. Then a host has a group that belongs to the other shard,
// and moves there with its histories. The crawl is divided again. No URI is lost, and none is in two shards.
func TestHostsFollowTheirGroups(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	p := newPlace(t, postgres.New(t), "a")
	var want []string
	p.run(func(f *frontier.Frontier) { p.crawl(f, 0, 70); want = p.histories(f) })
	p.split(2)
	for p.wants = 1; p.wants <= 2; p.wants++ {
		p.run(func(*frontier.Frontier) {})
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
	for _, shards := range []int{2, 4} {
		if shards > 2 {
			p.split(shards)
		}
		var got []string
		for p.wants = 1; p.wants <= shards; p.wants++ {
			s := p.ship()
			s.eventually("the hosts of other shards are removed", func() bool { return s.f.Strays() == 0 })
			got = append(got, p.histories(s.f)...)
			if home := shardOf(moved, p.group(moved), shards); s.f.Has(moved) != (p.wants == home) {
				t.Errorf("shard %d of %d has %s: %t, want it in shard %d", p.wants, shards, moved, s.f.Has(moved), home)
			}
			s.leave()
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%d shards have %d histories, want %d:\n%q\n%q", shards, len(got), len(want), got, want)
		}
	}
}
