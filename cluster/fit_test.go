package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestANodeIsUnfitForAWhile lets the disk of a node be full several times.
func TestANodeIsUnfitForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var f fitness
	for _, step := range []struct {
		what  string
		after time.Duration
		parts int
		fault time.Duration // how long it lasts; 0 = there is none
		unfit bool
	}{
		{"a brief fault", 0, 2, unfitAfter - time.Second, false},
		{"a long fault", 0, 2, unfitAfter, true},
		{"its parts are elsewhere", time.Minute, 0, 0, true},
		{"it tries again", firstRest, 0, 0, false},
		{"the fault is still there", unfitAfter, 1, unfitAfter, true},
		{"it rests twice as long", firstRest + time.Minute, 0, 0, true},
		{"it tries again", firstRest, 0, 0, false},
		{"the fault has ended", time.Hour, 2, 0, false},
		{"another fault, hours later", longestRest, 2, unfitAfter, true},
		{"nobody took its parts, and the fault has ended", time.Second, 2, 0, false},
		{"another fault, hours later", 2 * longestRest, 2, unfitAfter, true},
		{"it rests as at first", firstRest, 0, 0, false},
	} {
		now = now.Add(step.after)
		why := ""
		if step.fault > 0 {
			why = "disk is full"
		}
		was := f.isUnfit()
		changed := f.look(now, step.parts, why, now.Add(-step.fault))
		if f.isUnfit() != step.unfit || changed != (was != step.unfit) {
			t.Errorf("%s: unfit %t, changed %t; want unfit %t", step.what, f.isUnfit(), changed, step.unfit)
		}
	}
}

// TestANodeThatCannotCrawlHandsItsHostsOver lets the disk of a node be full for more than five minutes. Another node
// takes its hosts, and the first one gets them back when nobody else is there.
func TestANodeThatCannotCrawlHandsItsHostsOver(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	two := b.join()
	two.has(shared.Parts/2, shared.Parts/2)
	one.n.mu.Lock()
	one.n.fault = func() (string, time.Time) { return "disk is full", time.Now().Add(-2 * unfitAfter) }
	one.n.mu.Unlock()
	two.has(shared.Parts, shared.Parts)
	one.has(0, 0)
	one.eventually("that it says why", func() bool {
		r := a.report()
		var text strings.Builder
		r.Nodes[0].Alive = true
		return r.Write(&text) == nil && strings.Contains(text.String(), "takes no hosts: disk is full")
	})
	two.leave()
	one.has(shared.Parts, shared.Parts)
	one.leave()
	if log := a.log.String(); !strings.Contains(log, "could not crawl for 5 minutes") {
		t.Errorf("the log of node a:\n%s", log)
	}
}
