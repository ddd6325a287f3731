package hosts

import (
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// BenchmarkFlush measures writing the counts of a new day for 5,000 hosts.
func BenchmarkFlush(b *testing.B) {
	db, err := badger.Open(badger.DefaultOptions(b.TempDir()).WithLogger(nil))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	store, err := OpenDaily(db)
	if err != nil {
		b.Fatal(err)
	}
	hosts := make([]uri.Host, 5000)
	for i := range hosts {
		hosts[i] = uri.Host(fmt.Sprintf("host-%d.example", i))
	}
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for b.Loop() {
		day = day.Add(24 * time.Hour)
		for _, h := range hosts {
			if err := store.Add(h, day, evaluators.Day{Requests: 1, Seen: 1, Versions: 1}); err != nil {
				b.Fatal(err)
			}
		}
		if err := store.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
