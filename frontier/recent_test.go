package frontier

import (
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// The text of a row is read without decoding the row, whatever its length and whatever else the row holds.
func TestTextOfARow(t *testing.T) {
	t.Parallel()
	for _, length := range []int{10, 23, 24, 100, 255, 256, 8000} {
		for _, w := range []uriRow{{}, {Visits: 3}, {
			Hops: "LL", Via: "v", Seed: "s", FirstSeen: 1, LastVisit: 2, LastCapture: 3, LastChange: 4, Due: 5,
			Visits: 6, Versions: 7, Failures: 8, Unread: 9, LastStatus: 10, Wait: 11, ContentType: "t", Status: 12,
			Location: "l", ETag: "e", LastMod: "m", Size: 13, LastRead: 14, Rules: 15, Gone: 16,
		}} {
			w.URI = cbor.ByteString(("http://a.example/" + strings.Repeat("x", length))[:length])
			row, err := cbor.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := textOf(row); !ok || string(got) != string(w.URI) {
				t.Errorf("a text of %d bytes: %q, %v", length, got, ok)
			}
			for n := range min(len(row), length) { // what is cut is no text
				if got, ok := textOf(row[:n]); ok {
					t.Errorf("a text of %d bytes, cut to %d: %q", length, n, got)
				}
			}
		}
	}
}

func TestRecentKnowsWhatItWasTold(t *testing.T) {
	t.Parallel()
	var r recent
	a, b := sumOfText(uri.FromCanonical("http://a.example/")), sumOfText(uri.FromCanonical("http://b.example/"))
	if got, _ := r.has([]sum{a}); got[0] {
		t.Error("it knows what it was not told")
	}
	r.remember([]sum{a}, 0)
	if got, _ := r.has([]sum{a, b, {}}); !got[0] || got[1] {
		t.Errorf("told of a: %v", got)
	}
}
