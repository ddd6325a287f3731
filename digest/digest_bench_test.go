package digest_test

import (
	"crypto/rand"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// BenchmarkHash measures how fast a page of 15 KB is digested.
func BenchmarkHash(b *testing.B) {
	page := make([]byte, 15<<10)
	rand.Read(page)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		h := digest.New()
		h.Write(page)
		if h.Sum().IsZero() {
			b.Fatal("no digest")
		}
	}
}
