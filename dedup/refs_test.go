package dedup_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

func TestRevisitsAreCountedInMemoryAndStoredTogether(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	put := func(payload string, n int) digest.Origin {
		o := original("http://a.example/", payload, "a.warc.gz", n)
		must(t, i.Put(o.Key, o.Origin))
		return o.Origin
	}
	one, two := put("one", 1), put("two", 2)
	stored := func(referred, references int64) {
		t.Helper()
		got := inventory(t, openIndex(t, db))[0] // sees only stored counts
		if got.Referred != referred || got.References != references {
			t.Errorf("%d revisits of %d originals are stored, want %d of %d", got.References, got.Referred, references, referred)
		}
	}
	for range 3 {
		must(t, i.Refer(one))
	}
	must(t, i.Refer(two))
	stored(0, 0)
	must(t, i.Flush())
	stored(2, 4)
	must(t, i.Flush())
	must(t, i.Refer(one))
	if got := inventory(t, i)[0]; got.References != 5 {
		t.Errorf("%d revisits are counted; want 5, one of them in memory", got.References)
	}
	must(t, i.Refer(put("0", 0)))
	for n := range 10_100 { // more originals than are kept in memory
		must(t, i.Refer(original("http://a.example/", strconv.Itoa(1+n), "b.warc.gz", n).Origin))
	}
	stored(3, 6)
}

func TestNoRevisitIsLostWhileCountsAreStored(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	o := original("http://a.example/", "one", "a.warc.gz", 1)
	must(t, i.Put(o.Key, o.Origin))
	const workers, each = 8, 50
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for n := range each {
				if err := i.Refer(o.Origin); err != nil {
					t.Error(err)
				}
				if n%10 == 0 {
					if err := i.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	if n := inventory(t, i)[0].References; n != workers*each {
		t.Errorf("%d of %d revisits counted", n, workers*each)
	}
}
