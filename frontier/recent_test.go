package frontier

import (
	"fmt"
	"slices"
	"testing"
)

func TestKnownCacheRemembersAndForgets(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	a, b := r.Hash("http://a.example/"), r.Hash("http://b.example/")
	has := func() []bool {
		found := make([]bool, 3)
		r.Contains([]RecentHash{a, b, {}}, found)
		return found
	}
	if got := has(); slices.Contains(got, true) {
		t.Errorf("an empty cache contains %v, want nothing", got)
	}
	r.Remember([]RecentHash{a}, 0)
	if got := has(); !got[0] || got[1] {
		t.Errorf("after remembering a the cache contains %v", got)
	}
	r.Forget([]RecentHash{a})
	r.Remember([]RecentHash{b}, 0) // b was looked up before a was forgotten
	if got := has(); got[0] || got[1] {
		t.Errorf("after forgetting a the cache contains %v", got)
	}
}

// The cache remembers as many URIs as a large page has links, and never more than it has room for.
func TestKnownCacheHasRoomForTheLinksOfAPage(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	marks := make([]RecentHash, 3*sets*ways)
	for i := range marks {
		marks[i] = r.Hash(fmt.Sprintf("http://a.example/%d", i))
	}
	count := func(of []RecentHash) (n int) {
		found := make([]bool, len(of))
		r.Contains(of, found)
		for _, ok := range found {
			if ok {
				n++
			}
		}
		return n
	}
	if r.Remember(marks[:5000], 0); count(marks[:5000]) < 4990 {
		t.Errorf("the cache has %d of 5000 links", count(marks[:5000]))
	}
	if r.Remember(marks, 0); count(marks) > sets*ways || count(marks[len(marks)-1000:]) < 900 {
		t.Errorf("the cache has %d links in total, and %d of the last thousand", count(marks), count(marks[len(marks)-1000:]))
	}
}
