package hosts_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

func reputationOpen(t *testing.T, dir string) (*badger.DB, *hosts.Reputation) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	store, err := hosts.OpenReputation(db)
	if err != nil {
		t.Fatal(err)
	}
	return db, store
}

var seen = []evaluators.Observation{
	{MIME: "text/html", Before: evaluators.Validators{ETag: `"a"`}, Now: evaluators.Validators{ETag: `"a"`}, State: evaluators.Changed},
	{MIME: "text/html", Before: evaluators.Validators{ETag: `W/"a"`}, Now: evaluators.Validators{ETag: `W/"b"`}, State: evaluators.Changed},
	{MIME: "image/png", Before: evaluators.Validators{LastModified: "x"}, Now: evaluators.Validators{LastModified: "x"}, State: evaluators.Unchanged},
	{MIME: "text/html", State: evaluators.Changed, Denied: true},
}

func TestReputationsSurviveReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, store := reputationOpen(t, dir)
	var want evaluators.Reputation
	for _, o := range seen {
		want = want.After(o)
		if err := store.Add("a.example", o); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, store = reputationOpen(t, dir)
	defer db.Close()
	got, err := store.Get("a.example")
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if other, err := store.Get("a.example:8080"); err != nil || other != (evaluators.Reputation{}) {
		t.Errorf("an unknown host has %+v, %v; want a zero reputation", other, err)
	}
	hosts := 0
	err = store.Each(func(h uri.Host, r evaluators.Reputation) error {
		hosts++
		if h != "a.example" || r != want {
			t.Errorf("Each lists the host %s with %+v", h, r)
		}
		return nil
	})
	if err != nil || hosts != 1 {
		t.Errorf("Each lists %d hosts, %v; want 1", hosts, err)
	}
}

func TestObservationsOfManyGoroutinesAllCount(t *testing.T) {
	t.Parallel()
	db, store := reputationOpen(t, t.TempDir())
	defer db.Close()
	const workers, each = 8, 25
	done := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for range each {
				_, getErr := store.Get("a.example") // the next Get must see the observation
				err = errors.Join(err, getErr, store.Add("a.example", seen[2]))
			}
			done <- err
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r, err := store.Get("a.example")
	if n := r[evaluators.ClassOther][evaluators.WitnessLastModified].SameRight; err != nil || n != workers*each {
		t.Errorf("%d of %d observations counted, %v", n, workers*each, err)
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	t.Parallel()
	db, store := reputationOpen(t, t.TempDir())
	defer db.Close()
	for name, value := range map[string][]byte{
		"empty": {}, "another format": {9, 0xa0}, "not CBOR": {1, 0xff}, "an unknown witness": {1, 0xa1, 1, 0x81, 0xa1, 2, 0x18, 99},
	} {
		err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("tx.example"), value) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get("x.example"); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: reading returns %v, want ErrCorrupt", name, err)
		}
		if err := store.Add("x.example", seen[0]); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: adding an observation returns %v, want ErrCorrupt", name, err)
		}
		if err := store.Each(func(uri.Host, evaluators.Reputation) error { return nil }); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: listing returns %v, want ErrCorrupt", name, err)
		}
	}
}

func TestTheStoredFormStays(t *testing.T) {
	t.Parallel()
	db, store := reputationOpen(t, t.TempDir())
	defer db.Close()
	if err := errors.Join(store.Add("a.example", seen[2]), store.AddDate("a.example", evaluators.DatedPages, true)); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"ta.example":  "01a10182a201010701a40101020205010901",
		"pFa.example": "01a10181a3010103010901",
	} {
		err := db.View(func(txn *badger.Txn) error {
			item, err := txn.Get([]byte(key))
			if err != nil {
				return err
			}
			return item.Value(func(v []byte) error {
				if got := fmt.Sprintf("%x", v); got != want {
					t.Errorf("the row of %s is %s, want %s", key, got, want)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}
