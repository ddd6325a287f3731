package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// place is a node of a test, with its state folder.
type place struct {
	testing.TB
	db    *postgres.Server
	name  string
	state string
	copy  string      // folder of the store that was used last; "" = state
	wants int         // shard that it takes; 0 = any
	shard *ownedShard // that it has taken last; nil = none
	log   journal

	group func(uri.Host) string // politeness group of a host; nil = none has one

	visited func(r frontier.Record, now time.Time) (found []frontier.Candidate) // at each visit of days; may be nil
}

// journal is a log that is written and read at the same time.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func newPlace(t *testing.T, db *postgres.Server, name string) *place {
	t.Helper()
	return &place{TB: t, db: db, name: name, state: t.TempDir()}
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *place) options() nodeOptions {
	o := nodeOptions{
		Database: p.db.URL(p.db.Address()), Node: p.name, State: p.state, Notify: func(string) {},
		Log: zerolog.New(&p.log), Group: p.group,
	}
	if p.group != nil {
		o.Groups = func() string { return "groups" }
	}
	return o
}

// stopped returns the options of a command on the stopped node.
func (p *place) stopped() nodeOptions {
	o := p.options()
	if p.copy != "" {
		o.State = p.copy
	}
	return o
}

// open opens the store as the daemon does, follows it, and keeps the lease. The returned function stops both.
func (p *place) open() (n *ownedShard, f *frontier.Frontier, stop func()) {
	p.Helper()
	n, err := joinShard(p.Context(), p.options(), func(err error) { p.Error(err) }, p.wants)
	p.must(err)
	p.copy, p.shard = n.State(), n
	o := frontier.Options{Dir: n.State(), Now: time.Now(), Compactors: -1, RestAfterCrash: time.Minute}
	p.must(n.Prepare(p.Context(), o))
	group := p.group
	if group == nil {
		group = noGroup
	}
	o.Elsewhere = n.Elsewhere(group)
	f, err = frontier.Open(o)
	p.must(err)
	ctx, cancel := context.WithCancel(p.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Beat(ctx) })
	p.must(n.Start(ctx, f, func(run func(context.Context)) { running.Go(func() { run(ctx) }) }))
	return n, f, func() { cancel(); running.Wait() }
}

// run opens the store, does something, and releases the crawl.
func (p *place) run(do func(*frontier.Frontier)) {
	p.Helper()
	n, f, stop := p.open()
	do(f)
	p.finish(n, f, stop)
}

// finish releases the crawl, and closes the store.
func (p *place) finish(n *ownedShard, f *frontier.Frontier, stop func()) {
	p.Helper()
	leave := n.Finish(p.Context(), f)
	stop()
	p.must(leave(f.Close()))
	if log := p.log.String(); strings.Contains(log, "could not ship the last") || strings.Contains(log, "could not release") {
		p.Fatalf("the crawl was not released:\n%s", log)
	}
}

// alone opens the store as a process on its own does, at a time, and does something.
func (p *place) alone(now time.Time, do func(*frontier.Frontier)) {
	p.Helper()
	f, err := frontier.Open(frontier.Options{Dir: p.state, Now: now, Compactors: -1})
	p.must(err)
	do(f)
	p.must(f.Close())
}

// split divides the crawl.
func (p *place) split(shards int) {
	p.Helper()
	_, err := shared.Split(p.Context(), p.options().Database, shards)
	p.must(err)
}

// command makes sure that a command on the stopped node is refused with some words; "" means that it is not refused.
func (p *place) command(want string) {
	p.Helper()
	_, err := checkStopped(p.Context(), p.stopped())
	if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
		p.Errorf("a command on node %s got %v, want %q", p.name, err, want)
	}
}

// mayNotTake makes sure that the node refuses to start, takes no crawl, and keeps its store.
func (p *place) mayNotTake(why string) {
	p.Helper()
	before := p.look()
	n, err := Join(p.Context(), p.options(), func(error) {})
	if err == nil || !strings.Contains(err.Error(), why) {
		p.Errorf("joined with the error %v, want %q", err, why)
	}
	if n != nil {
		_ = n.Prepare(p.Context(), frontier.Options{Dir: p.state, Now: time.Now()})
		n.shared.Close()
	}
	if after := p.look(); after.Epoch != before.Epoch || after.Owner != before.Owner {
		p.Errorf("epoch %d of node %q became epoch %d of node %q", before.Epoch, before.Owner, after.Epoch, after.Owner)
	}
	if !hasStore(p.state) {
		p.Error("the store was removed")
	}
}

