package reports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/reports"
)

// BenchmarkRead measures how fast a log is summed up by host, seed, type and day, on all processors, from the page
// cache.
func BenchmarkRead(b *testing.B) {
	var text []byte
	for i := range 400_000 {
		e := visit(time.Duration(i)*100*time.Millisecond, fmt.Sprintf("http://news%d.example/section/article-%d", i%200, i%20_000), 200, int64(i))
		e.Seed = fmt.Sprintf("http://news%d.example/", i%200)
		text = append(e.AppendTo(text, false), '\n')
	}
	name := filepath.Join(b.TempDir(), "crawl.log")
	must(b, os.WriteFile(name, text, 0o644))
	b.SetBytes(int64(len(text)))
	by := []reports.Dimension{reports.ByHost, reports.BySeed, reports.ByMIME, reports.ByDay}
	for b.Loop() {
		if _, err := reports.Read(b.Context(), []string{name}, reports.Options{By: by}); err != nil {
			b.Fatal(err)
		}
	}
}
