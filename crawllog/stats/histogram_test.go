package stats

import (
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
