package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

func open(t *testing.T, db *postgres.Server, node string) *Store {
	t.Helper()
	s, err := Open(t.Context(), db.URL(db.Address()), node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// owner opens the database for a node, which takes the crawl in an epoch.
func owner(t *testing.T, db *postgres.Server, node string) (s *Store, epoch int64) {
	t.Helper()
	s = open(t, db, node)
	_, epoch, err := s.Take(t.Context(), 1, "")
	must(t, err)
	return s, epoch
}

// awaitLock waits until somebody waits for a lock in the database.
func awaitLock(t *testing.T, s *Store) {
	t.Helper()
	const text = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
		must(t, s.pool.QueryRow(t.Context(), text).Scan(&n))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || want == nil && got != nil {
		t.Errorf("the error is %v, want %v", got, want)
	}
}

// stored returns all rows of the database, by their keys.
func stored(t *testing.T, s *Store) map[string]string {
	t.Helper()
	found, err := s.pool.Query(t.Context(), `SELECT k, v FROM arcrawl.row`)
	must(t, err)
	all := map[string]string{}
	var k, v []byte
	_, err = pgx.ForEachRow(found, []any{&k, &v}, func() error { all[string(k)] = string(v); return nil })
	must(t, err)
	return all
}

// allRows returns all rows of a shard, by their parts and keys.
func allRows(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all, last := map[string]string{}, ""
	must(t, s.Each(t.Context(), func(part int16, k, v []byte) error {
		key := fmt.Sprintf("%d %s", part, k)
		if part == 0 && key <= last {
			t.Errorf("%q follows %q", key, last)
		}
		last, all[key] = key, string(v)
		return nil
	}))
	return all
}

func row(k, v string) Row { return Row{Key: []byte(k), Value: []byte(v)} }

func inPart(part int16, k, v string) Row { return Row{Part: part, Key: []byte(k), Value: []byte(v)} }

// fence makes s fence another node as if that had stood still.
func fence(t *testing.T, s *Store, st State) {
	t.Helper()
	if done, err := s.Fence(t.Context(), st.Owner, st.Beat); err != nil || !done {
		t.Fatalf("fence %+v: %t, %v", st, done, err)
	}
}

// TestNodesShareACrawl plays the protocol on one server, each part in a database of its own.
func TestNodesShareACrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	server := postgres.New(t)
	for name, part := range map[string]func(*testing.T, *postgres.Server){
		"protocol": protocol, "two_processes_of_one_name": twoProcessesOfOneName, "fence_waits_for_shipment": aFenceWaitsForAShipment,
		"beat_prevents_fence": aBeatPreventsAFence, "transactions_are_repeated": transactionsAreRepeated,
		"unusable_databases": unusableDatabases, "a_crawl_is_divided": aCrawlIsDivided, "hosts_follow_their_groups": hostsFollowTheirGroups,
		"nothing_delays_beats": nothingDelaysBeats, "letters_are_set_aside": lettersAreSetAside,
		"owners_report": ownersReport, "damaged_rows_are_kept": damagedRowsAreKept, "a_reader_delays_no_whole_store": aReaderDelaysNoWholeStore,
		"payloads_are_shared": payloadsAreShared, "words_have_numbers_of_their_own": wordsHaveNumbersOfTheirOwn, "nodes_find_each_other": nodesFindEachOther,
		"nodes_are_unfit": nodesAreUnfit, "session_in_the_way": aFenceEndsASessionInItsWay,
	} {
		t.Run(name, func(t *testing.T) { part(t, server.Database(t, name)) })
	}
}

// protocol lets two nodes own a crawl one after the other. A node that does not own it, or is fenced, changes
// nothing.
func protocol(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := open(t, db, "a"), open(t, db, "b")
	if a.Crawl() == "" || a.Crawl() != b.Crawl() {
		t.Errorf("the crawl is called %q and %q", a.Crawl(), b.Crawl())
	}
	st, err := b.Beat(ctx)
	if err != nil || st.Own != 2 || !slices.Equal(st.Shards, []State{{}}) {
		t.Fatalf("a crawl without owner: %+v, %v", st, err)
	}
	before, one, err := a.Take(ctx, 1, "")
	if err != nil || one != 1 || before.Whole {
		t.Fatalf("take: %+v, epoch %d, %v", before, one, err)
	}
	must(t, a.Clear(ctx, one))
	must(t, a.Ship(ctx, one, All(row("x", "1"), row("y", ""), Row{Key: []byte("n")})))
	must(t, a.Complete(ctx, one))
	changes := All(row("x", "2"), row("z", "3"), Row{Key: []byte("y"), Gone: true}, Row{Key: []byte("never"), Gone: true})
	must(t, a.Ship(ctx, one, changes))
	must(t, a.Ship(ctx, one, changes)) // the answer to the first was lost
	want := map[string]string{"x": "2", "z": "3", "n": ""}
	if got := stored(t, b); !maps.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}

	_, _, err = b.Take(ctx, 1, "")
	wantErr(t, err, ErrOwner)
	wantErr(t, b.Ship(ctx, one, changes), ErrOwner)
	wantErr(t, b.Complete(ctx, one), ErrOwner)
	wantErr(t, b.Leave(ctx, one, true), ErrOwner)
	wantErr(t, a.Ship(ctx, one+1, All(row("x", "other epoch"))), ErrOwner)

	st, err = b.Beat(ctx)
	if s := st.Shards[0]; err != nil || s.Owner != "a" || s.Epoch != one || !s.Whole || s.Clean || s.Fenced {
		t.Fatalf("the state is %+v, %v", st, err)
	}
	_, err = a.Beat(ctx)
	must(t, err)
	if done, err := b.Fence(ctx, "a", st.Shards[0].Beat); done || err != nil {
		t.Errorf("a node was fenced that has beaten since: %v", err)
	}
	st, _ = b.Beat(ctx)
	fence(t, b, st.Shards[0])
	_, err = a.Beat(ctx)
	wantErr(t, err, ErrFenced)
	wantErr(t, a.Ship(ctx, one, All(row("x", "fenced"))), ErrFenced)
	wantErr(t, a.Clear(ctx, one), ErrFenced)
	wantErr(t, a.Complete(ctx, one), ErrFenced)
	wantErr(t, a.Leave(ctx, one, true), ErrFenced)
	_, _, err = a.Take(ctx, 1, "")
	wantErr(t, err, ErrFenced)
	_, err = a.Fence(ctx, "b", 1)
	wantErr(t, err, ErrFenced)

	before, two, err := b.Take(ctx, 1, "")
	if err != nil || two != one+1 || before.Owner != "a" || !before.Fenced || before.Clean || !before.Whole {
		t.Fatalf("take over: %+v, epoch %d, %v", before, two, err)
	}
	if got := stored(t, b); !maps.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	r, err := Look(ctx, db.URL(db.Address()), func() error { _, err := b.Beat(ctx); return err })
	if err != nil || r.Shards[0].Owner != "b" || r.Shards[0].Epoch != two || !r.Shards[0].Whole || len(r.Nodes) != 2 || r.Nodes[0] != (NodeReport{Name: "a", Fenced: true, beat: r.Nodes[0].beat}) ||
		r.Nodes[1].Name != "b" || !r.Nodes[1].Alive || r.Nodes[1].Fenced || r.Bytes == 0 || r.Synced != 0 {
		t.Errorf("the report is %+v, %v", r, err)
	}
	must(t, b.Leave(ctx, two, true))
	again := open(t, db, "a") // a new process of the node that was fenced
	before, three, err := again.Take(ctx, 1, "")
	if err != nil || three != two+1 || before.Owner != "" || !before.Clean || before.Epoch != two {
		t.Fatalf("take what was released: %+v, epoch %d, %v", before, three, err)
	}
	st, err = again.Beat(ctx)
	if err != nil || st.Shards[0].Clean || st.Shards[0].Owner != "a" {
		t.Errorf("after a clean start: %+v, %v", st, err)
	}
}

