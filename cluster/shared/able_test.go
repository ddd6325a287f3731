package shared

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// anyIsolation plays what waits for locks with the other isolations of transactions, in databases whose
// administrator has chosen one. Engines other than PostgreSQL may have no other.
func anyIsolation(t *testing.T, db *postgres.Server) {
	onlyPostgres(t, open(t, db, "a"))
	for name, isolation := range map[string]string{"of_snapshots": "repeatable read", "serial": "serializable"} {
		for what, play := range map[string]func(*testing.T, *postgres.Server){
			"fence_waits": aFenceWaitsForAShipment, "beat_first": aBeatPreventsAFence, "fence_first": aFencePreventsABeat,
			"take": takeAgainstFence, "late": aCommitComesLate,
		} {
			t.Run(what+"_"+name, func(t *testing.T) {
				db := db.Database(t, what+"_"+name)
				c, err := pgx.Connect(t.Context(), db.URL(db.Address()))
				must(t, err)
				defer c.Close(t.Context())
				_, err = c.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = '''
					|| '`+isolation+`''', current_database()); END $$`)
				must(t, err)
				play(t, db)
			})
		}
	}
}

// aFencePreventsABeat fences a node while it beats. It must not take the beat for a good one.
func aFencePreventsABeat(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	tx, err := b.pool.Begin(ctx)
	must(t, err)
	before := beatOf(t, b, "a")
	_, err = tx.Exec(ctx, fenceNode, "a")
	must(t, err)
	done, err := tx.Exec(ctx, fenceBeat, "a", before)
	if must(t, err); done.RowsAffected() != 1 {
		t.Fatal("the beat has changed")
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { _, err = a.Beat(ctx) })
	awaitLock(t, b)
	must(t, tx.Commit(ctx))
	waiting.Wait()
	wantErr(t, err, ErrFenced)
}

// refusing is an engine that can only do what a crawl needs.
type refusing struct{ querier }

func (r refusing) Query(ctx context.Context, _ string, _ ...any) (pgx.Rows, error) {
	return r.querier.Query(ctx, `SELECT function_of_another_engine()`)
}

// enginesDiffer lets a node use an engine that can do less than PostgreSQL. It reports what it cannot know, and a fence
// comes when the engine has ended the session in its way.
func enginesDiffer(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	able, err := ask(ctx, refusing{b.pool})
	if must(t, err); able != (abilities{latest: true}) {
		t.Errorf("an engine that refuses everything can do %+v", able)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := ask(ended, b.pool); err == nil {
		t.Error("an engine that did not answer was understood")
	}
	if IsUnreachable(errNoLocks) {
		t.Error("a node would wait for an engine that never locks rows")
	}
	b.able = able
	if all, _, _, err := b.Replicas(ctx); all != -1 || err != nil {
		t.Errorf("%d replicas, %v", all, err)
	}
	c, err := connect(ctx, db.URL(db.Address()))
	must(t, err)
	defer c.Close(ctx)
	var r Report
	must(t, r.read(ctx, c, able))
	var out strings.Builder
	must(t, r.Write(&out))
	for _, want := range []string{"copy      of unknown size", "replicas  unknown"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}

	onlyPostgres(t, a)
	stopInTransaction(t, a, "")
	start, before := time.Now(), beatOf(t, b, "a")
	for done := false; !done; {
		done, err = b.Fence(ctx, "a", before)
		if err != nil && !IsUnreachable(err) || time.Since(start) > 2*idleTime {
			t.Fatalf("a node that stands still was not fenced after %s: %v", time.Since(start), err)
		}
	}
}

// somethingIsMissing opens tables that another node has begun to make when it was killed.
func somethingIsMissing(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	open(t, db, "a").Close()
	c, err := pgx.Connect(ctx, db.URL(db.Address()))
	must(t, err)
	defer c.Close(ctx)
	for _, text := range []string{`DELETE FROM arcrawl.crawl`, `DROP TABLE arcrawl.told`, `DELETE FROM arcrawl.part WHERE id > 7`} {
		_, err := c.Exec(ctx, text)
		must(t, err)
	}
	_, err = Owners(ctx, db.URL(db.Address()))
	wantErr(t, err, ErrUnused)
	a := open(t, db, "a")
	take(t, a, every())
	must(t, a.Tell(ctx, []byte("I live")))
}
