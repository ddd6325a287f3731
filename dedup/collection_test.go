package dedup_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
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

// merge merges the indexes of some stores.
func merge(t *testing.T, damaged int, all ...*badger.DB) *dedup.Index {
	t.Helper()
	type row struct {
		index      int
		key, value []byte
	}
	var rows []row
	for i, db := range all {
		must(t, db.View(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.DefaultIteratorOptions)
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				v, err := it.Item().ValueCopy(nil)
				must(t, err)
				if k := it.Item().KeyCopy(nil); dedup.IsRow(k) {
					rows = append(rows, row{i, k, v})
				}
			}
			return nil
		}))
	}
	slices.SortStableFunc(rows, func(a, b row) int { return bytes.Compare(a.key, b.key) })
	to := openStore(t, t.TempDir())
	m := dedup.NewMerger(len(all), func(k, v []byte) error {
		return to.Update(func(txn *badger.Txn) error { return txn.Set(k, v) })
	})
	for _, r := range rows {
		must(t, m.Add(r.index, r.key, r.value))
	}
	must(t, m.End())
	if m.Damaged != damaged {
		t.Errorf("%d rows are damaged, want %d", m.Damaged, damaged)
	}
	return openIndex(t, to)
}

// TestIndexesAreMerged merges two indexes that have numbered different files and collections alike.
func TestIndexesAreMerged(t *testing.T) {
	t.Parallel()
	one, two := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	first, second := openIndex(t, one), openIndex(t, two)
	at := func(payload, file string, offset int64) digest.Origin {
		o := origin(payload, int(offset))
		o.File, o.Offset, o.Length = file, offset, 1
		o.URI = "http://" + file + "/"
		o.Date = time.Date(2026, 1, 1, 0, 0, int(offset), 0, time.UTC)
		return o
	}
	put := func(i *dedup.Index, payload, file string, offset int64) {
		t.Helper()
		must(t, i.Put(keyOf(payload), at(payload, file, offset)))
	}
	put(first, "only one", "a.warc.gz", 1)
	put(second, "only two", "b.warc.gz", 2) // the file has the number that a.warc.gz has in the other index
	put(first, "both", "a.warc.gz", 4)
	put(second, "both", "b.warc.gz", 3)
	put(first, "lost", "gone.warc.gz", 5)
	put(second, "lost", "b.warc.gz", 6)
	must(t, second.Forget("gone.warc.gz", 0))
	for range 2 {
		must(t, first.Refer(at("only one", "a.warc.gz", 1)))
	}
	must(t, first.Flush())

	imported := func(i *dedup.Index, number uint32, name, payload string, state dedup.State) {
		t.Helper()
		c := dedup.Collection{Number: number, Name: name, Hash: "sha256:" + name, State: state, Files: []string{name + ".warc.gz"}}
		must(t, i.Store(c, original("http://"+name+"/", payload, name+".warc.gz", 1)))
	}
	imported(first, 1, "old", "of old", dedup.Active)
	imported(second, 1, "other", "of other", dedup.Active) // the same number as old
	imported(second, 2, "old", "of old", dedup.Active)
	imported(second, 3, "removed", "twice", dedup.Removed)
	put(first, "twice", "old.warc.gz", 10_000_000)   // later than the record of the collection
	must(t, one.Update(func(txn *badger.Txn) error { // an entry that cannot be read
		return txn.Set(append([]byte("d"), bytes.Repeat([]byte{7}, 30)...), []byte("?"))
	}))

	all := merge(t, 1, one, two)
	for payload, file := range map[string]string{
		"only one": "a.warc.gz", "only two": "b.warc.gz", "both": "b.warc.gz", "lost": "b.warc.gz",
		"of old": "old.warc.gz", "of other": "other.warc.gz", "twice": "old.warc.gz",
	} {
		if m := hits(t, all, payload); m.Origin.File != file {
			t.Errorf("%s is in %q, want %q", payload, m.Origin.File, file)
		}
	}
	m, err := all.Find(dedup.Query{Key: keyOf("both"), URI: "http://a.warc.gz/", By: dedup.URI})
	if must(t, err); m.Hit != dedup.Exact || m.Origin.Offset != 4 {
		t.Errorf("the later record of both, for its own URI, is %+v", m)
	}
	if own := heldOf(t, all, 0); own.referred != 1 || own.references != 2 {
		t.Errorf("%d revisits of %d originals are counted, want 2 of 1", own.references, own.referred)
	}
	list := all.Collections()
	if len(list) != 3 || list[0].Name != "old" || list[1].Name != "other" || list[2].State != dedup.Removed {
		t.Fatalf("the collections are %+v", list)
	}
	for _, c := range list[:2] {
		c.State = dedup.Removed
		must(t, all.Store(c))
		if m := hits(t, all, "of "+c.Name); m.Hit != dedup.Miss {
			t.Errorf("the record of a removed collection is found: %+v", m)
		}
	}
	if l := all.Losses(); len(l) != 1 || l[0].File != "gone.warc.gz" {
		t.Errorf("the losses are %+v", l)
	}
}

// TestAPayloadOfAnotherIndexIsFound looks for payloads that only another index of the crawl has archived. What either
// index has lost, imported or damaged is archived again.
func TestAPayloadOfAnotherIndexIsFound(t *testing.T) {
	t.Parallel()
	db, other := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	there, err := dedup.Open(other, dedup.Options{})
	must(t, err)
	read := func(key []byte) (v []byte) {
		must(t, other.View(func(txn *badger.Txn) error {
			if item, err := txn.Get(key); err == nil {
				v, err = item.ValueCopy(nil)
				return err
			}
			return nil
		}))
		return v
	}
	here, err := dedup.Open(db, dedup.Options{Elsewhere: func(key []byte) dedup.Copy {
		return dedup.Copy{Value: read(key), Read: read}
	}})
	must(t, err)
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
	find(query("one"), 1, "the other index has it")
	find(query("two"), 3, "both have it")
	find(query("three"), 0, "nobody has it")
	by := query("one")
	by.By = dedup.URI
	find(by, 0, "only records of the same URI are wanted")
	by.By = dedup.URIFirst
	find(by, 1, "records of the same URI are preferred")
	weak := query("one")
	weak.Strong = digest.Half{}
	find(weak, 0, "the SHA-256 is not known")
	find(query("gone there"), 4, "before it is lost")
	must(t, there.Forget("gone there.warc.gz", 0))
	must(t, here.Forget("gone here.warc.gz", 0))
	find(query("gone there"), 0, "the other index has lost it")
	find(query("gone here"), 0, "this index knows that it is lost")
	must(t, other.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		var keys [][]byte
		for it.Rewind(); it.Valid(); it.Next() {
			keys = append(keys, it.Item().KeyCopy(nil))
		}
		it.Close()
		for _, k := range keys {
			if err := txn.Set(k, []byte{2, 9, 9, 9}); err != nil {
				return err
			}
		}
		return nil
	}))
	find(query("one"), 0, "the row is damaged")
}