// twoProcessesOfOneName starts a second process of a node. The older one may do nothing more.
func twoProcessesOfOneName(t *testing.T, db *postgres.Server) {
	older, epoch := owner(t, db, "a")
	newer := open(t, db, "a")
	_, err := older.Beat(t.Context())
	wantErr(t, err, ErrFenced)
	wantErr(t, older.Ship(t.Context(), epoch, All(row("x", "1"))), ErrFenced)
	before, _, err := newer.Take(t.Context(), 1, "")
	if err != nil || before.Owner != "a" || before.Clean {
		t.Errorf("the newer process takes the crawl: %+v, %v", before, err)
	}
}

// aFenceWaitsForAShipment holds a shipment open while another node fences its owner. What was shipped first counts,
// and nothing after it.
func aFenceWaitsForAShipment(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	b := open(t, db, "b")
	st, err := b.Beat(ctx)
	must(t, err)

	tx, err := a.pool.Begin(ctx)
	must(t, err)
	must(t, a.own(ctx, tx, epoch))
	must(t, write(ctx, tx, []Row{row("x", "1")}))
	fenced := make(chan error, 1)
	var waiting sync.WaitGroup
	waiting.Go(func() { _, err := b.Fence(ctx, "a", st.Shards[0].Beat); fenced <- err })
	awaitLock(t, b)
	select {
	case err := <-fenced:
		t.Fatalf("the fence did not wait for the shipment: %v", err)
	default:
	}
	must(t, tx.Commit(ctx))
	waiting.Wait()
	must(t, <-fenced)
	wantErr(t, a.Ship(ctx, epoch, All(row("x", "2"))), ErrFenced)
	if got := stored(t, b); got["x"] != "1" {
		t.Errorf("the rows are %q", got)
	}
}

