package crawllog_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// BenchmarkWrite measures what a line costs a visit, from the entry to the file. Other workers wait for the lock
// meanwhile.
func BenchmarkWrite(b *testing.B) {
	for name, extra := range map[string]bool{"12 columns": false, "13 columns": true} {
		b.Run(name, func(b *testing.B) {
			w, err := crawllog.Open(filepath.Join(b.TempDir(), "crawl.log"), extra)
			must(b, err)
			entries := aMorning()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				e := entries[n%len(entries)]
				e.Logged = e.Logged.Add(time.Duration(n) * time.Millisecond)
				must(b, w.Write(e))
				n++
			}
			must(b, w.Close())
		})
	}
}
