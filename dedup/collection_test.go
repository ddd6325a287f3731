package dedup_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func keyOf(payload string) dedup.Key {
	return dedup.Key{Payload: digest.Of([]byte(payload)), Status: 200, MIME: "text/html"}
}

// original returns a record of a collection, as an import finds it.
func original(uri, payload, file string, n int) dedup.Found {
	o := at(uri, payload, n)
	o.File = file
	return dedup.Found{Key: keyOf(payload), Origin: o}
}

// revisit returns a record that refers to the original f by URI and date, as an import finds it.
func revisit(f dedup.Found) dedup.Found {
	return dedup.Found{Key: dedup.Key{Payload: f.Payload}, Revisit: true, Origin: digest.Origin{
		URI: f.Origin.URI, Date: f.Origin.Date, Payload: f.Payload,
	}}
}

func hits(t *testing.T, i *dedup.Index, payload string) dedup.Match {
	t.Helper()
	m, err := i.Find(dedup.Query{Key: keyOf(payload), URI: "http://asks.example/"})
	must(t, err)
	return m
}

// held counts the originals of a collection, and the revisits that refer to them.
type held struct{ originals, bytes, referred, references int64 }

func heldOf(t *testing.T, i *dedup.Index, number uint32) (sum held) {
	t.Helper()
	must(t, i.EachPayload(t.Context(), func(all []dedup.Held) {
		seen := map[[2]string]bool{}
		for _, h := range all {
			if name := [2]string{h.RecordID, h.URI}; h.Collection == number && !seen[name] {
				seen[name] = true
				sum = held{sum.originals + 1, sum.bytes + h.Size, sum.referred + min(h.Revisits, 1), sum.references + h.Revisits}
			}
		}
	}))
	return sum
}

func TestACollectionCountsOnceItIsActive(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	one, two := original("http://a.example/", "one", "a.warc.gz", 1), original("http://a.example/2", "two", "a.warc.gz", 2)
	c := dedup.Collection{
		Number: 1, Name: "a.wacz", Hash: "sha256:a", Size: 9, Crawl: "c1", State: dedup.Importing, Position: 100, Changed: noon,
	}
	must(t, i.Store(c, one, revisit(one), original("http://b.example/", "one", "a.warc.gz", 3)))
	if hits(t, i, "one").Hit != dedup.Miss {
		t.Error("a record counts before its collection is complete")
	}

	i = openIndex(t, db) // the process died
	if hits(t, i, "one").Hit != dedup.Miss {
		t.Error("a record counts though its import was interrupted")
	}
	if diff := cmp.Diff([]dedup.Collection{c}, i.Collections()); diff != "" {
		t.Errorf("the collections -want +got:\n%s", diff)
	}
	c.State = dedup.Active
	must(t, i.Store(c, two))
	if got := hits(t, i, "one"); got.Origin.Offset != 1 {
		t.Errorf("the origin is %+v, want the first of the collection", got)
	}
	if got := hits(t, i, "two"); got.Hit != dedup.Other {
		t.Error("a record of the second part does not count")
	}
	m2, err := i.Find(dedup.Query{Key: keyOf("one"), URI: "http://b.example/", By: dedup.URI})
	if err != nil || m2.Origin.Offset != 3 {
		t.Errorf("under its own URI the origin is %+v, %v", m2, err)
	}
}

func TestARemovedCollectionIsKeptUntilPurge(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	one := original("http://a.example/", "one", "a.warc.gz", 1)
	byID := dedup.Found{Key: dedup.Key{Payload: one.Payload}, Revisit: true, Origin: digest.Origin{
		RecordID: one.Origin.RecordID, Payload: one.Payload,
	}}
	a := dedup.Collection{Number: 1, Name: "a", Hash: "sha256:a", State: dedup.Active, Files: []string{"a.warc.gz"}}
	b := dedup.Collection{Number: 2, Name: "b", Hash: "sha256:b", State: dedup.Active}
	must(t, i.Store(a, one, original("http://a.example/2", "two", "a.warc.gz", 2)))
	must(t, i.Store(b, revisit(one), byID))
	must(t, i.Refer(one.Origin))
	a.State = dedup.Removed
	must(t, i.Store(a))
	holds := func(number uint32, want held) {
		t.Helper()
		if got := heldOf(t, i, number); got != want {
			t.Errorf("collection %d holds %+v, want %+v", number, got, want)
		}
	}
	check := func() {
		t.Helper()
		if hits(t, i, "one").Hit != dedup.Miss || !i.Lost(one.Origin) {
			t.Error("a record of a removed collection still counts")
		}
		holds(1, held{2, 6, 1, 3})
	}
	check()
	i = openIndex(t, db)
	check()
	b.State = dedup.Removed
	must(t, i.Store(b))
	holds(1, held{2, 6, 1, 1})
	if n, err := i.Purge(t.Context()); err != nil || n != 4 {
		t.Errorf("Purge = %d, %v; want two originals and two counts", n, err)
	}
	if len(i.Collections()) != 0 {
		t.Errorf("after the purge there are %v", i.Collections())
	}
	if !i.Lost(one.Origin) {
		t.Error("after a purge the files of the collection no longer count as lost")
	}
	again := one.Origin
	again.File = "new.warc.gz"
	must(t, i.Put(one.Key, again)) // a purged payload can get a new record
	if hits(t, i, "one").Hit != dedup.Other {
		t.Error("a record that replaces a purged one does not count")
	}
	holds(0, held{1, 3, 1, 1}) // by the crawl itself
}

