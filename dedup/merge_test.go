package dedup_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

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
