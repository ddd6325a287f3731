package dedup_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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

func begin(t *testing.T, i *dedup.Index, c dedup.Collection) *dedup.Import {
	t.Helper()
	m, err := i.Begin(c, noon)
	must(t, err)
	return m
}

func hits(t *testing.T, i *dedup.Index, payload string) dedup.Match {
	t.Helper()
	m, err := i.Find(dedup.Query{Key: keyOf(payload), URI: "http://asks.example/"})
	must(t, err)
	return m
}

func inventory(t *testing.T, i *dedup.Index) []dedup.Row {
	t.Helper()
	rows, err := i.Inventory(t.Context())
	must(t, err)
	return rows
}

func TestACollectionCountsOnceItIsComplete(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	one, two := original("http://a.example/", "one", "a.warc.gz", 1), original("http://a.example/2", "two", "a.warc.gz", 2)
	c := dedup.Collection{Name: "a.wacz", Hash: "sha256:a", Size: 9, Crawl: "c1"}
	m := begin(t, i, c)
	must(t, m.Add([]dedup.Found{one, revisit(one), original("http://b.example/", "one", "a.warc.gz", 3)}, 1, 100))
	if hits(t, i, "one").Hit != dedup.Miss {
		t.Error("a record counts before its collection is complete")
	}

	i = openIndex(t, db) // the process died
	if hits(t, i, "one").Hit != dedup.Miss {
		t.Error("a record counts though its import was interrupted")
	}
	m = begin(t, i, dedup.Collection{Name: "renamed.wacz", Hash: "sha256:a", Crawl: "c1"})
	if got := m.Collection(); got.Position != 100 || got.Entries != 2 || got.Refs != 1 || got.Skipped != 1 {
		t.Fatalf("the import continues with %+v", got)
	}
	must(t, m.Add([]dedup.Found{two}, 0, 200))
	must(t, m.Done(noon))
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
	before := i.Collections()
	if begin(t, i, c) != nil {
		t.Error("a complete collection is imported again")
	}
	if diff := cmp.Diff(before, i.Collections()); diff != "" {
		t.Errorf("importing the same twice changed (-before +after):\n%s", diff)
	}
	if begin(t, i, dedup.Collection{Name: "a.wacz", Hash: "sha256:a", Crawl: "c2"}) == nil {
		t.Error("the same file of another crawl is not imported")
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
	for n, c := range []dedup.Collection{{Name: "a", Hash: "sha256:a"}, {Name: "b", Hash: "sha256:b"}} {
		m := begin(t, i, c)
		if n == 0 {
			must(t, m.Add([]dedup.Found{one, original("http://a.example/2", "two", "a.warc.gz", 2)}, 0, 1))
		} else {
			must(t, m.Add([]dedup.Found{revisit(one), byID}, 0, 1))
		}
		must(t, m.Done(noon))
	}
	must(t, i.Refer(one.Origin))
	must(t, i.Remove(1, noon))
	holds := func(number int, want dedup.Row) {
		t.Helper()
		got := inventory(t, i)[number]
		got.Number, got.Name, got.State, got.Hash, got.Changed = 0, "", "", "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("collection %d -want +got:\n%s", number, diff)
		}
	}
	check := func() {
		t.Helper()
		if hits(t, i, "one").Hit != dedup.Miss || !i.Lost(one.Origin) {
			t.Error("a record of a removed collection still counts")
		}
		holds(1, dedup.Row{Originals: 2, Bytes: 6, Referred: 1, References: 3})
	}
	check()
	i = openIndex(t, db)
	check()
	if begin(t, i, dedup.Collection{Name: "a", Hash: "sha256:a"}) != nil || hits(t, i, "one").Hit != dedup.Other || i.Lost(one.Origin) {
		t.Error("importing a removed collection again does not restore it")
	}
	must(t, i.Remove(1, noon))
	must(t, i.Remove(2, noon))
	holds(1, dedup.Row{Originals: 2, Bytes: 6, Referred: 1, References: 1})
	if n, err := i.Purge(t.Context()); err != nil || n != 4 {
		t.Errorf("Purge = %d, %v; want two originals and two counts", n, err)
	}
	if len(i.Collections()) != 0 {
		t.Errorf("after the purge there are %v", i.Collections())
	}
	if err := i.Remove(7, noon); err == nil {
		t.Error("Remove accepts an unknown collection")
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
	holds(0, dedup.Row{Originals: 1, Bytes: 3, Referred: 1, References: 1}) // by the crawl itself
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

	imported := func(i *dedup.Index, name, payload string) {
		t.Helper()
		im := begin(t, i, dedup.Collection{Name: name, Hash: "sha256:" + name})
		must(t, im.Add([]dedup.Found{original("http://"+name+"/", payload, name+".warc.gz", 1)}, 0, 1))
		must(t, im.Done(noon))
	}
	imported(first, "old", "of old")
	imported(second, "other", "of other") // the same number as old
	imported(second, "old", "of old")
	imported(second, "removed", "twice")
	for _, c := range second.Collections() {
		if c.Name == "removed" {
			must(t, second.Remove(c.Number, noon))
		}
	}
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
	if own := inventory(t, all)[0]; own.Referred != 1 || own.References != 2 {
		t.Errorf("%d revisits of %d originals are counted, want 2 of 1", own.References, own.Referred)
	}
	list := all.Collections()
	if len(list) != 3 || list[0].Name != "old" || list[1].Name != "other" || list[2].State != dedup.Removed {
		t.Fatalf("the collections are %+v", list)
	}
	for _, c := range list[:2] {
		must(t, all.Remove(c.Number, noon))
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
	read := func(index int, key []byte) (v []byte) {
		if index != 7 {
			t.Errorf("index %d is asked, want 7", index)
		}
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
		v := read(7, key)
		if v == nil {
			return dedup.CopyOf(nil, read)
		}
		return dedup.CopyOf(append(binary.BigEndian.AppendUint16(nil, 7), v...), read)
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
