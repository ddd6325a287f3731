package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// payloadOf returns the key of a payload, and a record that holds it.
func payloadOf(text, file string) (dedup.Key, digest.Origin) {
	strong := digest.SHA256(sha256.Sum256([]byte(text))).Half()
	key := dedup.Key{Payload: digest.Of([]byte(text)), Strong: strong, Status: 200}
	return key, digest.Origin{
		RecordID: "urn:uuid:00000000-0000-4000-8000-000000000001", URI: "http://a.example/a/usual/path/" + text, Date: time.Unix(1.8e9, 0).UTC(),
		Payload: key.Payload, File: file, Offset: 1_000_000, Length: 20_000, Size: 60_000,
	}
}

// finds returns the file that the index names for a payload; "" if it has none.
func (p *fixture) finds(i *dedup.Index, text string) string {
	p.Helper()
	key, _ := payloadOf(text, "")
	m, err := i.Find(dedup.Query{Key: key, URI: "http://b.example/"})
	p.must(err)
	return m.Origin.File
}

// ask asks the database for a number.
func (p *fixture) ask(sql string) (n int) {
	p.Helper()
	c, err := pgx.Connect(p.Context(), p.options().Database)
	p.must(err)
	defer func() { _ = c.Close(p.Context()) }()
	p.must(c.QueryRow(p.Context(), sql).Scan(&n))
	return n
}

// payloadsIn returns how many rows of a store are about payloads.
func (p *fixture) payloadsIn(f *frontier.Frontier) (n int) {
	p.must(f.DB().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("d")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if isPayload(it.Item().Key()) {
				n++
			}
		}
		return nil
	}))
	return n
}

// TestAPayloadOfOneNodeIsARevisitOnAnother archives a payload on one of two nodes. The other node finds it when it is
// shipped, and not before its log is on disk, until an operator says that its file is lost.
func TestAPayloadOfOneNodeIsARevisitOnAnother(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	one, two := a.open(), b.open()
	even, odd := parted()
	one.takes(even)
	two.takes(odd)
	first, second := a.index(one.f, one.n), b.index(two.f, two.n)
	key, o := payloadOf("p", "of-a.warc.gz")
	one.must(first.Put(key, o))
	one.n.sync = func() error { return errors.New("the log is not on disk") }
	if _, err := one.n.shipOnce(t.Context()); err == nil {
		t.Fatal("it was shipped before its log was on disk")
	}
	if file := b.finds(second, "p"); file != "" {
		t.Fatalf("a payload in %s is found that was not shipped", file)
	}
	one.n.sync = nil
	one.ships()
	if file := b.finds(second, "p"); file != "of-a.warc.gz" {
		t.Errorf("after the shipment the payload is in %q", file)
	}
	b.must(second.Refer(o))
	b.must(second.Flush())
	for range 10 {
		if file := b.finds(second, "p"); file != "of-a.warc.gz" || two.n.payloads.asking {
			t.Errorf("the payload is in %q", file)
		}
	}

	_, err := first.Lose(dedup.Loss{File: "cut.warc.gz", From: 10, Cause: dedup.CutOff})
	one.must(err)
	key, o = payloadOf("cut", "cut.warc.gz")
	one.must(first.Put(key, o))
	one.ships()
	if file := b.finds(second, "cut"); file != "" {
		t.Errorf("a record is found in the lost part of %s", file)
	}
	one.must(one.n.Lose([]string{"of-a.warc.gz", "other.warc.gz"}, "lost"))
	one.must(one.n.Lose([]string{"other.warc.gz"}, "found"))
	for after, want := range [][]shared.Loss{
		{{File: "of-a.warc.gz", Is: "lost", Order: 1}, {File: "other.warc.gz", Is: "found", Order: 2}},
		{{File: "other.warc.gz", Is: "found", Order: 2}},
		nil,
	} {
		if list, err := two.n.shared.Losses(t.Context(), int64(after)); err != nil || !slices.Equal(list, want) {
			t.Errorf("after %d node b hears %+v, %v; want %+v", after, list, err, want)
		}
	}
	one.leave()
	two.leave()
}

