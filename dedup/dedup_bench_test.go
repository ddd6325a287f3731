package dedup_test

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
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

// How many payloads a second are looked up and, since they are new, remembered, in a store as the crawl has it, and with how much
// memory? With -benchtime=10000000x it is the size of a large crawl. Eight at a time, as visits come.
func BenchmarkFindAndPut(b *testing.B) {
	store, err := frontier.Open(frontier.Options{Dir: b.TempDir(), Now: time.Now()})
	must(b, err)
	defer func() { must(b, store.Close()) }()
	i, err := dedup.Open(store.DB(), dedup.Options{})
	must(b, err)
	var next atomic.Int64
	var workers sync.WaitGroup
	began := processorTime(b)
	b.ResetTimer()
	for range 8 {
		workers.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				p := payload(uint64(n))
				k := dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}
				if m, err := i.Find(dedup.Query{Key: k, URI: "http://a.example/"}); err != nil || m.Hit != dedup.Miss {
					b.Error(m, err)
				}
				if err := i.Put(k, origin(p, int(n))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "digests/s")
	b.ReportMetric(float64(b.N)/(processorTime(b)-began).Seconds(), "digests/cpu-s")
	b.ReportMetric(residentMiB(b, "VmHWM:"), "peak-MiB")
	b.ReportMetric(residentMiB(b, "RssAnon:"), "own-MiB")
}

// residentMiB is what the system tells of the process's memory: the most that has been resident so far, with the parts of the store's files
// that are mapped; or what is its own now. It is zero where that is not told.
func residentMiB(b *testing.B, what string) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, what); ok {
			n, err := strconv.Atoi(strings.Fields(kib)[0])
			must(b, err)
			return float64(n) / 1024
		}
	}
	return 0
}

// And in an import, some hundred at a time?
func BenchmarkImport(b *testing.B) {
	store, err := frontier.Open(frontier.Options{Dir: b.TempDir(), Now: time.Now()})
	must(b, err)
	defer func() { must(b, store.Close()) }()
	i, err := dedup.Open(store.DB(), dedup.Options{})
	must(b, err)
	m, err := i.Begin(dedup.Collection{Name: "all", Hash: "sha256:all"}, time.Now())
	must(b, err)
	began := processorTime(b)
	b.ResetTimer()
	for n := 0; n < b.N; {
		batch := make([]dedup.Found, 0, dedup.MaxBatch)
		for ; n < b.N && len(batch) < cap(batch); n++ {
			p := payload(uint64(n))
			batch = append(batch, dedup.Found{Key: dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, Origin: origin(p, n)})
		}
		must(b, m.Add(batch, 0, int64(n)))
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "digests/s")
	b.ReportMetric(float64(b.N)/(processorTime(b)-began).Seconds(), "digests/cpu-s")
	b.ReportMetric(residentMiB(b, "VmHWM:"), "peak-MiB")
	b.ReportMetric(residentMiB(b, "RssAnon:"), "own-MiB")
}

// processorTime is what the process has used of all processors: on a machine that does other things too it says more than the clock.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
