package frontier

import (
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
