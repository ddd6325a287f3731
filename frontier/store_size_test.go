package frontier_test

import "testing"

func TestSizeIsTheUsageOfTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	empty, err := w.Size()
	must(t, err)
	w.add(at(0), pages("a.example", 3000)...)
	w.reopen(at(0))
	full, err := w.Size()
	must(t, err)
	if full < empty+50_000 || full > 64<<20 {
		t.Errorf("the size of the store is %d bytes when empty and %d bytes with 3,000 URIs", empty, full)
	}
}
