package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// The URI of a row is read without decoding the row, whatever its length and the other fields.
func TestRowTextReturnsTheURI(t *testing.T) {
	t.Parallel()
	for _, length := range []int{10, 23, 24, 100, 255, 256, 8000} {
		for _, w := range []uriRow{{}, {Visits: 3}, {
			Hops: "LL", Via: "v", Seed: "s", FirstSeen: 1, LastVisit: 2, LastCapture: 3, LastChange: 4, Due: 5,
			Visits: 6, Versions: 7, Failures: 8, Unread: 9, LastStatus: 10, Wait: 11, ContentType: "t", Status: 12,
			Location: "l", ETag: "e", LastModified: "m", Size: 13, LastRead: 14, Rules: 15, Gone: 16,
		}} {
			w.URI = cbor.ByteString(("http://a.example/" + strings.Repeat("x", length))[:length])
			row, err := cbor.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := rowText(row); !ok || string(got) != string(w.URI) {
				t.Errorf("a text of %d bytes: %q, %v", length, got, ok)
			}
			for n := range min(len(row), length) { // an incomplete row has no URI
				if got, ok := rowText(row[:n]); ok {
					t.Errorf("a text of %d bytes, cut to %d: %q", length, n, got)
				}
			}
		}
	}
}

func TestKnownCacheRemembersAndForgets(t *testing.T) {
	t.Parallel()
	r := newKnownCache()
	a, b := r.hash("http://a.example/"), r.hash("http://b.example/")
	has := func() []bool {
		found := make([]bool, 3)
		r.contains([]uriHash{a, b, {}}, found)
		return found
	}
	if got := has(); slices.Contains(got, true) {
		t.Errorf("an empty cache contains %v, want nothing", got)
	}
	r.remember([]uriHash{a}, 0)
	if got := has(); !got[0] || got[1] {
		t.Errorf("after remembering a the cache contains %v", got)
	}
	r.forget([]uriHash{a})
	r.remember([]uriHash{b}, 0) // b was looked up before a was forgotten
	if got := has(); got[0] || got[1] {
		t.Errorf("after forgetting a the cache contains %v", got)
	}
}

// The cache remembers as many URIs as a large page has links, and never more than it has room for.
func TestKnownCacheHasRoomForTheLinksOfAPage(t *testing.T) {
	t.Parallel()
	r := newKnownCache()
	marks := make([]uriHash, 3*knownSets*knownWays)
	for i := range marks {
		marks[i] = r.hash(fmt.Sprintf("http://a.example/%d", i))
	}
	count := func(of []uriHash) (n int) {
		found := make([]bool, len(of))
		r.contains(of, found)
		for _, ok := range found {
			if ok {
				n++
			}
		}
		return n
	}
	if r.remember(marks[:5000], 0); count(marks[:5000]) < 4990 {
		t.Errorf("the cache has %d of 5000 links", count(marks[:5000]))
	}
	if r.remember(marks, 0); count(marks) > knownSets*knownWays || count(marks[len(marks)-1000:]) < 900 {
		t.Errorf("the cache has %d links in total, and %d of the last thousand", count(marks), count(marks[len(marks)-1000:]))
	}
}