// TestATakeoverReadsNoPayloads lets a node archive ten payloads for each URI, and die. The node that takes the crawl
// over loads none of them, and finds all: also the revisits that were counted, and what another store has lost.
func TestATakeoverReadsNoPayloads(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	const uris, many = 50, 500
	a.alone(time.Now(), func(f *frontier.Frontier) { // a crawl of a process on its own, with payloads
		a.crawl(f, 0, uris)
		index := a.index(f, nil)
		for n := range many {
			key, o := payloadOf(fmt.Sprint(n), fmt.Sprintf("%d.warc.gz", n%5))
			a.must(errors.Join(index.Put(key, o), index.Refer(o)))
		}
		a.must(errors.Join(index.Forget("0.warc.gz", 0), index.Flush()))
	})
	a.must(initCluster(t.Context(), a.options(), func() (*frontier.Frontier, error) {
		return frontier.Open(frontier.Options{Dir: a.state, Now: time.Now(), Compactors: -1})
	}))
	if n := a.ask(`SELECT count(*) FROM arcrawl.row WHERE k >= 'd' AND k < 'e'`); n != 1 {
		t.Errorf("%d rows of hosts and nodes are of the dedup index, want the loss", n)
	}
	if n := a.ask(`SELECT count(*) FROM arcrawl.payload`); n != 2*many+1 {
		t.Errorf("%d rows are in the table of payloads, want an entry and a count for each of %d, and the loss", n, many)
	}
	dead := a.open()
	dead.takes(allParts())
	if kept := a.payloadsIn(dead.f); kept != 2*many {
		t.Errorf("the node that had the store keeps %d rows of payloads, want %d", kept, 2*many)
	}
	key, o := payloadOf("new", "new.warc.gz")
	a.must(a.index(dead.f, dead.n).Put(key, o))
	dead.ships()
	key, o = payloadOf("unshipped", "new.warc.gz")
	a.must(a.index(dead.f, dead.n).Put(key, o))
	dead.die()

	c := b.open()
	c.fences("a")
	c.takes(allParts())
	func(f *frontier.Frontier) {
		if kept := b.payloadsIn(f); kept != 0 {
			t.Errorf("the node that took over has loaded %d rows of payloads", kept)
		}
		if got := b.histories(f); len(got) != uris {
			t.Errorf("%d URIs were loaded, want %d", len(got), uris)
		}
		index := b.index(f, c.n)
		for n := range many {
			want := fmt.Sprintf("%d.warc.gz", n%5)
			if n%5 == 0 {
				want = ""
			}
			if file := b.finds(index, fmt.Sprint(n)); file != want {
				t.Errorf("payload %d is in %q, want %q", n, file, want)
			}
		}
		if file := b.finds(index, "new") + b.finds(index, "unshipped"); file != "new.warc.gz" {
			t.Errorf("of a payload that was shipped and one that was not, found %q", file)
		}
		_, o := payloadOf("1", "1.warc.gz")
		spent, err := index.Spent(dedup.Policy{Copies: 1}, o, time.Now())
		if b.must(err); !spent {
			t.Error("the revisits are not counted any more")
		}
	}(c.f)
	c.leave()
	alone := newFixture(t, db, "alone")
	to := leaveOptions{Database: a.options().Database, To: alone.state, Now: time.Now()}
	left, err := leaveCluster(t.Context(), to)
	alone.must(err)
	if left.Damaged > 0 {
		t.Errorf("%d rows are damaged", left.Damaged)
	}
	alone.alone(time.Now(), func(f *frontier.Frontier) {
		if n := alone.payloadsIn(f); n != 2*many+1 {
			t.Errorf("%d rows of payloads came back, want %d", n, 2*many+1)
		}
		if index := alone.index(f, nil); alone.finds(index, "7") != "2.warc.gz" || alone.finds(index, "0") != "" {
			t.Error("a payload, or what is lost, did not come back")
		}
	})
}

// TestNoPayloadIsFoundWhileTheDatabaseIsAway cuts a node from the database. A capture waits and finds nothing that the
// node does not know itself; afterwards it is found again.
func TestNoPayloadIsFoundWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	proxy := startProxy(t, db.Address())
	a := newFixture(t, db, "a")
	c := a.open()
	c.takes(allParts())
	n, f := c.n, c.f
	cut, err := shared.Open(t.Context(), db.URL(proxy.address), "cut")
	a.must(err)
	defer cut.Close()
	failures := 0
	n.payloads = &payloads{read: cut.Payloads, now: time.Now, fail: func(error) { failures++ }}
	index := a.index(f, n)
	key, o := payloadOf("known", "known.warc.gz")
	a.must(index.Put(key, o))
	other, o := payloadOf("other", "other.warc.gz")
	a.must(index.Put(other, o))
	c.ships()
	a.must(f.DB().Update(func(txn *badger.Txn) error { // what was archived long ago is not kept
		it := txn.NewIterator(badger.IteratorOptions{Prefix: append([]byte("d"), other.Payload[:]...)})
		defer it.Close()
		it.Rewind()
		return txn.Delete(it.Item().KeyCopy(nil))
	}))
	index = a.index(f, n)
	proxy.gate.Lock()
	proxy.back.Lock()
	began := time.Now()
	if known, file := a.finds(index, "known"), a.finds(index, "other"); known != "known.warc.gz" || file != "" || failures != 1 {
		t.Errorf("while the database is away %q and %q are found, with %d messages", known, file, failures)
	}
	if took := time.Since(began); took > payloadTime+5*time.Second {
		t.Errorf("a capture waited for %s", took)
	}
	proxy.gate.Unlock()
	proxy.back.Unlock()
	if file := a.finds(index, "other"); file != "other.warc.gz" {
		t.Errorf("when the database is back, the payload is in %q", file)
	}
	c.leave()
}

