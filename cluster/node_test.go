package cluster

import (
	"cmp"
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
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// fixture is a node of a test, with its state folder.
type fixture struct {
	testing.TB
	db     *postgres.Server
	name   string
	state  string
	log    journal
	failed chan error // of the last one that has joined

	through string // address of a proxy of the database; "" = none

	group func(uri.Host) string // politeness group of a host; nil = none has one
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

func newFixture(t *testing.T, db *postgres.Server, name string) *fixture {
	t.Helper()
	return &fixture{TB: t, db: db, name: name, state: t.TempDir()}
}

func (p *fixture) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *fixture) options() nodeOptions {
	o := nodeOptions{
		Database: p.db.URL(cmp.Or(p.through, p.db.Address())), Node: p.name, State: p.state, Notify: func(string) {},
		Log: zerolog.New(&p.log), Group: p.group,
	}
	if p.group != nil {
		o.Groups = "groups"
	}
	return o
}

// noCrowd knows no hosts besides the store.
type noCrowd struct{}

func (noCrowd) AddSeeds() error                 { return nil }
func (noCrowd) Wake()                           {}
func (noCrowd) FlushHosts() error               { return nil }
func (noCrowd) ForgetHosts(func(uri.Host) bool) {}

// crawling is a node of a test that takes parts and ships as a daemon does.
type crawling struct {
	*fixture
	n    *thisNode
	f    *frontier.Frontier
	lost chan error
	end  []func() // the last one first
}

// openWithout joins without opening the store.
func (p *fixture) openWithout() *crawling {
	p.Helper()
	c := &crawling{fixture: p, lost: make(chan error, 9)}
	p.failed = c.lost
	var err error
	c.n, err = openNode(p.Context(), p.options(), func(err error) { c.lost <- err })
	p.must(err)
	return c
}

// join opens the store as the daemon does, and takes part in the crawl.
func (p *fixture) join() *crawling {
	p.Helper()
	c := p.openWithout()
	c.goes()
	return c
}

// goes opens the store, and takes part in the crawl.
func (c *crawling) goes() {
	c.Helper()
	c.follow()
	c.end = append(c.end[:len(c.end)-1], inBackground(func(ctx context.Context) {
		c.n.Follow(ctx, func() error { return nil })
	}), c.n.begin(noCrowd{}))
}

// open joins like join, but nothing runs except beats: the test takes parts, ships, and receives letters.
func (p *fixture) open() *crawling {
	p.Helper()
	c := p.openWithout()
	c.follow()
	return c
}

// follow opens the store, and follows its changes.
func (c *crawling) follow() {
	c.Helper()
	var err error
	c.f, err = frontier.Open(frontier.Options{
		Dir: c.state, Now: time.Now(), Compactors: -1, RestAfterCrash: time.Minute, Elsewhere: c.n.Elsewhere(),
	})
	c.must(err)
	background := func(run func(context.Context)) { c.end = append(c.end, inBackground(run)) }
	background(c.n.Beat)
	c.must(c.n.Opened(c.f, background))
	c.n.crowd = noCrowd{}
	c.end = append(c.end, func() {}) // instead of moves
}

// stop ends what runs in the background.
func (c *crawling) stop() {
	for _, end := range slices.Backward(c.end) {
		end()
	}
	c.end = nil
}

// leave stops properly.
func (c *crawling) leave() {
	c.Helper()
	last := len(c.end) - 1
	c.end[last]()
	c.end = c.end[:last]
	leave := c.n.Closing(c.f)
	c.stop()
	c.must(leave(c.f.Close()))
	c.n.Close()
	if log := c.log.String(); strings.Contains(log, "could not ship the last") || strings.Contains(log, "could not release") {
		c.Fatalf("the crawl was not released:\n%s", log)
	}
	select {
	case err := <-c.lost:
		c.Errorf("node %s may not continue: %v", c.name, err)
	default:
	}
}

// die ends without a word, as after kill -9. Its store is closed only so that the next process can open it.
func (c *crawling) die() {
	c.Helper()
	c.stop()
	c.must(c.f.Close())
	c.n.Close()
}

// eventually waits until something is true.
func (p *fixture) eventually(what string, is func() bool) {
	p.Helper()
	for giveUp := time.Now().Add(daemontest.Patience); time.Now().Before(giveUp); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
		if len(p.failed) > 0 {
			p.Errorf("node %s may not continue: %v", p.name, <-p.failed)
			break
		}
	}
	p.Fatalf("node %s: %s did not happen; its log:\n%s", p.name, what, &p.log)
}