func TestDamagedRowsOfCollectionsAreAnError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		key  string
		v    []byte
	}{
		{"a collection that cannot be read", "C\x00\x00\x00\x01", []byte{1, 0xff}},
		{"a collection of a later format", "C\x00\x00\x00\x01", []byte{9, 0xa0}},
		{"a key that is too long", "C\x00\x00\x00\x01\x02", []byte{1, 0xa0}},
		{"a loss that cannot be read", "La.warc.gz", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			db := openStore(t, t.TempDir())
			key := append(append([]byte{'d'}, make([]byte, 20)...), row.key...)
			must(t, db.Update(func(txn *badger.Txn) error { return txn.Set(key, row.v) }))
			if _, err := dedup.Open(db, dedup.Options{}); err == nil {
				t.Error("Open accepts the damaged row")
			}
		})
	}
}

// sharedIndex is an index that the stores of a test share.
type sharedIndex struct {
	*testing.T
	rows  map[string][]byte
	away  bool
	asked int // questions
	keep  int
}

func (s *sharedIndex) Find(keys ...[]byte) ([][]byte, error) {
	s.asked++
	if s.away {
		return nil, errors.New("nobody answers")
	}
	rows := make([][]byte, len(keys))
	for n, k := range keys {
		rows[n] = s.rows[string(k)]
	}
	return rows, nil
}

func (s *sharedIndex) Keep() int { return s.keep }

// open opens the index of a store.
func (s *sharedIndex) open(db *badger.DB) *dedup.Index {
	s.Helper()
	i, err := dedup.Open(db, dedup.Options{Name: withoutWWW, Shared: s})
	must(s.T, err)
	return i
}

// carry carries the rows of a store to the shared index, and calls own with those that the store has of its own.
func (s *sharedIndex) carry(db *badger.DB, own func(k, v []byte)) {
	s.Helper()
	must(s.T, db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			k := it.Item().KeyCopy(nil)
			v, err := it.Item().ValueCopy(nil)
			must(s.T, err)
			kind := dedup.KindOf(k)
			if kind == dedup.Private || kind == dedup.SharedLoss {
				own(k, v)
			}
			if kind == dedup.Private || kind == dedup.Cached {
				continue
			}
			if v, err = dedup.Portable(txn, k, v); err != nil {
				continue // a damaged row
			}
			if kind != dedup.Count || bytes.Compare(v, s.rows[string(k)]) > 0 {
				s.rows[string(k)] = v
			}
		}
		return nil
	}))
}

func newShared(t *testing.T) *sharedIndex {
	t.Helper()
	return &sharedIndex{T: t, rows: map[string][]byte{}}
}

