package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestALongOutageOfTheDatabaseFencesNobody cuts the database from a node that crawls and from one that waits, for more
// time than a node may stand still. The waiting one reaches it first.
func TestALongOutageOfTheDatabaseFencesNobody(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	var places []*place
	var proxies []*silentProxy
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	for _, name := range []string{"a", "b"} {
		p, proxy := newPlace(t, db, name), startProxy(t, db.Address())
		o := p.options()
		o.Database = db.URL(proxy.address)
		n, err := openNode(ctx, o, end)
		p.must(err)
		defer n.Close()
		defer inBackground(func(context.Context) {
			if err := n.Run(ctx, func(ctx context.Context, s *ownedShard) error {
				if err := s.shared.Complete(ctx, s.epoch); err != nil { // only then may it be taken over
					return fmt.Errorf("complete the copy: %w", err)
				}
				<-ctx.Done()
				return nil
			}); err != nil && context.Cause(ctx) == nil {
				t.Error(err)
			}
			t.Logf("node %s:\n%s", name, &p.log)
		})()
		defer end(nil)
		places, proxies = append(places, p), append(proxies, proxy)
		time.Sleep(2 * beatEvery)
	}
	for _, p := range proxies {
		p.gate.Lock()
		p.back.Lock()
		time.Sleep(2 * beatEvery) // the second one has seen the last beat of the first one
	}
	time.Sleep(fenceAfter)
	for _, i := range []int{1, 0} {
		proxies[i].gate.Unlock()
		proxies[i].back.Unlock()
		for ctx.Err() == nil && !strings.Contains(places[i].log.String(), "answers again") {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * beatEvery)
	}
	for _, p := range places {
		if strings.Contains(p.log.String(), "fenced") {
			t.Errorf("node %s fences another one", p.name)
		}
	}
	if err := context.Cause(ctx); err != nil {
		t.Errorf("after an outage: %v", err)
	}
}