// has waits until the node crawls a number of parts, and nothing moves.
func (c *crawling) has(from, to int) {
	c.Helper()
	c.eventually(fmt.Sprintf("%d to %d parts", from, to), func() bool {
		n := len(c.n.parts.in(here))
		return n >= from && n <= to && len(c.n.parts.in(coming, leaving, remains)) == 0 && c.n.mirror.waiting() == 0
	})
}

// run joins, waits until it has all parts, does something, and stops.
func (p *fixture) run(do func(*frontier.Frontier)) {
	p.Helper()
	c := p.join()
	c.has(shared.Parts, shared.Parts)
	do(c.f)
	c.leave()
}

// alone opens the store as a process on its own does, at a time, and does something.
func (p *fixture) alone(now time.Time, do func(*frontier.Frontier)) {
	p.Helper()
	f, err := frontier.Open(frontier.Options{Dir: p.state, Now: now, Compactors: -1})
	p.must(err)
	do(f)
	p.must(f.Close())
}

// command makes sure that a command on the stopped node is refused with some words; "" means that it is not refused.
func (p *fixture) command(want string) {
	p.Helper()
	var c config.Config
	c.Cluster.Database, c.Storage.State = p.options().Database, p.state
	err := checkStopped(p.Context(), &c)
	if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
		p.Errorf("a command on node %s got %v, want %q", p.name, err, want)
	}
}

// mayNotJoin makes sure that the node refuses to start, and keeps its store.
func (p *fixture) mayNotJoin(why string) {
	p.Helper()
	n, err := openNode(p.Context(), p.options(), func(error) {})
	if err == nil || !strings.Contains(err.Error(), why) {
		p.Errorf("joined with the error %v, want %q", err, why)
	}
	if n != nil {
		n.Close()
	}
	if !hasStore(p.state) {
		p.Error("the store was removed")
	}
}

// report reads the state of the cluster without being a node.
func (p *fixture) report() shared.Report {
	p.Helper()
	r, err := shared.Look(p.Context(), p.options().Database, func() error { return nil })
	p.must(err)
	return r
}

// crawl adds some URIs and visits what is due.
func (p *fixture) crawl(f *frontier.Frontier, from, to int) {
	p.Helper()
	now := time.Now()
	for i := from; i < to; i++ {
		u := uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", i%17, i))
		_, err := f.Add(now, frontier.Candidate{URI: u})
		p.must(err)
	}
	p.visit(f, to)
}

// visit visits what is due, at most some URIs.
func (p *fixture) visit(f *frontier.Frontier, most int) (visits int) {
	p.Helper()
	for range most {
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
			visits++
		}
	}
	return visits
}

func (p *fixture) histories(f *frontier.Frontier) (list []string) {
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
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 0, 300) }) // before there was a cluster
	a.command("")                                                          // there is no cluster yet

	var want []string
	same := func(p *fixture, f *frontier.Frontier) {
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
	if strings.Contains(a.log.String(), "loaded hosts") || strings.Count(a.log.String(), "shipped the whole store") != 1 {
		t.Errorf("node a loaded its own copy again, or shipped it twice:\n%s", &a.log)
	}
	a.command("")
	a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 340, 350); want = a.histories(f) }) // a command
	a.run(func(f *frontier.Frontier) { same(a, f) })
	b.run(func(f *frontier.Frontier) {
		same(b, f)
		b.crawl(f, 350, 370)
		want = b.histories(f)
		a.command("node b crawls")
		b.command("was not stopped properly")
	})
	a.command("not the newest copy")
	b.command("")

	// The copy of node a is outdated: its rows are removed, and loaded.
	a.run(func(f *frontier.Frontier) { same(a, f); want = a.histories(f) })
	if !strings.Contains(a.log.String(), "loaded hosts") {
		t.Errorf("node a did not load the crawl:\n%s", &a.log)
	}
	b.run(func(f *frontier.Frontier) { same(b, f) })

	// A process on its own changes the store of b; nobody else knows.
	b.must(forgetCopy(b.state))
	b.mayNotJoin("not a copy of the crawl")

	// A store of another crawl is refused before anything is touched.
	other := newFixture(t, db.Database(t, "other"), "a")
	other.state = a.state
	other.mayNotJoin("of another crawl")
}