// slowDatabase answers questions about payloads.
type slowDatabase struct {
	payloads
	rows      map[string][]byte
	away      atomic.Bool
	questions []int // how many keys each had
	failures  int
}

func newSlowDatabase() *slowDatabase {
	d := &slowDatabase{rows: map[string][]byte{}}
	d.payloads = payloads{now: time.Now, fail: func(error) { d.failures++ }}
	d.read = func(ctx context.Context, keys ...[]byte) ([][]byte, error) {
		d.questions = append(d.questions, len(keys))
		if d.away.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		time.Sleep(time.Millisecond)
		rows := make([][]byte, len(keys))
		for n, k := range keys {
			rows[n] = d.rows[string(k)]
		}
		return rows, nil
	}
	return d
}

// entryKey returns the key of an entry of the dedup index.
func entryKey(n int) []byte { return fmt.Appendf([]byte("d"), "%030d", n+1) }

// TestPayloadsAreAskedForTogether lets a hundred captures look for payloads at once. The first one asks, and the others
// are answered by the next question; what was found is not asked for again. While the database is away all wait, until
// the lease of the node is over.
func TestPayloadsAreAskedForTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newSlowDatabase()
		d.rows[string(entryKey(7))] = []byte("seven")
		all := func(want string) {
			t.Helper()
			d.questions = nil
			var captures sync.WaitGroup
			for n := range 100 {
				captures.Go(func() {
					rows, err := d.find(entryKey(n), entryKey(7))
					if err != nil {
						rows = [][]byte{nil, []byte(err.Error())}
					}
					if string(rows[1]) != want || n != 7 && rows[0] != nil {
						t.Errorf("capture %d found %q", n, rows)
					}
				})
			}
			captures.Wait()
		}
		all("seven")
		if !slices.Equal(d.questions, []int{2, 198}) {
			t.Errorf("the questions have %v keys", d.questions)
		}
		all("seven")
		sum := 0
		for _, n := range d.questions {
			sum += n
		}
		if len(d.questions) > 2 || sum != 99 {
			t.Errorf("the questions have %v keys after one row was found", d.questions)
		}
		d.young, d.old = nil, nil
		d.away.Store(true)
		began := time.Now()
		all("context deadline exceeded")
		if took := time.Since(began); took != 2*payloadTime || d.failures != 1 {
			t.Errorf("the captures waited %s, with %d messages", took, d.failures)
		}
		d.away.Store(false)
		all("seven")
	})
}

// TestPayloadsInMemoryHaveABound finds many payloads. Those that are asked for stay.
func TestPayloadsInMemoryHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, size := newSlowDatabase(), 10_000
		for n := range 5 * payloadBytes / size {
			d.rows[string(entryKey(n))] = bytes.Repeat([]byte{1}, size)
			for _, k := range [][]byte{entryKey(n), entryKey(0)} {
				if rows, err := d.find(k); err != nil || rows[0] == nil {
					t.Fatalf("row %d: %v", n, err)
				}
			}
			if all := (len(d.young) + len(d.old)) * size; all > 2*payloadBytes {
				t.Fatalf("%d bytes are kept", all)
			}
		}
		if want := len(d.rows); len(d.questions) != want {
			t.Errorf("%d questions for %d rows: the first was forgotten", len(d.questions), want)
		}
		// That a file was not lost is believed for a while.
		d.questions = nil
		loss := append(append([]byte("d"), make([]byte, 20)...), "Lfile"...)
		for range 90 {
			_, _ = d.find(loss)
			time.Sleep(time.Second)
		}
		if len(d.questions) != 2 {
			t.Errorf("%d questions about a loss in 90 s, want 2", len(d.questions))
		}
	})
}