// TestASharedIndexBecomesTheIndexOfOneStore makes one index of what two stores share and have of their own.
// The stores have numbered different files alike.
func TestASharedIndexBecomesTheIndexOfOneStore(t *testing.T) {
	t.Parallel()
	one, two, shared := openStore(t, t.TempDir()), openStore(t, t.TempDir()), newShared(t)
	first, second := shared.open(one), shared.open(two)
	at := func(payload, file string, offset int64) digest.Origin {
		o := origin(payload, int(offset))
		o.File, o.Offset, o.Length, o.URI = file, offset, 1, "http://"+file+"/"
		return o
	}
	put := func(i *dedup.Index, payload, file string, offset int64) {
		t.Helper()
		must(t, i.Put(keyOf(payload), at(payload, file, offset)))
	}
	put(first, "only one", "a.warc.gz", 1)
	put(second, "only two", "b.warc.gz", 2) // the file has the number that a.warc.gz has in the other store
	put(first, "of nine digits", "a.warc.gz", 123456789)
	for range 2 {
		must(t, first.Refer(at("only one", "a.warc.gz", 1)))
	}
	must(t, first.Flush())
	must(t, second.Forget("gone.warc.gz", 0))
	odd := at("odd", "long.warc.gz", 7)
	odd.Date = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC) // only the long form has it
	must(t, first.Put(keyOf("odd"), odd))
	c := dedup.Collection{Number: 1, Name: "old", Hash: "sha256:old", State: dedup.Active, Files: []string{"old.warc.gz"}}
	must(t, first.Store(c, original("http://old/", "of old", "old.warc.gz", 1)))
	c.State = dedup.Importing // the other store has not read it to the end
	must(t, second.Store(c))
	must(t, one.Update(func(txn *badger.Txn) error { // an entry that cannot be read
		return txn.Set(append([]byte("d"), bytes.Repeat([]byte{7}, 30)...), []byte("?"))
	}))

	to := openStore(t, t.TempDir())
	m := dedup.NewMerger(func(k, v []byte) error {
		return to.Update(func(txn *badger.Txn) error { return txn.Set(k, v) })
	})
	for _, db := range []*badger.DB{one, two} {
		shared.carry(db, func(k, v []byte) { must(t, m.Add(k, v)) })
	}
	for k, v := range shared.rows {
		must(t, m.AddShared([]byte(k), v))
	}
	if m.Damaged != 1 {
		t.Errorf("%d rows are damaged, want 1", m.Damaged)
	}
	all := openIndex(t, to)
	for payload, file := range map[string]string{
		"only one": "a.warc.gz", "only two": "b.warc.gz", "of nine digits": "a.warc.gz", "odd": "long.warc.gz",
		"of old": "old.warc.gz",
	} {
		if m := hits(t, all, payload); m.Origin.File != file {
			t.Errorf("%s is in %q, want %q", payload, m.Origin.File, file)
		}
	}
	if own := heldOf(t, all, 0); own.referred != 1 || own.references != 2 {
		t.Errorf("%d revisits of %d originals are counted, want 2 of 1", own.references, own.referred)
	}
	if l := all.Losses(); len(l) != 1 || l[0].File != "gone.warc.gz" {
		t.Errorf("the losses are %+v", l)
	}
	c.State = dedup.Removed
	must(t, all.Store(c))
	if m := hits(t, all, "of old"); m.Hit != dedup.Miss {
		t.Errorf("the record of a removed collection is found: %+v", m)
	}
}

// TestAPayloadOfAnotherStoreIsFound looks for payloads that only another store of the crawl has archived. What either
// has lost, what is damaged, and what is asked for while nobody answers is archived again.
func TestAPayloadOfAnotherStoreIsFound(t *testing.T) {
	t.Parallel()
	other, shared := openStore(t, t.TempDir()), newShared(t)
	there, here := openIndex(t, other), shared.open(openStore(t, t.TempDir()))
	query := func(payload string) dedup.Query {
		q := dedup.Query{URI: "http://b.example/"}
		strong := digest.SHA256(sha256.Sum256([]byte(payload))).Half()
		q.Key = dedup.Key{Payload: digest.Of([]byte(payload)), Strong: strong, Status: 200}
		return q
	}
	find := func(q dedup.Query, want int64, why string) {
		t.Helper()
		m, err := here.Find(q)
		must(t, err)
		if m.Origin.Offset != want || (m.Hit == dedup.Miss) != (want == 0) || want > 0 && m.Origin.Strong != q.Strong {
			t.Errorf("%s: found %+v, want the record at %d", why, m, want)
		}
	}
	put := func(i *dedup.Index, payload string, n int) {
		o := origin(payload, n)
		o.File = payload + ".warc.gz"
		must(t, i.Put(query(payload).Key, o))
	}
	put(there, "one", 1)
	put(there, "two", 2)
	put(here, "two", 3)
	put(there, "gone there", 4)
	put(there, "gone here", 4)
	ofB := origin("one", 8)
	ofB.URI = "http://b.example/"
	must(t, there.Put(query("one").Key, ofB))
	shared.carry(other, func(k, v []byte) {})
	find(query("two"), 3, "both have it")
	if shared.asked > 0 {
		t.Errorf("%d questions were asked about a payload that this store has", shared.asked)
	}
	find(query("three"), 0, "nobody has it")
	if shared.asked != 1 {
		t.Errorf("%d questions were asked about a new payload", shared.asked)
	}
	find(query("one"), 1, "the other store has it")
	by := query("one")
	by.By = dedup.URI
	find(by, 8, "only records of the same URI are wanted")
	by.By = dedup.URIFirst
	find(by, 8, "records of the same URI are preferred")
	by.URI = "http://c.example/"
	find(by, 1, "no record is of the same URI")
	by.By = dedup.URI
	find(by, 0, "no record is of the same URI, and no other is wanted")
	shared.away = true
	find(query("one"), 0, "nobody answers")
	find(query("two"), 3, "nobody answers, and nobody is asked")
	shared.away = false

	find(query("gone there"), 4, "before it is lost")
	must(t, there.Forget("gone there.warc.gz", 0))
	must(t, here.Forget("gone here.warc.gz", 0))
	shared.carry(other, func(k, v []byte) {})
	find(query("gone there"), 0, "the other store has lost it")
	find(query("gone here"), 0, "this store knows that it is lost")
	for k := range shared.rows {
		shared.rows[k] = []byte{2, 9, 9, 9}
	}
	find(query("one"), 0, "the row is damaged")
}

