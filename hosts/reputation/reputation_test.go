package reputation_test

import (
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/uri"
)

func open(t *testing.T, dir string) (*badger.DB, *reputation.Book) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	book, err := reputation.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return db, book
}

var seen = []evaluators.Observation{
	{MIME: "text/html", Before: evaluators.Validators{ETag: `"a"`}, Now: evaluators.Validators{ETag: `"a"`}, State: evaluators.Changed},
	{MIME: "text/html", Before: evaluators.Validators{ETag: `W/"a"`}, Now: evaluators.Validators{ETag: `W/"b"`}, State: evaluators.Changed},
	{MIME: "image/png", Before: evaluators.Validators{LastModified: "x"}, Now: evaluators.Validators{LastModified: "x"}, State: evaluators.Unchanged},
	{MIME: "text/html", State: evaluators.Changed, Denied: true},
}

func TestWhatWasObservedIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, book := open(t, dir)
	var want evaluators.Reputation
	for _, o := range seen {
		want = want.After(o)
		if err := book.Add("a.example", o); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, book = open(t, dir)
	defer db.Close()
	got, err := book.Of("a.example")
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if other, err := book.Of("a.example:8080"); err != nil || other != (evaluators.Reputation{}) {
		t.Errorf("a host that was never seen has %+v, %v", other, err)
	}
	hosts := 0
	err = book.Each(func(h uri.Host, r evaluators.Reputation) error {
		hosts++
		if h != "a.example" || r != want {
			t.Errorf("Each tells of %s %+v", h, r)
		}
		return nil
	})
	if err != nil || hosts != 1 {
		t.Errorf("Each told of %d hosts, %v", hosts, err)
	}
}

func TestObservationsOfManyGoroutinesAllCount(t *testing.T) {
	t.Parallel()
	db, book := open(t, t.TempDir())
	defer db.Close()
	const workers, each = 8, 25
	done := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for range each {
				_, asked := book.Of("a.example") // what is kept in memory must not outlive an observation
				err = errors.Join(err, asked, book.Add("a.example", seen[2]))
			}
			done <- err
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r, err := book.Of("a.example")
	if n := r[evaluators.ClassOther][evaluators.WitnessLastModified].SameRight; err != nil || n != workers*each {
		t.Errorf("%d of %d observations counted, %v", n, workers*each, err)
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	t.Parallel()
	db, book := open(t, t.TempDir())
	defer db.Close()
	for name, value := range map[string][]byte{
		"empty": {}, "another format": {9, 0xa0}, "no CBOR": {1, 0xff}, "no such witness": {1, 0xa1, 1, 0x81, 0xa1, 2, 0x18, 99},
	} {
		err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("tx.example"), value) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := book.Of("x.example"); !errors.Is(err, reputation.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err := book.Add("x.example", seen[0]); !errors.Is(err, reputation.ErrCorrupt) {
			t.Errorf("%s: added to, %v", name, err)
		}
		if err := book.Each(func(uri.Host, evaluators.Reputation) error { return nil }); !errors.Is(err, reputation.ErrCorrupt) {
			t.Errorf("%s: listed, %v", name, err)
		}
	}
}