// report reads the state of the cluster without being a node.
func (p *place) report() shared.Report {
	p.Helper()
	r, err := shared.Look(p.Context(), p.options().Database, func() error { return nil })
	p.must(err)
	return r
}

// look reads the state of the first shard.
func (p *place) look() shared.ShardReport { p.Helper(); return p.report().Shards[0] }

// crawl adds some URIs and visits what is due.
func (p *place) crawl(f *frontier.Frontier, from, to int) {
	p.Helper()
	now := time.Now()
	for i := from; i < to; i++ {
		u := uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", i%7, i))
		_, err := f.Add(now, frontier.Candidate{URI: u})
		p.must(err)
	}
	for range to {
		next, ok := f.NextReady()
		if !ok {
			break
		}
		c, ok, err := f.Claim(next)
		p.must(err)
		if ok {
			r := c.Record
			r.Visits++
			r.Due = next.Add(time.Hour)
			_, err = f.Settle(c, frontier.Settlement{Record: r, Finished: next})
			p.must(err)
		}
	}
}

func (p *place) histories(f *frontier.Frontier) (list []string) {
	p.Helper()
	p.must(errors.Join(f.Check(), f.Each(func(r frontier.Record) error {
		list = append(list, fmt.Sprintf("%s %d %s", r.URI, r.Visits, r.Due))
		return nil
	})))
	slices.Sort(list)
	return list
}

// TestNodesPassOnACrawl passes a crawl from a node with a store to a new one, back, and back again. Each finds the
// histories of the other; a copy that is the newest is not loaded again.
func TestNodesPassOnACrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 0, 300) }) // before there was a cluster
	a.command("")                                                          // there is no cluster yet

	var want []string
	same := func(p *place, f *frontier.Frontier) {
		t.Helper()
		if got := p.histories(f); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("node %s has %d histories, which differ from the %d of the node before", p.name, len(got), len(want))
		}
		for _, h := range f.Hosts(time.Now()) {
			if !h.Rest.IsZero() {
				t.Errorf("node %s: %s rests after a clean end", p.name, h.Host)
			}
		}
	}
	a.run(func(f *frontier.Frontier) { a.crawl(f, 300, 320); want = a.histories(f) })
	a.run(func(f *frontier.Frontier) { same(a, f); a.crawl(f, 320, 340); want = a.histories(f) })
	if strings.Contains(a.log.String(), "loaded the crawl") || strings.Count(a.log.String(), "shipped the whole store") != 1 {
		t.Errorf("node a loaded its own copy again, or shipped it twice:\n%s", &a.log)
	}
	a.command("")
	b.run(func(f *frontier.Frontier) {
		same(b, f)
		b.crawl(f, 340, 360)
		want = b.histories(f)
		a.command("node b crawls")
		b.command("was not stopped properly")
	})
	a.command("not the newest copy")
	b.command("")

	// The copy of node a is outdated, and damaged too: it is thrown away.
	tables, err := filepath.Glob(filepath.Join(a.state, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables in %s: %v", a.state, err)
	}
	a.must(os.WriteFile(tables[0], []byte("damaged"), 0o600))
	a.run(func(f *frontier.Frontier) { same(a, f); want = a.histories(f) })
	if strings.Count(a.log.String(), "loaded the crawl") != 1 {
		t.Errorf("node a did not load the crawl once:\n%s", &a.log)
	}
	b.run(func(f *frontier.Frontier) { same(b, f) })

	// A process on its own changes the store of b; nobody else knows.
	b.must(forgetCopy(b.state))
	b.mayNotTake("not a copy of the crawl")

	// A store of another crawl is refused before anything is touched.
	other := newPlace(t, db.Database(t, "other"), "a")
	other.state = a.state
	if _, err := Join(t.Context(), other.options(), func(error) {}); err == nil || !strings.Contains(err.Error(), "of another crawl") {
		t.Errorf("a store of another crawl: %v", err)
	}
}

