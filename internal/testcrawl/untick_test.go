package testcrawl_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestAStoreWithoutPeriodicWorkIsUsedAsBefore plays a month with a store. Badger measures the folder each minute; that
// it does not see a file that appears after an hour shows that this work has stopped.
func TestAStoreWithoutPeriodicWorkIsUsedAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		options := badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(1 << 20).WithValueThreshold(1 << 10).
			WithBlockCacheSize(1 << 20).WithIndexCacheSize(1 << 20).WithNumCompactors(0)
		db, err := badger.Open(options)
		if err != nil {
			t.Fatal(err)
		}
		testcrawl.Untick(t, db)
		before, _ := db.Size()
		time.Sleep(time.Hour)
		if err := os.WriteFile(filepath.Join(dir, "000999.sst"), make([]byte, 4<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * 24 * time.Hour)
		if after, _ := db.Size(); after != before {
			t.Errorf("the store measured its folder: %d bytes, before %d", after, before)
		}
		for i := range 20_000 { // several tables
			key := []byte{byte(i >> 8), byte(i)}
			if err := db.Update(func(txn *badger.Txn) error { return txn.Set(key, make([]byte, 100)) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "000999.sst")); err != nil {
			t.Fatal(err)
		}
		if db, err = badger.Open(options); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.View(func(txn *badger.Txn) error { _, err := txn.Get([]byte{1, 1}); return err })
		if err != nil {
			t.Errorf("a row is not there: %v", err)
		}
	})
}