// TestPartsMoveWhileBothNodesCrawl lets a second node join one that crawls. Each soon has half of the parts; together
// they have each URI once, with its history. What one finds for the other arrives there. The second one is drained,
// joins again, and dies: nothing is lost.
func TestPartsMoveWhileBothNodesCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	a.crawl(one.f, 0, 340)
	want := a.histories(one.f)
	const half = shared.Parts / 2
	two := b.join()
	two.has(half, half)
	one.has(half, half)
	all := []*crawling{one, two}
	together(t, want, all...)

	for _, from := range all {
		to := all[1-slices.Index(all, from)]
		u := link(from)
		to.eventually("a link that the other node has found", func() bool {
			_, known, err := to.f.Get(u)
			return known && err == nil
		})
		to.eventually("the removal of the letter", func() bool { return to.report().Letters == 0 })
	}
	damaged := shared.Row{Of: shared.Letters, Part: one.n.parts.in(here)[0], Key: []byte("k"), Value: []byte("damaged")}
	two.must(two.n.shared.Ship(t.Context(), shared.All(damaged)))
	one.eventually("the damaged letter is set aside", func() bool {
		r := a.report()
		return r.Letters == 0 && r.Damaged == 1
	})
	want = slices.Sorted(slices.Values(append(a.histories(one.f), b.histories(two.f)...)))

	a.must(shared.Drain(t.Context(), a.options().Database, "b", true))
	two.has(0, 0)
	one.has(shared.Parts, shared.Parts)
	together(t, want, one)
	a.must(shared.Drain(t.Context(), a.options().Database, "b", false))
	two.has(half, half)
	one.has(half, half)
	together(t, want, all...)

	two.die()
	one.has(shared.Parts, shared.Parts)
	together(t, want, one)
	rests := 0
	for _, h := range one.f.Hosts(time.Now()) {
		if !h.Rest.IsZero() {
			rests++
		}
	}
	if rests == 0 || rests == len(one.f.Hosts(time.Now())) {
		t.Errorf("%d of %d hosts rest, want the hosts of the node that has died", rests, len(one.f.Hosts(time.Now())))
	}
	one.leave()
}

// together makes sure that some nodes have the URIs of a crawl with their histories, each once.
func together(t *testing.T, want []string, all ...*crawling) {
	t.Helper()
	var got []string
	for _, c := range all {
		list := c.histories(c.f)
		if len(list) == 0 {
			t.Errorf("node %s has nothing", c.name)
		}
		got = append(got, list...)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the nodes have %d histories, which differ from the %d of before", len(got), len(want))
	}
}

// link lets a node find a URI of a host that another one crawls.
func link(c *crawling) uri.URI {
	for i := 0; ; i++ {
		h := uri.Host(fmt.Sprintf("new%d.example", i))
		if c.f.IsForeign(h) {
			u := uri.FromCanonical("http://" + string(h) + "/" + c.name)
			added, err := c.f.Add(time.Now(), frontier.Candidate{URI: u, Hops: "L", Seed: "http://seed.example/"})
			if err != nil || added.Posted != 1 {
				c.Errorf("added %+v, %v", added, err)
			}
			return u
		}
	}
}