// aBeatPreventsAFence lets a node beat while another one waits to fence it.
func aBeatPreventsAFence(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, _ := owner(t, db, "a")
	b := open(t, db, "b")
	st, err := b.Beat(ctx)
	must(t, err)
	tx, err := a.pool.Begin(ctx)
	must(t, err)
	must(t, a.permit(ctx, tx))
	_, err = tx.Exec(ctx, `UPDATE arcrawl.pulse SET beat = beat + 1 WHERE node = 'a'`)
	must(t, err)
	done := true
	var waiting sync.WaitGroup
	waiting.Go(func() { done, err = b.Fence(ctx, "a", st.Shards[0].Beat) })
	awaitLock(t, a)
	must(t, tx.Commit(ctx))
	waiting.Wait()
	if done || err != nil {
		t.Errorf("a node was fenced whose beat came first: %t, %v", done, err)
	}
	_, err = a.Beat(ctx)
	must(t, err)
}

// transactionsAreRepeated fails transactions as a database does that cannot put them in order.
func transactionsAreRepeated(t *testing.T, db *postgres.Server) {
	s := open(t, db, "a")
	for code, times := range map[string]int{"40001": 3, "40P01": 3, "23505": 1} {
		n := 0
		err := s.inTransaction(t.Context(), func(pgx.Tx) error {
			if n++; n < 3 {
				return &pgconn.PgError{Code: code}
			}
			return nil
		})
		if n != times || (err == nil) != (times == 3) {
			t.Errorf("code %s: %d attempts, %v; want %d", code, n, err, times)
		}
	}
	n := 0
	err := s.inTransaction(t.Context(), func(pgx.Tx) error { n++; return &pgconn.PgError{Code: "40001"} })
	if n != maxRepeats || err == nil {
		t.Errorf("%d attempts, %v; want %d and an error", n, err, maxRepeats)
	}
	start := time.Now()
	err = s.inTransaction(t.Context(), func(pgx.Tx) error {
		if time.Since(start) < 400*time.Millisecond {
			return &pgconn.PgError{Code: "40P01"}
		}
		return nil
	})
	if err != nil {
		t.Errorf("transactions that are in each other's way for a moment: %v", err)
	}
}

// TestACrashOfTheDatabaseKeepsWholeShipments crashes the server between and during shipments.
func TestACrashOfTheDatabaseKeepsWholeShipments(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	var many []Row
	for i := range 10_003 {
		many = append(many, row(fmt.Sprintf("k%06d", i), "1"))
	}
	must(t, a.Ship(ctx, epoch, All(many...)))
	tx, err := a.pool.Begin(ctx)
	must(t, err)
	must(t, a.own(ctx, tx, epoch))
	must(t, write(ctx, tx, []Row{row("k000000", "half")}))
	db.Crash()
	if err := tx.Commit(ctx); err == nil {
		t.Error("a database that is gone has committed")
	}
	brief, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := a.Ship(brief, epoch, All(many[:1]...)); err == nil || !IsUnreachable(err) {
		t.Errorf("shipping to a database that is gone: %v", err)
	}
	db.Start()
	for i := range many[:10] {
		many[i].Value = []byte("2")
	}
	must(t, a.Ship(ctx, epoch, All(many[:10]...)))
	got := stored(t, a)
	if len(got) != len(many) || got["k000000"] != "2" || got["k000010"] != "1" {
		t.Errorf("%d rows, want %d; the first is %q", len(got), len(many), got["k000000"])
	}
}

