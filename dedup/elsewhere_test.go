package dedup_test

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

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
