package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestANodeIsUnfitForAWhile lets the disk of a node be full several times.
func TestANodeIsUnfitForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var f fitness
	for _, step := range []struct {
		what   string
		after  time.Duration
		shards int
		fault  time.Duration // how long it lasts; 0 = there is none
		unfit  bool
	}{
		{"a brief fault", 0, 2, unfitAfter - time.Second, false},
		{"a long fault", 0, 2, unfitAfter, true},
		{"its shards are elsewhere", time.Minute, 0, 0, true},
		{"it tries again", firstRest, 0, 0, false},
		{"the fault is still there", unfitAfter, 1, unfitAfter, true},
		{"it rests twice as long", firstRest + time.Minute, 0, 0, true},
		{"it tries again", firstRest, 0, 0, false},
		{"the fault has ended", time.Hour, 2, 0, false},
		{"another fault, hours later", longestRest, 2, unfitAfter, true},
		{"nobody took its shards, and the fault has ended", time.Second, 2, 0, false},
		{"another fault, hours later", 2 * longestRest, 2, unfitAfter, true},
		{"it rests as at first", firstRest, 0, 0, false},
	} {
		now = now.Add(step.after)
		why := ""
		if step.fault > 0 {
			why = "disk is full"
		}
		was := f.isUnfit()
		changed := f.look(now, step.shards, why, now.Add(-step.fault))
		if f.isUnfit() != step.unfit || changed != (was != step.unfit) {
			t.Errorf("%s: unfit %t, changed %t; want unfit %t", step.what, f.isUnfit(), changed, step.unfit)
		}
	}
}

// runs lets a node take its part of the crawl, as the daemon does. fault is what [ownedShard.Watch] asks.
func (p *place) runs(fault func() (string, time.Time)) (stop func()) {
	p.Helper()
	n, err := openNode(p.Context(), p.options(), func(err error) { p.Error(err) })
	p.must(err)
	ctx, cancel := context.WithCancel(p.Context())
	var running sync.WaitGroup
	running.Go(func() {
		defer n.Close()
		err := n.Run(ctx, func(ctx context.Context, s *ownedShard) error {
			o := frontier.Options{Dir: s.State(), Now: time.Now(), Compactors: -1}
			if err := s.Prepare(ctx, o); err != nil {
				return err
			}
			f, err := frontier.Open(o)
			if err != nil {
				return err
			}
			stop := func() {}
			if err := s.Start(ctx, f, func(run func(context.Context)) { stop = inBackground(run) }); err != nil {
				return err
			}
			s.Watch(fault)
			<-ctx.Done()
			leave := s.Finish(context.Background(), f)
			stop()
			return leave(f.Close())
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			p.Error(err)
		}
	})
	return func() { cancel(); running.Wait() }
}

// TestANodeThatCannotCrawlHandsItsShardOver lets the disk of a node be full for more than five minutes. Another node
// takes the crawl, and the first one gets it back if nobody else is there.
func TestANodeThatCannotCrawlHandsItsShardOver(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	await := func(what string, is func(shared.Report) bool) {
		t.Helper()
		var r shared.Report
		for giveUp := time.Now().Add(2 * daemontest.Patience); time.Now().Before(giveUp); time.Sleep(100 * time.Millisecond) {
			var err error
			r, err = shared.Look(t.Context(), a.options().Database, func() error { return nil })
			if err == nil && is(r) {
				return
			}
		}
		t.Fatalf("%s did not happen: %+v", what, r)
	}
	owner := func(name string) func(shared.Report) bool {
		return func(r shared.Report) bool { return r.Shards[0].Owner == name }
	}
	full := make(chan struct{})
	stopA := a.runs(func() (string, time.Time) {
		select {
		case <-full:
			return "disk is full", time.Now().Add(-2 * unfitAfter)
		default:
			return "", time.Time{}
		}
	})
	await("the first start", owner("a"))
	stopB := b.runs(func() (string, time.Time) { return "", time.Time{} })
	await("that b waits", func(r shared.Report) bool { return len(r.Nodes) == 2 && r.Shards[0].Whole })
	close(full)
	await("that b crawls", owner("b"))
	await("that a says why", func(r shared.Report) bool {
		var text strings.Builder
		r.Nodes[0].Alive = true
		return r.Write(&text) == nil && strings.Contains(text.String(), "takes no shards: disk is full")
	})
	stopB()
	await("that a takes what nobody else can", owner("a"))
	stopA()
	if log := a.log.String(); !strings.Contains(log, "could not crawl for 5 minutes") {
		t.Errorf("the log of node a:\n%s", log)
	}
}
