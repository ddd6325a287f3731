package crawllog

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestClassesOfAHistogramAreAdded merges the classes of two histograms.
func TestClassesOfAHistogramAreAdded(t *testing.T) {
	t.Parallel()
	var a, b, all Histogram
	for i := range 500 {
		d := time.Duration(i*i*i) * time.Millisecond
		all.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	var got Histogram
	for _, h := range []Histogram{a, b, {}} {
		first, counts := h.Classes()
		again, err := FromClasses(first, counts, h.Max())
		if err != nil {
			t.Fatal(err)
		}
		got.Merge(again)
	}
	for _, q := range []float64{0, .1, .5, .9, .99, 1} {
		if got.Quantile(q) != all.Quantile(q) || got.Count() != 500 {
			t.Errorf("quantile %v of %d is %v, want %v", q, got.Count(), got.Quantile(q), all.Quantile(q))
		}
	}
	for _, first := range []int{-1, maxClasses} {
		if _, err := FromClasses(first, []int64{1}, 0); err == nil {
			t.Errorf("classes from %d are accepted", first)
		}
	}
	if _, err := FromClasses(0, []int64{-1}, 0); err == nil {
		t.Error("a negative count is accepted")
	}
}

// TestQuantiles checks that quantiles are never too short and at most six percent too long, and that the longest
// duration is exact.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var h, odd Histogram
	var all []time.Duration
	for i := range 20_000 {
		d := time.Duration(1+random.Int64N(1<<random.IntN(33))) * time.Millisecond
		all = append(all, d)
		if i%2 == 0 {
			h.Add(d)
		} else {
			odd.Add(d)
		}
	}
	h.Merge(odd)
	slices.Sort(all)
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999} {
		got, want := float64(h.Quantile(q)), float64(all[int(q*float64(len(all)))])
		if got < want || got > want*1.0625 {
			t.Errorf("quantile %v is %v, want %v", q, time.Duration(got), time.Duration(want))
		}
	}
	if h.Max() != all[len(all)-1] {
		t.Errorf("the longest is %v, want %v", h.Max(), all[len(all)-1])
	}
}
