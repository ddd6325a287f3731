package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// days visits what is due on some days of a virtual week, once an hour, and finds a link at some visits.
func (p *fixture) days(
	f *frontier.Frontier, monday time.Time, from, to int,
	visited func(frontier.Record, time.Time) (found []frontier.Candidate),
) {
	p.Helper()
	for now := monday.AddDate(0, 0, from); now.Before(monday.AddDate(0, 0, to)); now = now.Add(time.Hour) {
		for {
			c, ok, err := f.Claim(now)
			p.must(err)
			if !ok {
				break
			}
			r := c.Record
			r.Visits++
			r.Due = now.Add(time.Duration(5+len(r.URI.String())%7) * time.Hour)
			s := frontier.Settlement{Record: r, Finished: now}
			if r.Visits%9 == 0 {
				link := uri.FromCanonical(fmt.Sprintf("%s/%d", r.URI, r.Visits))
				s.Found = []frontier.Candidate{{URI: link, Hops: r.Hops + "L", Via: r.URI.String(), Due: now.Add(time.Hour)}}
			}
			if visited != nil {
				s.Found = append(s.Found, visited(r, now)...)
			}
			_, err = f.Settle(c, s)
			p.must(err)
		}
	}
}

// TestACrawlJoinsAndLeavesACluster crawls a virtual week twice: in one process, and in a cluster from the third day to
// the sixth, where it moves from node to node. Both stores have the same rows at the end.
func TestACrawlJoinsAndLeavesACluster(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b, alone, back := newFixture(t, db, "a"), newFixture(t, db, "b"), newFixture(t, db, "c"), newFixture(t, db, "d")
	monday := time.Now().Truncate(24 * time.Hour)
	begin := func(p *fixture) {
		t.Helper()
		p.alone(monday, func(f *frontier.Frontier) { week{t, monday}.begin(p, f); p.days(f, monday, 0, 2, nil) })
	}
	begin(alone)
	for _, d := range [][2]int{{2, 4}, {4, 6}, {6, 7}} {
		alone.alone(monday, func(f *frontier.Frontier) { alone.days(f, monday, d[0], d[1], nil) })
	}

	begin(a)
	initiate := func(p *fixture) error {
		return initCluster(t.Context(), p.options(), func() (*frontier.Frontier, error) {
			return frontier.Open(frontier.Options{Dir: p.state, Now: monday})
		})
	}
	a.must(initiate(a))
	if err := initiate(a); !errors.Is(err, errHasCrawl) {
		t.Errorf("a second store was shipped: %v", err)
	}
	if err := initiate(newFixture(t, db, "e")); err == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("an empty folder was shipped: %v", err)
	}
	b.run(func(f *frontier.Frontier) {
		b.days(f, monday, 2, 4, nil)
		if _, err := leaveCluster(t.Context(), leaveOptions{Database: b.options().Database, To: back.state, Now: monday}); err == nil || !strings.Contains(err.Error(), "node b crawls") {
			t.Errorf("left a cluster whose node crawls: %v", err)
		}
	})
	a.run(func(f *frontier.Frontier) { a.days(f, monday, 4, 6, nil) })
	leaving := leaveOptions{Database: a.options().Database, To: back.state, Now: monday}
	left, err := leaveCluster(t.Context(), leaving)
	if err != nil || left.Rows == 0 {
		t.Fatalf("left with %+v, %v", left, err)
	}
	if _, err := leaveCluster(t.Context(), leaving); err == nil || !strings.Contains(err.Error(), "has a store") {
		t.Errorf("left into a folder with a store: %v", err)
	}
	var want map[string][]byte
	alone.alone(monday, func(f *frontier.Frontier) { want = alone.rows(f) })
	back.alone(monday, func(f *frontier.Frontier) {
		back.days(f, monday, 6, 7, nil)
		back.same("that was in a cluster", back.rows(f), want)
	})
	if len(want) < 100 {
		t.Errorf("only %d rows", len(want))
	}
}

// TestInitIsRefusedWhileANodeShips looks at a database to which a node has not shipped its whole store.
func TestInitIsRefusedWhileANodeShips(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	for _, p := range []*fixture{a, b} {
		p.alone(time.Now(), func(f *frontier.Frontier) { p.crawl(f, 0, 20) })
	}
	initiate := func(p *fixture) error {
		return initCluster(t.Context(), p.options(), func() (*frontier.Frontier, error) {
			return frontier.Open(frontier.Options{Dir: p.state, Now: time.Now(), Compactors: -1})
		})
	}
	n, err := openNode(t.Context(), a.options(), func(error) {})
	a.must(err)
	if _, err := n.shared.Take(t.Context(), allParts(), ""); err != nil {
		t.Fatal(err)
	}
	n.Close() // it dies
	for _, p := range []*fixture{a, b} {
		if err := initiate(p); !errors.Is(err, errHasCrawl) || !hasStore(p.state) {
			t.Errorf("node %s initiated the crawl: %v", p.name, err)
		}
	}
	a.run(func(f *frontier.Frontier) {
		if got := a.histories(f); len(got) != 20 {
			t.Errorf("%d URIs are there, want 20", len(got))
		}
	})
	if err := initiate(b); !errors.Is(err, errHasCrawl) || !hasStore(b.state) {
		t.Errorf("node b initiated the crawl: %v", err)
	}
}

// TestLeavingRemovesNoOtherFiles tries to leave a cluster into a folder with files of another database, which have the
// names of a store's files.
func TestLeavingRemovesNoOtherFiles(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	other := filepath.Join(to, "000001.sst")
	if err := os.WriteFile(other, []byte("of another database"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := leaveCluster(t.Context(), leaveOptions{Database: "postgres://127.0.0.1:1/none?connect_timeout=2", To: to, Now: time.Now()})
	if err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
