package dedup_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

func openStore(t testing.TB, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20).
		WithValueLogFileSize(16 << 20))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// withoutWWW returns the name that equivalent URIs share in these tests.
func withoutWWW(uri string) string { return strings.Replace(uri, "//www.", "//", 1) }

func openIndex(t testing.TB, db *badger.DB) *dedup.Index {
	t.Helper()
	i, err := dedup.Open(db, dedup.Options{Name: withoutWWW})
	must(t, err)
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

func TestKeysIdentifyEqualCaptures(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	p := digest.Of([]byte("p"))
	must(t, i.Put(dedup.Key{Payload: p, Status: 200, MIME: "text/html"}, origin("p", 1)))
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
		{"another framing", dedup.Key{Payload: p, Status: 200, MIME: "text/html", Framing: digest.Chunked}, false},
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

func TestPutRefusesInvalidArguments(t *testing.T) {
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
				t.Errorf("Put(%v, %v) succeeds, want an error", c.key, c.origin)
			}
		})
	}
	want(t, i, dedup.Key{Payload: p, Status: 200}, digest.Origin{})
	if _, err := i.Find(dedup.Query{}); err == nil {
		t.Error("Find accepts an empty query")
	}
	if _, err := dedup.Open(nil, dedup.Options{}); err == nil {
		t.Error("Open accepts a missing store")
	}
}

func TestDamagedEntriesAreAnError(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	keys := map[string]dedup.Key{}
	for _, p := range []string{"p", "q"} {
		keys[p] = dedup.Key{Payload: digest.Of([]byte(p)), Status: 200}
		must(t, i.Put(keys[p], origin(p, 1)))
	}
	rows := map[string][]byte{}
	must(t, db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			must(t, err)
			if string(it.Item().Key()[1:21]) == string(make([]byte, 20)) {
				continue // this row holds the name of the file
			}
			rows[string(it.Item().Key())] = v
		}
		return nil
	}))
	if len(rows) != 2 {
		t.Fatalf("%d keys, want 2", len(rows))
	}
	for k, v := range rows {
		if k[0] != 'd' || len(k) != 31 || v[0] != 2 {
			t.Fatalf("key %q, value %q; want a key of 31 bytes with 'd', format 2", k, v)
		}
		var other []byte
		for l, w := range rows {
			if l != k {
				other = w
			}
		}
		for name, harmed := range map[string][]byte{
			"empty": nil, "of another payload": other, "of a later format": append([]byte{3}, v[1:]...), "cut": v[:len(v)-1], "changed": append(v[:len(v)-3:len(v)-3], 'x', v[len(v)-2], v[len(v)-1]),
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

func TestOneOfManyConcurrentPutsIsFirst(t *testing.T) {
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

// TestEntriesInTheLongFormAreRead reads values that were written by versions before the short form.
func TestEntriesInTheLongFormAreRead(t *testing.T) {
	t.Parallel()
	const key = "64516b9783fca517eecbd1d064da2d165310b1975900c8bb4770ff4ac5b7d2"
	without := origin("p", 7)
	without.RecordID, without.File, without.Date, without.Offset, without.Length, without.Size = "", "", time.Time{}, 0, 0, 0
	for _, c := range []struct {
		name, value string
		want        digest.Origin
	}{
		{"all that can be known", "01a801582d75726e3a757569643a30303030303030302d303030302d343030302d383030302d3030303030303030303030370251687474" +
			"703a2f2f612e6578616d706c652f031b00064bf535b0f2400454516b9783fca517eecbd1d064da2d165310b19759054b612dff2e776172632e677a060707020803", origin("p", 7)},
		{"URI and payload only", "01a301400251687474703a2f2f612e6578616d706c652f0454516b9783fca517eecbd1d064da2d165310b19759", without},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openStore(t, t.TempDir())
			must(t, db.Update(func(txn *badger.Txn) error { return txn.Set(unhex(t, key), unhex(t, c.value)) }))
			i := openIndex(t, db)
			k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "text/html"}
			want(t, i, k, c.want)
			must(t, i.Put(k, origin("p", 8)))
			want(t, i, k, c.want) // the first record stays the origin
			must(t, i.Replace(k, origin("p", 8)))
			want(t, i, k, origin("p", 8)) // stored in the short form
		})
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	must(t, err)
	return b
}

func TestFindReturnsTheRecordThatWasPut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(o *digest.Origin)
	}{
		{"as arcrawl writes it", func(*digest.Origin) {}},
		{"whole seconds", func(o *digest.Origin) { o.Date = o.Date.Truncate(time.Second) }},
		{"no date", func(o *digest.Origin) { o.Date = time.Time{} }},
		{"a date before 1970", func(o *digest.Origin) { o.Date = time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC) }},
		{"the first second of 1970", func(o *digest.Origin) { o.Date = time.Date(1970, 1, 1, 0, 0, 0, 5000, time.UTC) }},
		{"an id that is no UUID", func(o *digest.Origin) { o.RecordID = "urn:x:\xff" }},
		{"an id with capitals", func(o *digest.Origin) { o.RecordID = strings.ToUpper(o.RecordID) }},
		{"an id with a hyphen elsewhere", func(o *digest.Origin) { o.RecordID = "urn:uuid:000000000-000-4000-8000-000000000001" }},
		{"no id", func(o *digest.Origin) { o.RecordID = "" }},
		{"no URI", func(o *digest.Origin) { o.URI = "" }},
		{"no file", func(o *digest.Origin) { o.File = "" }},
		{"large numbers", func(o *digest.Origin) { o.Offset, o.Length, o.Size = 1<<62, 1<<40, 1<<63-1 }},
		{"numbers that cannot be", func(o *digest.Origin) { o.Offset, o.Length, o.Size = -1, -1, -1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			db := openStore(t, dir)
			i := openIndex(t, db)
			k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "text/html"}
			o := origin("p", 1)
			c.change(&o)
			must(t, i.Put(k, o))
			want(t, i, k, o)
			must(t, db.Close())
			i = openIndex(t, openStore(t, dir))
			want(t, i, k, o)
		})
	}
}

func TestOnlyTheSameBytesAreTheSame(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 20_000) // more than is read at a time
	for _, c := range []struct {
		name, stored, received string
		same                   bool
	}{
		{"nothing", "", "", true},
		{"a short payload", "abc", "abc", true},
		{"a long payload", long, long, true},
		{"another byte", "abc", "abd", false},
		{"another last byte of a long one", long, long[:len(long)-1] + "x", false},
		{"the stored one is longer", "abcd", "abc", false},
		{"the received one is longer", "abc", "abcd", false},
		{"a long stored one is longer", long + "x", long, false},
		{"nothing was received", "abc", "", false},
		{"the stored one is longer by whole blocks", long, long[:64<<10], false},
	} {
		err := dedup.SameBytes(strings.NewReader(c.stored), strings.NewReader(c.received))
		if (err == nil) != c.same || err != nil && !errors.Is(err, dedup.ErrDiffers) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	broken := errors.New("the disk fails")
	if err := dedup.SameBytes(iotest.ErrReader(broken), strings.NewReader("abc")); !errors.Is(err, broken) || errors.Is(err, dedup.ErrDiffers) {
		t.Errorf("a stored payload that cannot be read: %v", err)
	}
}
