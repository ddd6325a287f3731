package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestALongOutageOfTheDatabaseFencesNobody cuts the database from two nodes that crawl, for more time than a node may
// stand still. The second one reaches it first.
func TestALongOutageOfTheDatabaseFencesNobody(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	var all []*crawling
	var proxies []*silentProxy
	for _, name := range []string{"a", "b"} {
		p, proxy := newFixture(t, db, name), startProxy(t, db.Address())
		p.through = proxy.address
		c := p.join()
		c.has(shared.Parts/(len(all)+1), shared.Parts/(len(all)+1))
		all, proxies = append(all, c), append(proxies, proxy)
	}
	all[0].has(shared.Parts/2, shared.Parts/2)
	for _, p := range proxies {
		p.gate.Lock()
		p.back.Lock()
		time.Sleep(2 * beatEvery) // the second one has seen the last beat of the first one
	}
	time.Sleep(fenceAfter)
	for _, i := range []int{1, 0} {
		if all[i].n.MayClaim() == nil {
			t.Errorf("node %s claims without the database", all[i].name)
		}
		proxies[i].gate.Unlock()
		proxies[i].back.Unlock()
		all[i].eventually("it notices that the database is back", func() bool {
			return strings.Contains(all[i].log.String(), "answers again") && all[i].n.MayClaim() == nil
		})
		time.Sleep(2 * beatEvery)
	}
	for _, c := range all {
		c.has(shared.Parts/2, shared.Parts/2)
		if strings.Contains(c.log.String(), "fenced") {
			t.Errorf("node %s fences another one:\n%s", c.name, &c.log)
		}
		c.still()
	}
	for _, c := range all {
		c.leave()
	}
}
