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
	a := newPlace(t, postgres.New(t), "a")
	var want []string
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 100); want = a.histories(f) })

	a.must(os.WriteFile(filepath.Join(a.state, "MANIFEST"), []byte("damaged"), 0o600))
	n, err := Join(t.Context(), a.options(), func(err error) { t.Error(err) })
	a.must(err)
	o := frontier.Options{Dir: a.state, Now: time.Now(), Compactors: -1}
	a.must(n.Prepare(t.Context(), o))
	_, damage := frontier.Open(o)
	if !errors.Is(damage, frontier.ErrCorrupt) {
		t.Fatalf("the damage is %v", damage)
	}
	if err := n.LoadAgain(t.Context(), o, frontier.ErrLocked); !errors.Is(err, frontier.ErrLocked) {
		t.Errorf("a store that another process has open was loaded again: %v", err)
	}
	a.must(n.LoadAgain(t.Context(), o, damage))
	if err := n.LoadAgain(t.Context(), o, damage); !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("the copy of the database is damaged, and was loaded again: %v", err)
	}
	f, err := frontier.Open(o)
	a.must(err)
	if got := a.histories(f); !slices.Equal(got, want) {
		t.Errorf("%d histories were loaded again, want %d", len(got), len(want))
	}
	a.must(f.Close())
	a.must(n.shared.Leave(t.Context(), n.epoch, true))
	n.shared.Close()

	// A row of the database is damaged, and the store was found damaged while it was used.
	n, f, stop := a.open()
	var damaged shared.Row
	_, err = n.mirror.whole(func(rows []shared.Row) error {
		damaged = rows[slices.IndexFunc(rows, func(r shared.Row) bool { return r.Key[0] == 'u' })]
		return nil
	})
	a.must(err)
	damaged.Value = []byte("damaged")
	a.must(n.shared.Ship(t.Context(), n.epoch, shared.All(damaged)))
	if err := n.Damaged(frontier.ErrCorrupt); errors.Is(err, errLost) {
		t.Errorf("a store that was just loaded is to be loaded again: %v", err)
	}
	n.loaded = time.Now().Add(-2 * trustLoaded)
	if err := n.Damaged(frontier.ErrCorrupt); !errors.Is(err, errLost) {
		t.Errorf("the node ends with %v, so that nobody starts it again", err)
	}
	a.finish(n, f, stop)
	n, f, stop = a.open()
	got := 0
	a.must(f.Each(func(frontier.Record) error { got++; return nil }))
	if got != len(want)-1 {
		t.Errorf("%d URIs were loaded, want one less than %d", got, len(want))
	}
	if is := a.look(); is.Damaged != 1 || !strings.Contains(a.log.String(), "a row of the crawl is damaged") {
		t.Errorf("the damaged row is not kept: %+v\n%s", is, &a.log)
	}

	// The same damage is there, days after the store was loaded because of it: it is in the database too.
	n.loaded = time.Now().Add(-48 * time.Hour)
	if err := n.Damaged(frontier.ErrCorrupt); errors.Is(err, errLost) || !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("the node ends with %v and loads the store again, without end", err)
	}
	a.finish(n, f, stop)
}

// TestAStartOutlivesACrashOfTheDatabase lets the database crash while a node loads a crawl, and while it ships its
// first store. The node waits for the database, and continues.
func TestAStartOutlivesACrashOfTheDatabase(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	var want []string
	a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 0, 100); want = a.histories(f) })
	n, err := openNode(t.Context(), b.options(), func(err error) { t.Error(err) })
	b.must(err)
	n.Close() // the tables are there

	crashDuring(db, a, func() { a.run(func(*frontier.Frontier) {}) })
	var got []string
	crashDuring(db, b, func() { b.run(func(f *frontier.Frontier) { got = b.histories(f) }) })
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%d histories were loaded, want %d", len(got), len(want))
	}
}

// crashDuring crashes the database as soon as a node waits for its rows, and starts it when the node has noticed. The
// node must then finish what it does.
func crashDuring(db *postgres.Server, p *place, do func()) {
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