// TestAnUncleanEndLosesOnlyWhatWasNotShipped lets a node die. The next one has all that was shipped, and lets hosts
// rest; and it does not take a crawl whose owner has not shipped all of its store.
func TestAnUncleanEndLosesOnlyWhatWasNotShipped(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	n, f, stop := a.open()
	a.crawl(f, 0, 50)
	_, err := n.shipOnce(t.Context(), func() error { return nil })
	a.must(err)
	want := a.histories(f)
	a.crawl(f, 50, 60) // not shipped
	_, err = n.shipOnce(t.Context(), func() error { return errors.New("the disk is broken") })
	n.sicken(err)
	if told := a.log.String(); err == nil || !strings.Contains(told, "look at the disk of this node") || strings.Contains(told, "could not ship") {
		t.Errorf("an error %v of the log was reported as:\n%s", err, told)
	}
	stop()
	a.must(f.Close())

	watcher, err := Join(cancelled(t), b.options(), func(error) {})
	if watcher != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a node took a crawl whose owner lives: %v", err)
	}
	ask, err := openShared(b)
	b.must(err)
	st, err := ask.Beat(t.Context())
	b.must(err)
	if done, err := ask.Fence(t.Context(), "a", st.Shards[0].Beat); !done || err != nil {
		t.Fatalf("fence: %v", err)
	}
	ask.Close()
	if err := n.shared.Ship(t.Context(), n.epoch, shared.All()); err == nil {
		t.Error("a fenced node has shipped")
	}
	b.run(func(f *frontier.Frontier) {
		if got := b.histories(f); !slices.Equal(got, want) {
			t.Errorf("node b has %d histories, want the %d that were shipped", len(got), len(want))
		}
		now := time.Now()
		for _, h := range f.Hosts(now) {
			if h.Rest.IsZero() {
				t.Errorf("%s does not rest after an unclean end", h.Host)
			}
		}
	})

	// The database is restored to a state before the last owner.
	older, err := openShared(a)
	a.must(err)
	a.must(mark{Crawl: older.Crawl(), Epoch: 99}.write(b.state))
	b.mayNotTake("older state")
	b.must(mark{Crawl: older.Crawl(), Epoch: b.look().Epoch + 1}.write(b.state))
	for range 3 { // no start raises the epoch of the database, and nothing is removed
		b.mayNotTake("older state")
	}
	_, epoch, err := older.Take(t.Context(), 1, "")
	a.must(err)
	a.must(older.Leave(t.Context(), epoch, false)) // as in a backup of the time before a clean end
	older.Close()
	b.must(mark{Crawl: older.Crawl(), Epoch: epoch, Clean: true}.write(b.state))
	b.mayNotTake("older state")

	// The database is restored to a state within the last epoch, which this node noted in the middle of it.
	b.must(mark{Crawl: older.Crawl(), Epoch: b.look().Epoch, Beat: 1 << 40}.write(b.state))
	for range 2 {
		b.mayNotTake("older state")
	}

	half := newPlace(t, db.Database(t, "half"), "a")
	begun, err := Join(t.Context(), half.options(), func(error) {})
	half.must(err)
	half.must(begun.shared.Ship(t.Context(), begun.epoch, shared.All())) // and dies
	later := newPlace(t, half.db, "b")
	ask, err = openShared(later)
	later.must(err)
	defer ask.Close()
	st, err = ask.Beat(t.Context())
	later.must(err)
	_, err = ask.Fence(t.Context(), "a", st.Shards[0].Beat)
	later.must(err)
	taker, err := openNode(t.Context(), later.options(), func(error) {})
	later.must(err)
	defer taker.Close()
	st = (<-taker.seen).States
	got, err := taker.take(t.Context(), st.Shards[0], 1)
	if got != nil || err != nil || !strings.Contains(later.log.String(), "has not shipped its whole store") {
		t.Errorf("half a store was taken over: %v\n%s", err, &later.log)
	}
}

// openShared opens the database as a node, without taking the crawl.
func openShared(p *place) (*shared.Store, error) {
	return shared.Open(p.Context(), p.db.URL(p.db.Address()), p.name)
}

// cancelled returns a context that ends soon.
func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(time.Second, cancel)
	t.Cleanup(func() { timer.Stop(); cancel() })
	return ctx
}

// TestADatabaseThatWentBackIsNotFollowed sets the beats of a node back, as a restored backup does.
func TestADatabaseThatWentBackIsNotFollowed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	a := newPlace(t, postgres.New(t), "a")
	lost := make(chan error, 1)
	n, err := Join(t.Context(), a.options(), func(err error) { lost <- err })
	a.must(err)
	n.lastBeat = 1 << 40
	n.Beat(t.Context())
	if err := <-lost; !errors.Is(err, errLost) || !strings.Contains(err.Error(), "older state") || n.MayClaim() == nil {
		t.Errorf("the node continues: %v", err)
	}
	a.must(os.WriteFile(filepath.Join(a.state, "MANIFEST"), nil, 0o600))
	a.mayNotTake("older state") // the next start
}
