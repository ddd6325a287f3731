package dedup_test

import (
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
