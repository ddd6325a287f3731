//go:build unix

package depend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// BenchmarkSurvey measures the memory that deps and impact need for each of a million captures. Every fourth is a
// revisit. The benchmark's name contains the number of captures per URI. The files have 50,000 captures each.
func BenchmarkSurvey(b *testing.B) {
	for _, versions := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d captures of a URI", versions), func(b *testing.B) {
			for b.Loop() {
				benchSurvey(b, versions)
			}
		})
	}
}

func benchSurvey(b *testing.B, versions int) {
	const captures, perFile = 1_000_000, 50_000
	before := inUse()
	s := &Survey{}
	for file := range int32(captures / perFile) {
		list := make([]Capture, 0, perFile)
		s.Files = append(s.Files, warc.File{Name: fmt.Sprint(file)})
		for i := range perFile {
			list = append(list, benchCapture(file, int(file)*perFile+i, captures/versions))
		}
		for _, c := range list {
			s.add(c)
		}
	}
	atMost := inUse() - before
	s.sort()
	b.ReportMetric(float64(atMost)/captures, "B/capture")
	b.ReportMetric(float64(inUse()-before)/captures, "sorted-B/capture")
	losses, err := s.Impact([]string{"7"}, "2006", func(Lost) error { return nil })
	lost := 0
	for _, l := range losses {
		lost += l.Captures
	}
	if err != nil || lost < perFile {
		b.Fatalf("%d captures are lost, %v", lost, err)
	}
}

func benchCapture(file int32, n, uris int) Capture {
	id := func(n int) string { return fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012d", n) }
	target := func(n int) string {
		return fmt.Sprintf("https://www.example-%d.org/section/%d/a-page-with-some-words-%d.html", n%uris%7, n%uris%31, n%uris)
	}
	date := func(n int) time.Time { return time.Date(2026, 3, 1, 0, 0, n, 0, time.UTC) }
	c := Capture{text: id(n), Record: Record{
		ID: IDKey(id(n)), URI: KeyOf(target(n)), File: file, Offset: int64(n) * 4000, Date: date(n).UnixNano(), Kind: KindFull, Method: "sha1", Payload: KeyOf(fmt.Sprint(n / 4)),
	}, Target: target(n)}
	if n%4 == 3 {
		c.Kind, c.IsRevisit = KindRevisit, true
		c.toID, c.to = IDKey(id(n-3)), Moment{KeyOf(target(n - 3)), date(n - 3).UnixNano()}
	}
	return c
}

// inUse returns the memory in use after a garbage collection, in bytes.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
