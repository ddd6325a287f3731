package depend

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

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
