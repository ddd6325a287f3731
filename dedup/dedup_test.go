package dedup_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

func openStore(t testing.TB, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20).WithValueLogFileSize(16 << 20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// withoutWWW is what makes URIs equivalent in these tests.
func withoutWWW(uri string) string { return strings.Replace(uri, "//www.", "//", 1) }

func openIndex(t testing.TB, db *badger.DB) *dedup.Index {
	t.Helper()
	i, err := dedup.Open(db, dedup.Options{Name: withoutWWW})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func origin(payload string, n int) digest.Origin {
	return digest.Origin{
		RecordID: fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012d", n), URI: "http://a.example/",
		Date: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC), Payload: digest.Of([]byte(payload)),
		File: "a-\xff.warc.gz", Offset: int64(n), Length: 2, Size: 3,
	}
}

func want(t *testing.T, i *dedup.Index, k dedup.Key, o digest.Origin) {
	t.Helper()
	got, err := i.Find(dedup.Query{Key: k, URI: "http://a.example/"})
	if err != nil || (got.Hit == dedup.Miss) != o.IsZero() {
		t.Fatalf("Find(%v) = %v, %v; want %v", k, got.Hit, err, o)
	}
	if diff := cmp.Diff(o, got.Origin); diff != "" {
		t.Errorf("Find(%v): -want +got:\n%s", k, diff)
	}
}

func TestTheFirstRecordOfAPayloadStaysItsOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, dir)
	i := openIndex(t, db)
	k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "text/html"}
	want(t, i, k, digest.Origin{})
	for n := range 3 {
		if err := i.Put(k, origin("p", n)); err != nil {
			t.Fatal(err)
		}
		want(t, i, k, origin("p", 0))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	i = openIndex(t, openStore(t, dir)) // it survives
	want(t, i, k, origin("p", 0))
	if err := i.Put(k, origin("p", 9)); err != nil {
		t.Fatal(err)
	}
	want(t, i, k, origin("p", 0))
}

func TestWhichCapturesAreTheSame(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	p := digest.Of([]byte("p"))
	if err := i.Put(dedup.Key{Payload: p, Status: 200, MIME: "text/html"}, origin("p", 1)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		key  dedup.Key
		same bool
	}{
		{"the same in all", dedup.Key{Payload: p, Status: 200, MIME: "text/html"}, true},
		{"letter case does not count", dedup.Key{Payload: p, Status: 200, MIME: "Text/HTML"}, true},
		{"parameters do not count", dedup.Key{Payload: p, Status: 200, MIME: " text/html ; charset=utf-8"}, true},
		{"another status", dedup.Key{Payload: p, Status: 404, MIME: "text/html"}, false},
		{"another media type", dedup.Key{Payload: p, Status: 200, MIME: "text/plain"}, false},
		{"no media type", dedup.Key{Payload: p, Status: 200}, false},
		{"another payload", dedup.Key{Payload: digest.Of([]byte("q")), Status: 200, MIME: "text/html"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := digest.Origin{}
			if c.same {
				o = origin("p", 1)
			}
			want(t, i, c.key, o)
		})
	}
}

func TestPutRefuses(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	p := digest.Of([]byte("p"))
	for _, c := range []struct {
		name   string
		key    dedup.Key
		origin digest.Origin
	}{
		{"no payload digest", dedup.Key{Status: 200}, origin("p", 1)},
		{"a visit without an answer", dedup.Key{Payload: p, Status: -4}, origin("p", 1)},
		{"a status that does not fit", dedup.Key{Payload: p, Status: 65736}, origin("p", 1)},
		{"no record", dedup.Key{Payload: p, Status: 200}, digest.Origin{}},
		{"a record of another payload", dedup.Key{Payload: p, Status: 200}, origin("q", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := i.Put(c.key, c.origin); err == nil {
				t.Errorf("Put(%v, %v) took it", c.key, c.origin)
			}
		})
	}
	want(t, i, dedup.Key{Payload: p, Status: 200}, digest.Origin{})
	if _, err := i.Find(dedup.Query{}); err == nil {
		t.Error("Find of nothing")
	}
	if _, err := dedup.Open(nil, dedup.Options{}); err == nil {
		t.Error("Open without a store")
	}
}

func TestDamagedEntriesAreAnError(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	keys := map[string]dedup.Key{}
	for _, p := range []string{"p", "q"} {
		keys[p] = dedup.Key{Payload: digest.Of([]byte(p)), Status: 200}
		if err := i.Put(keys[p], origin(p, 1)); err != nil {
			t.Fatal(err)
		}
	}
	rows := map[string][]byte{}
	must(t, db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			must(t, err)
			rows[string(it.Item().Key())] = v
		}
		return nil
	}))
	if len(rows) != 2 {
		t.Fatalf("%d keys, want 2", len(rows))
	}
	for k, v := range rows {
		if k[0] != 'd' || len(k) != 31 || v[0] != 1 {
			t.Fatalf("key %q, value %q; want a key of 31 bytes with 'd', format 1", k, v)
		}
		var other []byte
		for l, w := range rows {
			if l != k {
				other = w
			}
		}
		for name, harmed := range map[string][]byte{
			"empty": nil, "of another payload": other, "of a later format": append([]byte{2}, v[1:]...), "cut": v[:len(v)-1],
			"no map": {1, 0x01}, "an empty map": {1, 0xa0},
		} {
			must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(k), harmed) }))
			for p, key := range keys {
				if string(key.Payload[:]) != k[1:21] {
					continue
				}
				if m, err := i.Find(dedup.Query{Key: key}); m.Hit != dedup.Miss || !errors.Is(err, dedup.ErrCorrupt) {
					t.Errorf("%s %s: Find = %v, %v; want that it is damaged", p, name, m, err)
				}
				if err := i.Put(key, origin(p, 2)); !errors.Is(err, dedup.ErrCorrupt) {
					t.Errorf("%s %s: Put: %v; want that it is damaged", p, name, err)
				}
			}
		}
		must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(k), v) }))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneOfManyAtOnceIsFirst(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200}
	seen := make([]digest.Origin, 8)
	var workers sync.WaitGroup
	for n := range seen {
		workers.Go(func() {
			if err := i.Put(k, origin("p", n)); err != nil {
				t.Error(err)
			}
			m, err := i.Find(dedup.Query{Key: k})
			if err != nil || m.Hit == dedup.Miss {
				t.Error(m, err)
			}
			seen[n] = m.Origin
		})
	}
	workers.Wait()
	for _, o := range seen {
		if o != seen[0] {
			t.Errorf("two goroutines saw different origins: %v and %v", o, seen[0])
		}
	}
}
