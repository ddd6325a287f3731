package frontier_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestAlsoWriteIsPartOfTheSettlement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/", "http://b.example/")
	has := func(key string) (yes bool) {
		must(t, w.DB().View(func(txn *badger.Txn) error { yes = has(t, txn, key); return nil }))
		return yes
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
	full := w.claim(day, "http://b.example/") // the claim of a visit that finds no space ends as Abandon ends it
	o = visited(full, day, time.Hour)
	o.AlsoWrite = func(*badger.Txn) error { return frontier.ErrFull }
	_, err = w.Settle(full, o)
	w.wantErr(err, frontier.ErrFull)
	w.wantErr(w.Release(full, day), frontier.ErrStale)
	o = visited(c, day, time.Hour)
	o.Address = netip.MustParseAddr("::ffff:192.0.2.1")
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
	if got := w.Network("a.example"); got != netip.MustParsePrefix("192.0.2.1/32") {
		t.Errorf("the host is at %s", got)
	}
	w.nextAt(at(2*time.Second), "http://b.example/")
	w.check()
}