// TestImportedRecordsAreShared looks for the record of an imported file in the shared index. Its SHA-256 is not known.
func TestImportedRecordsAreShared(t *testing.T) {
	t.Parallel()
	other, db, shared := openStore(t, t.TempDir()), openStore(t, t.TempDir()), newShared(t)
	c := dedup.Collection{Number: 1, Name: "old", Hash: "sha256:old", State: dedup.Active, Files: []string{"old.warc.gz"}}
	must(t, openIndex(t, other).Store(c, original("http://old/", "of old", "old.warc.gz", 1)))
	shared.carry(other, func(k, v []byte) {
		must(t, db.Update(func(txn *badger.Txn) error { return txn.Set(k, v) }))
	})
	here, q := shared.open(db), dedup.Query{Key: keyOf("of old"), URI: "http://b.example/"}
	q.Strong = digest.SHA256(sha256.Sum256([]byte("of old"))).Half()
	m, err := here.Find(q)
	if must(t, err); m.Origin.File != "old.warc.gz" || shared.asked != 2 {
		t.Errorf("found %+v with %d questions, want the imported record with one, and one about its file", m, shared.asked)
	}
	c.State = dedup.Removed
	must(t, here.Store(c))
	if m, err = here.Find(q); err != nil || m.Hit != dedup.Miss {
		t.Errorf("the record of a removed collection is found: %+v, %v", m, err)
	}
}

// TestCountsContinueInAnotherStore counts revisits in a store that has none of the rows of the store before. What
// cannot be asked for is counted later.
func TestCountsContinueInAnotherStore(t *testing.T) {
	t.Parallel()
	before, db, shared := openStore(t, t.TempDir()), openStore(t, t.TempDir()), newShared(t)
	o := original("http://a.example/", "one", "a.warc.gz", 1)
	i := shared.open(before)
	spent := func(copies int64, want bool) {
		t.Helper()
		got, err := i.Spent(dedup.Policy{Copies: copies}, o.Origin, noon)
		if must(t, err); got != want {
			t.Errorf("with %d revisits the record is spent: %t", copies, got)
		}
	}
	refer := func(n int) {
		t.Helper()
		for range n {
			must(t, i.Refer(o.Origin))
		}
		must(t, i.Flush())
	}
	must(t, i.Put(o.Key, o.Origin))
	refer(300)
	shared.carry(before, func(k, v []byte) {})
	i = shared.open(db)
	spent(300, true)
	spent(301, false)
	shared.away = true
	refer(2)
	spent(3, false) // nobody says how many there were
	shared.away = false
	spent(302, true)
	refer(1)
	shared.carry(db, func(k, v []byte) {})
	shared.away = true
	spent(303, true)
	spent(304, false)
	i, shared.away = shared.open(openStore(t, t.TempDir())), false
	spent(303, true)
}

// TestAStoreKeepsOnlySomeRows removes rows from a store that others have, but no loss and no name of a file.
func TestAStoreKeepsOnlySomeRows(t *testing.T) {
	t.Parallel()
	db, shared := openStore(t, t.TempDir()), newShared(t)
	i := shared.open(db)
	const all, keep = 100_000, 40_000
	put := i.Putting
	for from := 0; from < all; from += 500 {
		must(t, db.Update(func(txn *badger.Txn) error {
			for n := from; n < from+500; n++ {
				o := original("http://a.example/", strconv.Itoa(n), "a.warc.gz", n+1)
				if err := put(o.Key, o.Origin, dedup.Digest)(txn); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	must(t, i.Forget("gone.warc.gz", 0))
	count := func() (n int) {
		must(t, db.View(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("d")})
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				n++
			}
			return nil
		}))
		return n
	}
	must(t, i.Flush())
	if n := count(); n != all+2 {
		t.Errorf("%d rows are left without a bound, want %d", n, all+2)
	}
	shared.keep = keep
	for range 40 { // each time removes what follows a random place
		must(t, i.Flush())
	}
	if n := count(); n < keep/2 || n > keep*3/2 {
		t.Errorf("%d rows are left, want about %d", n, keep)
	}
	if len(i.Losses()) != 1 || len(openIndex(t, db).Losses()) != 1 {
		t.Error("the loss was removed")
	}
	shared.away = true
	left := 0
	for n := range all {
		if m := hits(t, i, strconv.Itoa(n)); m.Hit != dedup.Miss && m.Origin.File == "a.warc.gz" {
			left++
		}
	}
	if n := count(); left != n-2 {
		t.Errorf("%d payloads are found, want %d", left, n-2)
	}
}
