package frontier_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

func TestAlsoWriteIsPartOfTheSettlement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/", "http://b.example/")
	has := func(key string) bool {
		t.Helper()
		err := w.DB().View(func(txn *badger.Txn) error { _, err := txn.Get([]byte(key)); return err })
		if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	c := w.claim(day, "http://a.example/")
	broken := errors.New("broken")
	o := visited(c, day, time.Hour)
	o.AlsoWrite = func(txn *badger.Txn) error { return errors.Join(txn.Set([]byte("z1"), nil), broken) }
	_, err := w.Settle(c, o)
	w.wantErr(err, broken)
	if has("z1") {
		t.Error("a failed settlement was written")
	}
	tries := 0
	o.AlsoWrite = func(txn *badger.Txn) error { // the first three times another transaction changes a key that it has read
		if _, err := txn.Get([]byte("z2")); err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		if tries++; tries <= 3 {
			w.wantErr(w.DB().Update(func(other *badger.Txn) error { return other.Set([]byte("z2"), nil) }), nil)
		}
		return txn.Set([]byte("z1"), nil)
	}
	w.settle(c, o)
	if !has("z1") || tries != 4 {
		t.Errorf("written: %t, after %d tries; want it after 4", has("z1"), tries)
	}
	w.nextAt(day, "http://b.example/")
	w.check()
}
