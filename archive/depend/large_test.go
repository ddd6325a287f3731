//go:build unix

package depend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// BenchmarkLargeIndex makes an index of b.N captures in files of 20,000, and asks it about single files. Three of four
// captures are revisits of a capture in any earlier file. Times are processor time. Run it with -benchtime 20000000x.
func BenchmarkLargeIndex(b *testing.B) {
	const perFile = 20_000
	if b.N < perFile {
		return // the first round
	}
	dir := b.TempDir()
	start := time.Date(2026, 1, 1, 0, 0, 0, 123_456_000, time.UTC)
	original := func(n int) (string, time.Time) {
		uri := fmt.Sprintf("https://www.host-%d.example/section/article-%d.html", n%5000, n)
		return uri, start.Add(time.Duration(n) * time.Second)
	}
	began := cpu(b)
	batch := NewBatch(dir)
	for file := range b.N / perFile {
		name := fmt.Sprintf("arcrawl-20260101%09d-00001-crawler.warc.gz", file)
		archivetest.Must(b, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		c := NewCollector(warc.File{Path: filepath.Join(dir, name), Name: name})
		for i := range perFile {
			n := file*perFile + i
			one := capture{offset: int64(i) * 20_000}
			if i%4 == 0 || n < perFile {
				one.uri, one.date = original(n)
				one.digest = hashOf(one.uri, digestWidth)
			} else {
				m := int(hash64(n)%uint64(max(1, n/4))) * 4
				uri, date := original(m)
				one.uri, one.date, one.revisit = uri, start.Add(time.Duration(n)*time.Second), true
				one.to, one.digest = momentOf(uri, date), hashOf(uri, digestWidth)
			}
			c.captures = append(c.captures, one)
		}
		archivetest.Must(b, batch.Add(c))
	}
	archivetest.Must(b, batch.Flush())
	b.ReportMetric(cpu(b)-began, "s-making")
	size := int64(0)
	runs, _ := filepath.Glob(filepath.Join(dir, Folder, "*.run"))
	for _, r := range runs {
		if info, err := os.Stat(r); err == nil {
			size += info.Size()
		}
	}
	b.ReportMetric(float64(size)/float64(b.N), "B/capture")
	b.ReportMetric(float64(len(runs)), "runs")
	x, err := Open(context.Background(), dir, Options{}, func(warc.Finding) error { return nil })
	archivetest.Must(b, err)
	defer x.Close() //nolint:errcheck // nothing was written
	all := x.store.names
	for i, name := range []string{all[0], all[len(all)/2], all[len(all)-1]} {
		began, clock := cpu(b), time.Now()
		lost := 0
		if _, err := x.Impact([]string{name}, "2006-01", func(Lost) error { lost++; return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(cpu(b)-began, fmt.Sprintf("s-impact-%d", i))
		b.ReportMetric(time.Since(clock).Seconds(), fmt.Sprintf("s-elapsed-%d", i))
		b.ReportMetric(float64(lost), fmt.Sprintf("lost-%d", i))
		began = cpu(b)
		if _, err := x.Dependencies([]string{name}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(cpu(b)-began, fmt.Sprintf("s-deps-%d", i))
	}
}

// cpu returns the processor time of the process in seconds.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	archivetest.Must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// hash64 spreads numbers.
func hash64(n int) uint64 {
	x := uint64(n)*0x9e3779b97f4a7c15 + 1
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9 >> 8
}
