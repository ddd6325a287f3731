package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestADamagedCopyIsLoadedAgain damages the newest copy of a crawl, on the disk of its node and in the database. The
// node loads it again; of what is damaged in the database it loses one URI, which is named and kept.
func TestADamagedCopyIsLoadedAgain(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	a := newFixture(t, postgres.New(t), "a")
	var want []string
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 100); want = a.histories(f) })

	a.must(os.WriteFile(filepath.Join(a.state, "MANIFEST"), []byte("damaged"), 0o600))
	n, err := openNode(t.Context(), a.options(), func(err error) { t.Error(err) })
	a.must(err)
	o := frontier.Options{Dir: a.state, Now: time.Now(), Compactors: -1}
	_, damage := frontier.Open(o)
	if !errors.Is(damage, frontier.ErrCorrupt) {
		t.Fatalf("the damage is %v", damage)
	}
	if err := n.makeAgain(frontier.ErrLocked); !errors.Is(err, frontier.ErrLocked) || !hasStore(a.state) {
		t.Errorf("a store that another process has open was removed: %v", err)
	}
	a.must(n.makeAgain(damage))
	if err := n.makeAgain(damage); !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("the copy of the database is damaged, and is loaded again: %v", err)
	}
	c := &crawling{fixture: a, lost: make(chan error, 9), n: n}
	c.follow()
	c.takes(allParts())
	if got := a.histories(c.f); !slices.Equal(got, want) {
		t.Errorf("%d histories were loaded again, want %d", len(got), len(want))
	}

	// A row of the database is damaged, and the store was found damaged while it was used.
	var damaged shared.Row
	_, err = c.n.mirror.whole(func(rows []shared.Row) error {
		damaged = rows[slices.IndexFunc(rows, func(r shared.Row) bool { return r.Key[0] == 'u' })]
		return nil
	})
	a.must(err)
	c.ships()
	damaged.Value = []byte("damaged")
	a.must(c.n.shared.Ship(t.Context(), shared.All(damaged)))
	if err := c.n.damaged(frontier.ErrCorrupt); errors.Is(err, errLost) {
		t.Errorf("a store that was just loaded is to be loaded again: %v", err)
	}
	c.n.loaded = time.Now().Add(-2 * trustLoaded)
	if err := c.n.damaged(frontier.ErrCorrupt); !errors.Is(err, errLost) {
		t.Errorf("the node ends with %v, so that nobody starts it again", err)
	}
	c.leave()
	c = a.open()
	c.takes(allParts())
	got := 0
	a.must(c.f.Each(func(frontier.Record) error { got++; return nil }))
	if got != len(want)-1 {
		t.Errorf("%d URIs were loaded, want one less than %d", got, len(want))
	}
	if is := a.report(); is.Damaged != 1 || !strings.Contains(a.log.String(), "a row of the crawl is damaged") {
		t.Errorf("the damaged row is not kept: %+v\n%s", is, &a.log)
	}

	// The same damage is there, days after the store was loaded because of it: it is in the database too.
	c.n.loaded = time.Now().Add(-48 * time.Hour)
	if err := c.n.damaged(frontier.ErrCorrupt); errors.Is(err, errLost) || !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("the node ends with %v and loads the store again, without end", err)
	}
	c.leave()
}

// TestAStartOutlivesACrashOfTheDatabase lets the database crash while a node loads a crawl, and while it ships its
// first store. The node waits for the database, and continues.
func TestAStartOutlivesACrashOfTheDatabase(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	var want []string
	a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 0, 100); want = a.histories(f) })
	n, err := openNode(t.Context(), b.options(), func(err error) { t.Error(err) })
	b.must(err)
	n.Close() // the tables are there

	one := a.openWithout()
	crashDuring(db, a, func() { one.follow(); one.takes(allParts()) })
	one.leave()
	two := b.openWithout()
	crashDuring(db, b, func() { two.follow(); two.takes(allParts()) })
	if got := b.histories(two.f); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%d histories were loaded, want %d", len(got), len(want))
	}
	two.leave()
	three := newFixture(t, db, "c") // the database crashes before it has joined
	crashDuring(db, three, func() {
		n, err := openNode(t.Context(), three.options(), func(err error) { t.Error(err) })
		three.must(err)
		n.Close()
	})
}

// crashDuring crashes the database as soon as a node waits for its rows, and starts it when the node has noticed. The
// node must then finish what it does.
func crashDuring(db *postgres.Server, p *fixture, do func()) {
	p.Helper()
	holds, looks := newPatient(p.TB, db), newPatient(p.TB, db)
	holds.do(`BEGIN`, `LOCK TABLE arcrawl.row IN ACCESS EXCLUSIVE MODE`)
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	p.eventually("the node waits for rows", func() bool {
		var waits bool
		p.must(looks.conn.QueryRow(p.Context(), `SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
			AND application_name = $1`, "arcrawl "+p.name).Scan(&waits))
		return waits
	})
	db.Crash()
	p.eventually("the node notices", func() bool { return strings.Contains(p.log.String(), "does not answer") })
	db.Start()
	<-done
	if !strings.Contains(p.log.String(), "answers again") {
		p.Errorf("the node does not log that it continues:\n%s", &p.log)
	}
}