// TestAnUncleanEndLosesOnlyWhatWasNotShipped lets a node die. The next one has all that was shipped, and lets hosts
// rest; and it does not take a crawl whose owner has not shipped all of its store.
func TestAnUncleanEndLosesOnlyWhatWasNotShipped(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	a.crawl(one.f, 0, 50)
	one.has(shared.Parts, shared.Parts)
	want := a.histories(one.f)
	one.n.shipping.Lock() // nothing is shipped any more
	a.crawl(one.f, 50, 60)
	one.n.sync = func() error { return errors.New("the disk is broken") }
	_, err := one.n.ship(t.Context())
	one.n.sicken(err)
	if told := a.log.String(); err == nil || !strings.Contains(told, "look at the disk of this node") || strings.Contains(told, "could not ship") {
		t.Errorf("an error %v of the log was reported as:\n%s", err, told)
	}
	one.n.shipping.Unlock()
	one.die()

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
	if !strings.Contains(b.log.String(), "fenced a node") {
		t.Errorf("node a was not fenced:\n%s", &b.log)
	}
	want = append(want, "")[:len(want)]
	a.run(func(f *frontier.Frontier) { // what it had not shipped is gone here too
		if got := a.histories(f); len(got) != len(want) {
			t.Errorf("node a has %d histories, want %d", len(got), len(want))
		}
	})
}

// TestADatabaseThatWentBackIsNotFollowed restores the database to states before the store of a node. The node refuses
// to start as often as it is tried, and keeps its store; one that runs ends.
func TestADatabaseThatWentBackIsNotFollowed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	a := newFixture(t, postgres.New(t), "a")
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	m, found, err := readMark(a.state)
	if err != nil || !found || !m.Clean || len(m.Parts) != shared.Parts {
		t.Fatalf("the mark is %+v, %v", m, err)
	}
	for what, older := range map[string]func(*mark){
		"before the last epoch of a part": func(m *mark) { m.Parts[7]++ },
		"before the last beat":            func(m *mark) { m.Beat = 1 << 40 },
	} {
		changed, _, err := readMark(a.state)
		a.must(err)
		older(&changed)
		a.must(changed.write(a.state))
		for range 3 { // no start raises the epochs of the database, and nothing is removed
			a.mayNotJoin("older state")
		}
		a.must(m.write(a.state))
		_ = what
	}
	is, err := shared.Open(t.Context(), a.options().Database, "z")
	a.must(err)
	taken, err := is.Take(t.Context(), []int16{7}, "")
	if err != nil || len(taken) != 1 || is.Leave(t.Context(), []int16{7}, false) != nil {
		t.Fatalf("taken %v, %v", taken, err)
	}
	is.Close()
	m.Parts[7] = taken[0].Epoch // as in a backup of the time before the clean end
	a.must(m.write(a.state))
	a.mayNotJoin("older state")

	c := newFixture(t, a.db, "c").join()
	c.eventually("it has joined", func() bool { return len(c.n.parts.in(here)) > 0 })
	c.n.shared.Close() // the beats of the last one are over
	c.stop()
	c.n.lastBeat = 1 << 40
	next, err := shared.Open(t.Context(), a.options().Database, "c")
	c.must(err)
	c.n.shared = next
	c.n.parts.leave(allParts(), absent)
	c.n.Beat(t.Context())
	if err := <-c.lost; !errors.Is(err, errLost) || !strings.Contains(err.Error(), "older state") || c.n.MayClaim() == nil {
		t.Errorf("the node continues: %v", err)
	}
	c.mayNotJoin("older state") // the next start
	next.Close()
	c.must(c.f.Close())
}

// TestAFirstStoreIsTheOnlyOne lets two nodes begin a crawl, each with a store. The second one is refused, and keeps it.
func TestAFirstStoreIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	for _, p := range []*fixture{a, b} {
		p.alone(time.Now(), func(f *frontier.Frontier) { p.crawl(f, 0, 20) })
	}
	n, err := openNode(t.Context(), a.options(), func(error) {})
	a.must(err)
	taken, err := n.shared.Take(t.Context(), allParts(), "")
	if err != nil || len(taken) != shared.Parts {
		t.Fatalf("taken %d parts, %v", len(taken), err)
	}
	b.mayNotJoin("not a copy of the crawl")
	n.Close() // and dies before it has shipped
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	if got := a.histories(one.f); len(got) != 20 {
		t.Errorf("%d URIs are there, want 20", len(got))
	}
	one.leave()
	b.mayNotJoin("not a copy of the crawl")
	if _, err := os.Stat(filepath.Join(b.state, "MANIFEST")); err != nil {
		t.Error(err)
	}
}
