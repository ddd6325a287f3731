package hosts_test

import (
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

func TestReputationsOfDatesSurviveReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, store := reputationOpen(t, dir)
	var want evaluators.Dates
	for n := range 70 {
		about := evaluators.Dating(n % evaluators.Datings)
		want = want.After(about, n%3 > 0)
		if err := store.AddDate("a.example", about, n%3 > 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, store = reputationOpen(t, dir)
	defer db.Close()
	if got, err := store.Dates("a.example"); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if other, err := store.Dates("b.example"); err != nil || other != (evaluators.Dates{}) {
		t.Errorf("a host without dates has %+v, %v; want a zero value", other, err)
	}
	seen := map[uri.Host]evaluators.Dates{}
	err := store.EachDates(func(h uri.Host, d evaluators.Dates) error {
		seen[h] = d
		return nil
	})
	if err != nil || len(seen) != 1 || seen["a.example"] != want {
		t.Errorf("the hosts with dates are %+v, %v", seen, err)
	}
	err = store.Each(func(h uri.Host, _ evaluators.Reputation) error {
		t.Errorf("Each lists %s, which has only dates", h)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDatesOfManyGoroutinesAllCount(t *testing.T) {
	t.Parallel()
	db, store := reputationOpen(t, t.TempDir())
	defer db.Close()
	done := make(chan error)
	for range 4 {
		go func() {
			var err error
			for range 10 {
				err = errors.Join(err, store.AddDate("a.example", evaluators.DatedPages, true))
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if d, err := store.Dates("a.example"); err != nil || d[evaluators.DatedPages].ChangeRight != 40 {
		t.Errorf("the counts are %+v, %v; want 40", d, err)
	}
}

func TestADamagedRowOfDatesIsAnError(t *testing.T) {
	t.Parallel()
	db, store := reputationOpen(t, t.TempDir())
	defer db.Close()
	for name, row := range map[string]string{"empty": "", "another format": "\x02\xa0", "not CBOR": "\x01\xff", "unknown dates": "\x01\xa1\x01\x81\xa1\x01\x07"} {
		if err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("pFa.example"), []byte(row)) }); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Dates("a.example"); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: reading returns %v, want ErrCorrupt", name, err)
		}
		if err := store.AddDate("a.example", evaluators.DatedPages, true); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: adding a date returns %v, want ErrCorrupt", name, err)
		}
		if err := store.EachDates(func(uri.Host, evaluators.Dates) error { return nil }); !errors.Is(err, hosts.ErrCorrupt) {
			t.Errorf("%s: listing returns %v, want ErrCorrupt", name, err)
		}
	}
}
