package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// every returns the numbers of all parts.
func every() []int16 { return between(0, Parts) }

// between returns the numbers of the parts from one to before another.
func between(from, to int16) (list []int16) {
	for part := from; part < to; part++ {
		list = append(list, part)
	}
	return list
}

// take makes a node the owner of parts, and makes sure that it gets all of them.
func take(t *testing.T, s *Store, parts []int16) []Taken {
	t.Helper()
	taken, err := s.Take(t.Context(), parts, "")
	must(t, err)
	if len(taken) != len(parts) {
		t.Fatalf("node %s took %d parts, want %d", s.node, len(taken), len(parts))
	}
	return taken
}

// owner opens the database for a node, which takes the whole crawl.
func owner(t *testing.T, db *postgres.Server, node string) *Store {
	t.Helper()
	s := open(t, db, node)
	take(t, s, every())
	return s
}

// sharing opens the database for two nodes, of which each owns half of the parts.
func sharing(t *testing.T, db *postgres.Server) (a, b *Store) {
	t.Helper()
	a, b = owner(t, db, "a"), open(t, db, "b")
	must(t, a.Complete(t.Context()))
	must(t, a.Leave(t.Context(), between(512, Parts), true))
	take(t, b, between(512, Parts))
	return a, b
}

// beat returns what a beat of a node returns.
func beat(t *testing.T, s *Store) States {
	t.Helper()
	st, err := s.Beat(t.Context())
	must(t, err)
	if len(st.Parts) != Parts {
		t.Fatalf("a beat returned %d parts", len(st.Parts))
	}
	return st
}

// beatOf returns the beat of a node.
func beatOf(t *testing.T, s *Store, node string) (n int64) {
	t.Helper()
	must(t, s.pool.QueryRow(t.Context(), `SELECT beat FROM arcrawl.pulse WHERE node = $1`, node).Scan(&n))
	return n
}

// onlyPostgres skips a test with means that only PostgreSQL has.
func onlyPostgres(t *testing.T, s *Store) {
	t.Helper()
	if !s.able.sessions {
		t.Skip("this engine is not PostgreSQL")
	}
}

