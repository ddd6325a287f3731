package dedup_test

import (
	"encoding/binary"
	"testing"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

func payload(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

func benchIndex(b *testing.B, n int) *dedup.Index {
	b.Helper()
	i := openIndex(b, openStore(b, b.TempDir()))
	for j := range n {
		p := payload(uint64(j))
		must(b, i.Put(dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, origin(p, j)))
	}
	return i
}

// What does it cost to find a payload among 20,000?
func BenchmarkLookupKnown(b *testing.B) {
	i := benchIndex(b, 20_000)
	for n := uint64(0); b.Loop(); n++ {
		m, err := i.Find(dedup.Query{Key: dedup.Key{Payload: digest.Of([]byte(payload(n % 20_000))), Status: 200, MIME: "text/html"}})
		if err != nil || m.Hit == dedup.Miss {
			b.Fatal(m, err)
		}
	}
}

// What does it cost to find that a payload is new?
func BenchmarkLookupNew(b *testing.B) {
	i := benchIndex(b, 20_000)
	for n := uint64(1 << 32); b.Loop(); n++ {
		m, err := i.Find(dedup.Query{Key: dedup.Key{Payload: digest.Of([]byte(payload(n))), Status: 200, MIME: "text/html"}})
		if err != nil || m.Hit != dedup.Miss {
			b.Fatal(m, err)
		}
	}
}

// What does it cost to remember a new payload?
func BenchmarkPut(b *testing.B) {
	i := benchIndex(b, 0)
	for n := uint64(0); b.Loop(); n++ {
		p := payload(n)
		must(b, i.Put(dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, origin(p, int(n))))
	}
}
