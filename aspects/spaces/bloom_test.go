package spaces

import (
	"math/rand/v2"
	"testing"
)

func TestAFilterKnowsWhatWasAddedUntilItIsFull(t *testing.T) {
	t.Parallel()
	var f bloomFilter
	r := rand.New(rand.NewPCG(1, 2))
	var sums []uint64
	for range 1000 {
		sums = append(sums, r.Uint64())
	}
	known := 0
	for _, s := range sums {
		if f.Add(s) {
			known++
		}
	}
	if known > 30 || f.IsFull() || f.Count() < 850 || f.Count() > 1000 {
		t.Errorf("of 1000 new sums %d were known; full %v, count %d", known, f.IsFull(), f.Count())
	}
	for _, s := range sums {
		if !f.Add(s) {
			t.Fatalf("%x was added and is not known", s)
		}
	}
	for range 5000 {
		f.Add(r.Uint64())
	}
	if !f.IsFull() {
		t.Error("a filter of 6000 sums is not full")
	}
}

func TestAStoredFilterHasOneSize(t *testing.T) {
	t.Parallel()
	var f bloomFilter
	f.Add(1)
	for _, row := range []struct {
		stored bloomFilter
		want   bool
	}{{nil, true}, {f, true}, {f[1:], false}, {bloomFilter{}, false}} {
		if got := row.stored.IsValid(); got != row.want {
			t.Errorf("%d bytes: valid %v", len(row.stored), got)
		}
	}
}
