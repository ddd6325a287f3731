package frontier_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
)

// has reports whether a transaction can read a key.
func has(t testing.TB, txn *badger.Txn, key string) bool {
	t.Helper()
	_, err := txn.Get([]byte(key))
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// look calls see with the transaction that the next reader gets.
func (w *world) look(see func(txn *badger.Txn)) {
	w.Helper()
	w.wantErr(w.View(func(txn *badger.Txn) error { see(txn); return nil }), nil)
}

func TestReadersShareATransactionUntilTheFrontierChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	o := visited(c, day, time.Hour)
	o.AlsoWrite = func(txn *badger.Txn) error { return txn.Set([]byte("z1"), nil) }
	var before *badger.Txn
	w.look(func(txn *badger.Txn) { before = txn })
	w.look(func(txn *badger.Txn) {
		if txn != before {
			t.Error("the next reader has another transaction, although nothing changed")
		}
		w.settle(c, o)
		if has(t, txn, "z1") {
			t.Error("a transaction sees a later write")
		}
		w.look(func(newcomer *badger.Txn) {
			if newcomer == txn || !has(t, newcomer, "z1") {
				t.Error("a reader after a settlement does not see it")
			}
		})
		if has(t, txn, "z1") {
			t.Error("a transaction in use was replaced")
		}
	})
	f := w.Frontier
	w.close()
	w.wantErr(f.View(func(*badger.Txn) error { t.Error("a closed store was read"); return nil }), frontier.ErrClosed)
}

func TestSyncShowsReadersTheWritesOfOtherPackages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.look(func(*badger.Txn) {})
	w.wantErr(w.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte("z1"), nil) }), nil)
	w.wantErr(w.Sync(), nil)
	w.look(func(txn *badger.Txn) {
		if !has(t, txn, "z1") {
			t.Error("a write before the sync is not visible")
		}
	})
}
