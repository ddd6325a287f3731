package dedup_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

func open(t testing.TB, dir string) (*dedup.Index, *badger.DB) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(16 << 20))
	if err != nil {
		t.Fatal(err)
	}
	i, err := dedup.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return i, db
}

func origin(text, u string) digest.Origin {
	return digest.Origin{
		RecordID: "urn:uuid:6a1f6d6e-1d5f-4b0c-9a56-0c8a4f6f7f10", URI: u, Date: time.Date(2026, 11, 1, 12, 0, 0, 123456000, time.UTC),
		Payload: digest.Of([]byte(text)), File: "a.warc.gz", Offset: 512, Length: 300, Size: int64(len(text)),
	}
}

func TestAnEntrySurvivesReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	i, db := open(t, dir)
	want := origin("payload", "http://news.example/a")
	key := dedup.Key{Payload: want.Payload, Status: 200, MIME: "image/png"}
	if err := i.Put(key, want); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	i, db = open(t, dir)
	defer db.Close()
	got, ok, err := i.Lookup(key)
	if err != nil || !ok {
		t.Fatalf("Lookup: %t, %v, want the entry", ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheFirstRecordStaysTheOrigin(t *testing.T) {
	t.Parallel()
	i, db := open(t, t.TempDir())
	defer db.Close()
	first, second := origin("payload", "http://news.example/a"), origin("payload", "http://news.example/b")
	key := dedup.Key{Payload: first.Payload, Status: 200}
	for _, o := range []digest.Origin{first, second} {
		if err := i.Put(key, o); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, _ := i.Lookup(key); got.URI != first.URI {
		t.Errorf("the origin is %s, want the first, %s", got.URI, first.URI)
	}
}

func TestWhatMakesAPayloadTheSame(t *testing.T) {
	t.Parallel()
	i, db := open(t, t.TempDir())
	defer db.Close()
	o := origin("payload", "http://news.example/a")
	if err := i.Put(dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/html; charset=utf-8"}, o); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		key  dedup.Key
		want bool
	}{
		{"the parameters of the type do not matter", dedup.Key{Payload: o.Payload, Status: 200, MIME: "Text/HTML"}, true},
		{"another type is another capture", dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/plain"}, false},
		{"another status is another capture", dedup.Key{Payload: o.Payload, Status: 404, MIME: "text/html"}, false},
		{"another payload is another capture", dedup.Key{Payload: digest.Of(nil), Status: 200, MIME: "text/html"}, false},
	} {
		if _, got, err := i.Lookup(c.key); got != c.want || err != nil {
			t.Errorf("%s: found %t, %v, want %t", c.name, got, err, c.want)
		}
	}
}

func TestPutRefusesARecordOfAnotherPayload(t *testing.T) {
	t.Parallel()
	i, db := open(t, t.TempDir())
	defer db.Close()
	o := origin("payload", "http://news.example/a")
	if err := i.Put(dedup.Key{Payload: digest.Of([]byte("other")), Status: 200}, o); err == nil {
		t.Error("a key and a record with different payloads were taken")
	}
}

func TestADamagedEntryIsAnErrorAndNoRecord(t *testing.T) {
	t.Parallel()
	i, db := open(t, t.TempDir())
	defer db.Close()
	a, b := origin("a", "http://news.example/a"), origin("b", "http://news.example/b")
	keyA, keyB := dedup.Key{Payload: a.Payload, Status: 200}, dedup.Key{Payload: b.Payload, Status: 200}
	for _, put := range []struct {
		k dedup.Key
		o digest.Origin
	}{{keyA, a}, {keyB, b}} {
		if err := i.Put(put.k, put.o); err != nil {
			t.Fatal(err)
		}
	}
	// The first entry gets the bytes of the second, the second is cut short.
	err := db.Update(func(txn *badger.Txn) error {
		var keys, values [][]byte
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			keys, values = append(keys, it.Item().KeyCopy(nil)), append(values, v)
		}
		it.Close()
		if len(keys) != 2 {
			return fmt.Errorf("%d entries, want 2", len(keys))
		}
		if err := txn.Set(keys[0], values[1]); err != nil {
			return err
		}
		return txn.Set(keys[1], values[1][:5])
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []dedup.Key{keyA, keyB} {
		if o, ok, err := i.Lookup(k); err == nil || ok || !o.IsZero() {
			t.Errorf("a damaged entry was taken for %+v", o)
		}
	}
}

// How long does it take to look a payload up and to put it, at 100,000 entries?
func BenchmarkLookupAndPut(b *testing.B) {
	i, db := open(b, b.TempDir())
	defer db.Close()
	key := func(n int) (dedup.Key, digest.Origin) {
		o := origin(fmt.Sprint(n), "http://news.example/a")
		return dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/html"}, o
	}
	for n := range 100_000 {
		k, o := key(n)
		if err := i.Put(k, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for n := 100_000; b.Loop(); n++ {
		k, o := key(n)
		if _, ok, err := i.Lookup(k); ok || err != nil {
			b.Fatal(ok, err)
		}
		if err := i.Put(k, o); err != nil {
			b.Fatal(err)
		}
	}
}