// unusableDatabases opens tables of another version, and wrong addresses.
func unusableDatabases(t *testing.T, db *postgres.Server) {
	s := open(t, db, "a")
	for _, change := range []string{
		`UPDATE arcrawl.crawl SET format = 3`,
		`UPDATE arcrawl.crawl SET format = 1`,                       // with payloads among the rows of shards
		`ALTER TABLE arcrawl.crawl RENAME COLUMN format TO version`, // as before the first release
	} {
		_, err := s.pool.Exec(t.Context(), change)
		must(t, err)
		_, err = Open(t.Context(), db.URL(db.Address()), "b")
		wantErr(t, err, ErrVersion)
		if advice := strings.Contains(fmt.Sprint(err), "cluster leave"); advice == strings.HasSuffix(change, "3") {
			t.Errorf("after %s: %v; want advice unless the tables are of a later arcrawl", change, err)
		}
		r, err := Look(t.Context(), db.URL(db.Address()), func() error { return nil })
		wantErr(t, err, ErrVersion)
		if !r.Used {
			t.Errorf("after %s the database counts as unused", change)
		}
	}
	empty := db.Database(t, "empty")
	_, err := Look(t.Context(), empty.URL(db.Address()), func() error { return nil })
	wantErr(t, err, ErrVersion)
	// A replica can only be read. It does not know whether there are others.
	_, err = Look(t.Context(), db.URL(db.Address())+"&default_transaction_read_only=on", func() error { return nil })
	if err == nil || errors.Is(err, ErrVersion) {
		t.Errorf("a replica was asked: %v", err)
	}
	for url, waits := range map[string]bool{
		"postgres://arcrawl@127.0.0.1:1/postgres?connect_timeout=1":       true,
		"postgres://arcrawl@" + db.Address() + "/nothing?sslmode=disable": false,
		"nonsense": false,
	} {
		if _, err := Open(t.Context(), url, "b"); err == nil || IsUnreachable(err) != waits {
			t.Errorf("%s: %v; want an error that another attempt may end: %t", url, err, waits)
		}
	}
}

// TestAReportDoesNotGuessWhetherReplicasAreSynchronous prints what a user sees who may not read all statistics.
func TestAReportDoesNotGuessWhetherReplicasAreSynchronous(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Report{
		"replicas  1 of the database; this user may not see": {Replicas: 1, Hidden: 1},
		"replicas  1 of the database, 1 of them synchronous": {Replicas: 1, Synced: 1},
		"without a synchronous one":                          {Replicas: 1},
	} {
		var out strings.Builder
		must(t, r.Write(&out))
		if !strings.Contains(out.String(), want) || r.Hidden > 0 && strings.Contains(out.String(), "without a synchronous") {
			t.Errorf("%+v: %s", r, &out)
		}
	}
}

// nothingDelaysBeats beats while a shipment waits, rows of other shards are read slowly, and no connection for these is
// left. Each delayed beat brings the end of the lease nearer.
func nothingDelaysBeats(t *testing.T, db *postgres.Server) {
	a := open(t, db, "a")
	for pool, connections := range map[interface {
		BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
	}]int{a.pool: 2, a.looks: 1} {
		for range connections {
			tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
			must(t, err)
			defer func() { must(t, tx.Rollback(context.Background())) }()
		}
	}
	brief, cancel := context.WithTimeout(t.Context(), time.Minute) // on a busy machine; otherwise some ms
	defer cancel()
	_, err := a.Beat(brief)
	wantErr(t, err, nil)
}

// lettersAreSetAside moves a damaged letter out of the way of others. Full names the shards with too many, and a whole
// store replaces the rows of an earlier attempt without removing one after the other.
func lettersAreSetAside(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	must(t, a.Ship(ctx, epoch, All(row("old", "1"))))
	for _, text := range []string{
		`CREATE FUNCTION arcrawl.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''one by one''; END'`,
		`CREATE TRIGGER slow BEFORE DELETE ON arcrawl.row FOR EACH ROW EXECUTE FUNCTION arcrawl.slow()`,
	} {
		_, err := a.pool.Exec(ctx, text)
		must(t, err)
	}
	must(t, a.Clear(ctx, epoch))
	must(t, a.Ship(ctx, epoch, All(row("new", "1"))))
	if got := stored(t, a); !maps.Equal(got, map[string]string{"new": "1"}) {
		t.Errorf("the rows are %q", got)
	}
	must(t, a.Complete(ctx, epoch))

	must(t, a.Send(ctx, epoch, []Letter{
		{Shard: 1, Key: []byte("a"), Value: []byte("fine")}, {Shard: 1, Key: []byte("b"), Value: []byte("damaged")},
	}))
	for n, full := range map[int]bool{2: true, 3: false} {
		if got, err := a.Full(ctx, n); err != nil || got[1] != full {
			t.Errorf("shard 1 has %d letters or more: %v, %v", n, got, err)
		}
	}
	list, err := a.Letters(ctx, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("the letters are %v, %v", list, err)
	}
	must(t, a.SetAside(ctx, epoch, list[1:]))
	must(t, a.SetAside(ctx, epoch, list[1:])) // the answer to the first was lost
	if list, err = a.Letters(ctx, 10); err != nil || len(list) != 1 || string(list[0].Value) != "fine" {
		t.Errorf("the letters are %v, %v", list, err)
	}
	wantErr(t, a.SetAside(ctx, epoch+1, list), ErrOwner)
	r, err := Look(ctx, db.URL(db.Address()), func() error { return nil })
	if err != nil || r.Shards[0].Damaged != 1 || r.Shards[0].Letters != 1 {
		t.Errorf("the state is %+v, %v", r.Shards, err)
	}
}
