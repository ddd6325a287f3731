package dedup_test

import (
	"strconv"
	"sync"
	"testing"
)

func TestRevisitsAreCountedInMemoryAndStoredTogether(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	one, two := original("http://a.example/", "one", "a.warc.gz", 1).Origin, original("http://a.example/", "two", "a.warc.gz", 2).Origin
	stored := func(o string, want int64) {
		t.Helper()
		other := openIndex(t, db) // sees only stored counts
		of := one
		if o == "two" {
			of = two
		}
		if n, err := other.References(of); err != nil || n != want {
			t.Errorf("%d revisits of %s are stored, %v; want %d", n, o, err, want)
		}
	}
	for range 3 {
		must(t, i.Refer(one))
	}
	must(t, i.Refer(two))
	stored("one", 0)
	must(t, i.Flush())
	stored("one", 3)
	stored("two", 1)
	must(t, i.Flush())
	must(t, i.Refer(one))
	if n, err := i.References(one); err != nil || n != 4 {
		t.Errorf("References = %d, %v; want 4, one of them in memory", n, err)
	}
	for n := range 10_100 { // more originals than are kept in memory
		must(t, i.Refer(original("http://a.example/", strconv.Itoa(n), "b.warc.gz", n).Origin))
	}
	if n, err := openIndex(t, db).References(original("http://a.example/", "0", "b.warc.gz", 0).Origin); err != nil || n != 1 {
		t.Errorf("%d revisits of the first original are stored, %v; want 1", n, err)
	}
}

func TestNoRevisitIsLostWhileCountsAreStored(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	o := original("http://a.example/", "one", "a.warc.gz", 1).Origin
	const workers, each = 8, 50
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for n := range each {
				if err := i.Refer(o); err != nil {
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
	if n, err := i.References(o); err != nil || n != workers*each {
		t.Errorf("%d of %d revisits counted, %v", n, workers*each, err)
	}
}
