package frontier_test

import (
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
)

// An earlier version skipped a number of a host, to which nothing in the store refers. If anything does, the row of the
// host was lost.
func TestANumberThatNoHostHasIsFilledAtTheOpening(t *testing.T) {
	t.Parallel()
	const host = "\x00\x00\x00\x02"
	for _, c := range []struct {
		name    string
		remove  func(k string) bool
		damaged bool
	}{
		{"skipped", func(k string) bool { return k[0] != 'm' && k[1:] == "b.example" || len(k) > 4 && k[1:5] == host }, false},
		{"only the row is lost", func(k string) bool { return k == "h"+host }, true},
		{"the name is left", func(k string) bool { return k[0] != 'm' && len(k) > 4 && k[1:5] == host }, true},
	} {
		w := newWorld(t)
		w.add(day, "http://a.example/", "http://b.example/", "http://c.example/")
		w.close()
		removeKeys(t, w.o.Dir, c.remove)
		if c.damaged {
			w.o.Now = day
			if _, err := frontier.Open(w.o); !errors.Is(err, frontier.ErrCorrupt) {
				t.Errorf("%s: Open = %v, want that the store is damaged", c.name, err)
			}
			continue
		}
		w.open(day)
		w.check()
		if n := w.GapsFilled(); n != 1 {
			t.Errorf("%s: %d gaps were filled, want 1", c.name, n)
		}
		w.add(day, "http://d.example/") // it takes the number
		w.check()
		w.reopen(day)
		w.check()
		if n, hosts := w.GapsFilled(), w.Hosts(day); n != 0 || len(hosts) != 3 {
			t.Errorf("%s: at the next opening %d gaps were filled, and there are %d hosts; want none and 3", c.name, n, len(hosts))
		}
		for _, text := range []string{"http://a.example/", "http://c.example/", "http://d.example/"} {
			if _, ok, err := w.Get(parse(t, text)); !ok || err != nil {
				t.Errorf("%s: Get(%s) = %t, %v", c.name, text, ok, err)
			}
		}
	}
}

// removeKeys removes keys from the store of a closed frontier.
func removeKeys(t *testing.T, dir string, remove func(k string) bool) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithNumCompactors(0))
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	err = db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if k := it.Item().KeyCopy(nil); remove(string(k)) {
				keys = append(keys, k)
			}
		}
		return nil
	})
	err = errors.Join(err, db.Update(func(txn *badger.Txn) error {
		var err error
		for _, k := range keys {
			err = errors.Join(err, txn.Delete(k))
		}
		return err
	}), db.Close())
	if err != nil {
		t.Fatal(err)
	}
}
