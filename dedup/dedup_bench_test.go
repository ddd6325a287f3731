package dedup_test

import (
	"encoding/binary"
	"os"
	"runtime"
	"runtime/debug"
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

// BenchmarkLookupKnown measures a lookup of a known payload among 20,000.
func BenchmarkLookupKnown(b *testing.B) {
	i := benchIndex(b, 20_000)
	for n := uint64(0); b.Loop(); n++ {
		m, err := i.Find(dedup.Query{Key: dedup.Key{Payload: digest.Of([]byte(payload(n % 20_000))), Status: 200, MIME: "text/html"}})
		if err != nil || m.Hit == dedup.Miss {
			b.Fatal(m, err)
		}
	}
}

// BenchmarkLookupNew measures a lookup of a new payload.
func BenchmarkLookupNew(b *testing.B) {
	i := benchIndex(b, 20_000)
	for n := uint64(1 << 32); b.Loop(); n++ {
		m, err := i.Find(dedup.Query{Key: dedup.Key{Payload: digest.Of([]byte(payload(n))), Status: 200, MIME: "text/html"}})
		if err != nil || m.Hit != dedup.Miss {
			b.Fatal(m, err)
		}
	}
}

// BenchmarkPut measures storing a new payload.
func BenchmarkPut(b *testing.B) {
	i := benchIndex(b, 0)
	for n := uint64(0); b.Loop(); n++ {
		p := payload(n)
		must(b, i.Put(dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, origin(p, int(n))))
	}
}

// BenchmarkFindAndPut measures how many new payloads per second are looked up and stored, and how much memory that
// takes. The store is configured as in a crawl; eight goroutines work at once. -benchtime=10000000x is the size of a
// large crawl.
func BenchmarkFindAndPut(b *testing.B) {
	store, err := frontier.Open(frontier.Options{Dir: b.TempDir(), Now: time.Now()})
	must(b, err)
	defer func() { must(b, store.Close()) }()
	i, err := dedup.Open(store.DB(), dedup.Options{})
	must(b, err)
	var next atomic.Int64
	var workers sync.WaitGroup
	cost := measure(b)
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
				if n%4096 == 0 {
					cost.look()
				}
			}
		})
	}
	workers.Wait()
	cost.report()
}

// BenchmarkImport measures the same for an import, which adds some hundred payloads at a time. The store is configured
// as in the import command.
func BenchmarkImport(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(frontier.BulkLoadGarbage))
	store, err := frontier.Open(frontier.Options{Dir: b.TempDir(), BulkLoad: true, Now: time.Now()})
	must(b, err)
	defer func() { must(b, store.Close()) }()
	i, err := dedup.Open(store.DB(), dedup.Options{})
	must(b, err)
	m, err := i.Begin(dedup.Collection{Name: "all", Hash: "sha256:all"}, time.Now())
	must(b, err)
	cost := measure(b)
	for n, batches := 0, 1; n < b.N; batches++ {
		batch := make([]dedup.Found, 0, dedup.MaxBatch)
		for ; n < b.N && len(batch) < cap(batch); n++ {
			p := payload(uint64(n))
			batch = append(batch, dedup.Found{Key: dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, Origin: origin(p, n)})
		}
		must(b, m.Add(batch, 0, int64(n)))
		must(b, store.PageOut(frontier.BulkLoadMapped))
		if batches%(1+4096/dedup.MaxBatch) == 0 {
			cost.look()
		}
	}
	cost.report()
}

// cost measures the time and the memory that a benchmark uses.
type cost struct {
	b     *testing.B
	began time.Duration
	own   atomic.Int64 // maximum of the process's anonymous memory so far, in KiB
}

// measure starts measuring a benchmark.
func measure(b *testing.B) *cost {
	b.Helper()
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // reset the maximum of resident memory; not every system can
	c := &cost{b: b, began: processorTime(b)}
	b.ResetTimer()
	return c
}

// look updates the maximum with the present memory use.
func (c *cost) look() {
	own := resident(c.b, "RssAnon:")
	for before := c.own.Load(); own > before && !c.own.CompareAndSwap(before, own); before = c.own.Load() {
	}
}

// report adds the rates by wall time and by processor time, which is more reliable on a busy machine. It also adds the
// maximum of anonymous memory and of resident memory, which includes the mapped parts of the store's files.
func (c *cost) report() {
	c.b.StopTimer()
	c.look()
	spent := (processorTime(c.b) - c.began).Seconds()
	c.b.ReportMetric(float64(c.b.N)/c.b.Elapsed().Seconds(), "digests/s")
	c.b.ReportMetric(float64(c.b.N)/spent, "digests/cpu-s")
	c.b.ReportMetric(spent/float64(c.b.N)*1e6, "cpu-µs/digest")
	c.b.ReportMetric(float64(resident(c.b, "VmHWM:"))/1024, "peak-MiB")
	c.b.ReportMetric(float64(c.own.Load())/1024, "peak-own-MiB")
}

// resident returns a figure of the process's memory in KiB: "VmHWM:" is the maximum of resident memory,
// "RssAnon:" the present anonymous memory. It returns zero if the system does not report the figure.
func resident(b *testing.B, what string) int64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, what); ok {
			n, err := strconv.ParseInt(strings.Fields(kib)[0], 10, 64)
			must(b, err)
			return n
		}
	}
	return 0
}

// processorTime returns the processor time of the process on all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