// awaitLock waits until somebody waits for a lock in the database.
func awaitLock(t *testing.T, s *Store) {
	t.Helper()
	if !s.able.sessions {
		time.Sleep(time.Second) // nobody can know
		return
	}
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

// allRows returns the rows of some parts, by their parts and keys.
func allRows(t *testing.T, s *Store, parts []int16) map[string]string {
	t.Helper()
	all, last := map[string]string{}, ""
	must(t, s.Each(t.Context(), parts, func(part int16, k, v []byte) error {
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
func fence(t *testing.T, s *Store, node string) {
	t.Helper()
	if done, err := s.Fence(t.Context(), node, beatOf(t, s, node)); err != nil || !done {
		t.Fatalf("fence %s: %t, %v", node, done, err)
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
		"unusable_databases": unusableDatabases, "rows_follow_their_parts": rowsFollowTheirParts,
		"hosts_follow_their_groups": hostsFollowTheirGroups, "one_node_until_the_copy_is_whole": oneNodeUntilTheCopyIsWhole,
		"nothing_delays_beats": nothingDelaysBeats, "beats_read_changes_only": beatsReadChangesOnly, "letters_are_set_aside": lettersAreSetAside,
		"nodes_report": nodesReport, "damaged_rows_are_kept": damagedRowsAreKept, "a_reader_delays_no_whole_store": aReaderDelaysNoWholeStore,
		"payloads_are_shared": payloadsAreShared, "words_have_numbers_of_their_own": wordsHaveNumbersOfTheirOwn, "nodes_find_each_other": nodesFindEachOther,
		"nodes_are_unfit": nodesAreUnfit, "session_in_the_way": aFenceEndsASessionInItsWay, "parts_have_one_owner": partsHaveOneOwner,
		"take_against_fence": takeAgainstFence, "a_release_is_repeated": aReleaseIsRepeated, "a_commit_comes_late": aCommitComesLate,
		"letters_are_exchanged": lettersAreExchanged, "keys_are_locked_in_order": keysAreLockedInOrder, "letters_cross": lettersCross,
		"numbers_are_unique": numbersAreUnique, "nodes_are_removed": nodesAreRemoved, "a_report_in_words": aReportInWords,
		"copies_are_exported": copiesAreExported, "any_isolation": anyIsolation, "fence_prevents_beat": aFencePreventsABeat,
		"engines_differ": enginesDiffer, "something_is_missing": somethingIsMissing,
	} {
		t.Run(name, func(t *testing.T) { part(t, server.Database(t, name)) })
	}
}

// protocol lets two nodes own a crawl one after the other. A node that is fenced changes nothing.
func protocol(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := open(t, db, "a"), open(t, db, "b")
	if a.Crawl() == "" || a.Crawl() != b.Crawl() {
		t.Errorf("the crawl is called %q and %q", a.Crawl(), b.Crawl())
	}
	if st := beat(t, b); st.Own != 2 || st.Whole || st.Moves != 0 || st.Parts[0] != (Part{Clean: true}) || st.Crawler(0) != "" {
		t.Fatalf("a crawl without owner: %+v", st)
	}
	if taken := take(t, a, every()); taken[7] != (Taken{Part: 7, Epoch: 1, Before: Part{Clean: true}}) {
		t.Fatalf("took %+v", taken[7])
	}
	must(t, a.Clear(ctx))
	must(t, a.Ship(ctx, All(row("x", "1"), row("y", ""), Row{Key: []byte("n")})))
	must(t, a.Complete(ctx))
	must(t, a.Complete(ctx)) // the answer to the first was lost
	wantErr(t, a.Clear(ctx), ErrOwner)
	changes := All(row("x", "2"), row("z", "3"), Row{Key: []byte("y"), Gone: true}, Row{Key: []byte("never"), Gone: true})
	must(t, a.Ship(ctx, changes))
	must(t, a.Ship(ctx, changes)) // the answer to the first was lost
	want := map[string]string{"x": "2", "z": "3", "n": ""}
	if got := stored(t, b); !maps.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}

	if taken, err := b.Take(ctx, every(), ""); err != nil || len(taken) != 0 {
		t.Errorf("took %d parts of another node: %v", len(taken), err)
	}
	wantErr(t, b.Complete(ctx), ErrOwner)
	st := beat(t, b)
	if !st.Whole || st.Moves != 1 || st.Parts[5] != (Part{Owner: "a", Epoch: 1}) || st.Crawler(5) != "a" {
		t.Fatalf("the state is %+v, of part 5 %+v", st.Moves, st.Parts[5])
	}
	beat(t, a)
	if done, err := b.Fence(ctx, "a", st.Nodes[0].Beat); done || err != nil {
		t.Errorf("a node was fenced that has beaten since: %v", err)
	}
	fence(t, b, "a")
	_, err := a.Beat(ctx)
	wantErr(t, err, ErrFenced)
	wantErr(t, a.Ship(ctx, All(row("x", "fenced"))), ErrFenced)
	wantErr(t, a.Clear(ctx), ErrFenced)
	wantErr(t, a.Complete(ctx), ErrFenced)
	wantErr(t, a.Leave(ctx, every(), true), ErrFenced)
	wantErr(t, a.SetAside(ctx, nil), ErrFenced)
	_, err = a.Take(ctx, every(), "")
	wantErr(t, err, ErrFenced)
	_, err = a.Fence(ctx, "b", 1)
	wantErr(t, err, ErrFenced)

	if st := beat(t, b); st.Crawler(5) != "" || !st.Nodes[0].Fenced || st.Nodes[1].Fenced {
		t.Errorf("with a fenced owner the state is %+v", st.Nodes)
	}
	if taken := take(t, b, every()); taken[5] != (Taken{Part: 5, Epoch: 2, Before: Part{Owner: "a", Epoch: 1}}) {
		t.Fatalf("took over %+v", taken[5])
	}
	if got := stored(t, b); !maps.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	must(t, b.Leave(ctx, every(), true))
	again := open(t, db, "a") // a new process of the node that was fenced
	if taken := take(t, again, every()); taken[5] != (Taken{Part: 5, Epoch: 4, Before: Part{Epoch: 2, Clean: true}}) {
		t.Fatalf("took %+v after it was released", taken[5])
	}
	if st := beat(t, again); st.Moves != 4 || st.Parts[5] != (Part{Owner: "a", Epoch: 4}) {
		t.Errorf("after a clean start: %+v", st.Parts[5])
	}
}

// twoProcessesOfOneName starts a second process of a node. The older one may do nothing more.
func twoProcessesOfOneName(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	older := owner(t, db, "a")
	newer := open(t, db, "a")
	if older.Number() != 1 || newer.Number() != 1 {
		t.Errorf("the node has the numbers %d and %d", older.Number(), newer.Number())
	}
	_, err := older.Beat(ctx)
	wantErr(t, err, ErrFenced)
	_, err = older.Take(ctx, every(), "")
	wantErr(t, err, ErrFenced)
	for what, err := range map[string]error{
		"ship":    older.Ship(ctx, All(row("x", "1"))),
		"release": older.Leave(ctx, every(), true),
		"report":  older.Tell(ctx, []byte("I live")),
	} {
		if !errors.Is(err, ErrFenced) {
			t.Errorf("%s: %v, want %v", what, err, ErrFenced)
		}
	}
	if taken := take(t, newer, every()); taken[0].Before != (Part{Owner: "a", Epoch: 1}) {
		t.Errorf("the newer process took %+v", taken[0])
	}
}

// aFenceWaitsForAShipment holds a shipment open while another node fences its owner. What was shipped first counts,
// and nothing after it.
func aFenceWaitsForAShipment(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	tx := halfShipped(t, a, row("x", "1"))
	fenced := make(chan error, 1)
	before := beatOf(t, b, "a")
	var waiting sync.WaitGroup
	waiting.Go(func() { _, err := b.Fence(ctx, "a", before); fenced <- err })
	awaitLock(t, b)
	select {
	case err := <-fenced:
		t.Fatalf("the fence did not wait for the shipment: %v", err)
	default:
	}
	must(t, tx.Commit(ctx))
	waiting.Wait()
	must(t, <-fenced)
	wantErr(t, a.Ship(ctx, All(row("x", "2"))), ErrFenced)
	if got := stored(t, b); got["x"] != "1" {
		t.Errorf("the rows are %q", got)
	}
}

// halfShipped ships rows, and does not commit.
func halfShipped(t *testing.T, s *Store, list ...Row) pgx.Tx {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	must(t, errors.Join(s.lock(t.Context(), tx), write(t.Context(), tx, list)))
	return tx
}

// aBeatPreventsAFence lets a node beat while another one waits to fence it.
func aBeatPreventsAFence(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	before := beatOf(t, b, "a")
	tx, err := a.pool.Begin(ctx)
	must(t, err)
	_, err = tx.Exec(ctx, `UPDATE arcrawl.pulse SET beat = beat + 1 WHERE node = 'a'`)
	must(t, err)
	done := true
	var waiting sync.WaitGroup
	waiting.Go(func() { done, err = b.Fence(ctx, "a", before) })
	awaitLock(t, a)
	must(t, tx.Commit(ctx))
	waiting.Wait()
	if done || err != nil {
		t.Errorf("a node was fenced whose beat came first: %t, %v", done, err)
	}
	beat(t, a)
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
	a := owner(t, db, "a")
	var many []Row
	for i := range 10_003 {
		many = append(many, row(fmt.Sprintf("k%06d", i), "1"))
	}
	must(t, a.Ship(ctx, All(many...)))
	tx := halfShipped(t, a, row("k000000", "half"))
	db.Crash()
	if err := tx.Commit(ctx); err == nil {
		t.Error("a database that is gone has committed")
	}
	brief, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := a.Ship(brief, All(many[:1]...)); err == nil || !IsUnreachable(err) {
		t.Errorf("shipping to a database that is gone: %v", err)
	}
	db.Start()
	for i := range many[:10] {
		many[i].Value = []byte("2")
	}
	must(t, a.Ship(ctx, All(many[:10]...)))
	got := stored(t, a)
	if len(got) != len(many) || got["k000000"] != "2" || got["k000010"] != "1" {
		t.Errorf("%d rows, want %d; the first is %q", len(got), len(many), got["k000000"])
	}
}

// unusableDatabases opens tables of another version, and wrong addresses.
func unusableDatabases(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	s := open(t, db, "a")
	for _, change := range []string{
		`UPDATE arcrawl.crawl SET format = 4`,
		`UPDATE arcrawl.crawl SET format = 2`, // with shards
	} {
		_, err := s.pool.Exec(ctx, change)
		must(t, err)
		_, opened := Open(ctx, url, "b")
		r, looked := Look(ctx, url, func() error { return nil })
		_, reported := Reports(ctx, url)
		for what, err := range map[string]error{
			"open": opened, "look": looked, "reports": reported, "drain": Drain(ctx, url, "a", true),
			"export": Export(ctx, url, func(Copies) error { return nil }),
		} {
			if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "arcrawl cluster leave") {
				t.Errorf("after %s, %s: %v; want advice", change, what, err)
			}
		}
		if !r.Used {
			t.Errorf("after %s the database counts as unused", change)
		}
	}
	empty := db.Database(t, "empty")
	r, err := Look(ctx, empty.URL(db.Address()), func() error { return nil })
	if wantErr(t, err, ErrVersion); r.Used {
		t.Error("an empty database counts as used")
	}
	// A replica can only be read. It does not know whether there are others.
	_, err = Look(ctx, url+"&default_transaction_read_only=on", func() error { return nil })
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

// nothingDelaysBeats beats while a shipment waits, rows of other nodes are read slowly, and no connection for these is
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
