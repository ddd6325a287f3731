package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// passed counts the remains of earlier visits that a search in the host's queue skips between the watermark on disk and
// the first URI.
func passed(t *testing.T, f *Frontier) int {
	t.Helper()
	n := 0
	err := f.db.View(func(txn *badger.Txn) error {
		var w hostRow
		if _, err := readRow(txn, hostKey(1), &w); err != nil {
			return err
		}
		it := txn.NewIterator(badger.IteratorOptions{AllVersions: true, Prefix: key(kindQueue, 1, nil)})
		defer it.Close()
		var deleted []byte
		for it.Seek(queueKey(1, place([]byte(w.Mark)))); it.Valid(); it.Next() {
			switch item := it.Item(); {
			case bytes.Equal(item.Key(), deleted): // an earlier version of the deleted key
			case !item.IsDeletedOrExpired():
				return nil
			default:
				deleted = item.KeyCopy(deleted)
				n++
			}
		}
		return nil
	})
	noErr(t, err)
	return n
}

// The cost of a claim does not depend on the number of earlier visits to its host, because the queue is read from the
// watermark. Read from its head, the search would skip the remains of all earlier visits. The same holds right after
// a restart.
func TestWatermarkKeepsTheCostOfAClaimFlat(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	f := openTest(t, o)
	const uris, visits = 2000, 3000
	cs := make([]Candidate, uris)
	for i := range cs {
		// Half of them are due in the same millisecond.
		cs[i] = Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://a.example/%d", i)), Due: start.Add(time.Duration(i%2*i) * time.Millisecond)}
	}
	_, err := f.Add(start, cs...)
	noErr(t, err)
	now := start.Add(time.Hour)
	for i := range visits {
		now = now.Add(time.Second)
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := c.Record
		r.Due = now.Add(20 * time.Minute)
		if i%100 == 0 {
			r.Due = now // the watermark has to move back
		}
		_, err = f.Settle(c, Settlement{Record: r, Finished: now})
		noErr(t, err)
		if n := passed(t, f); n > 1 {
			t.Fatalf("after %d visits a search from the watermark skips %d remains, want at most 1", i+1, n)
		}
		if i%1000 == 999 {
			noErr(t, errors.Join(f.Check(), f.Close()))
			f = openTest(t, o)
		}
	}
}
