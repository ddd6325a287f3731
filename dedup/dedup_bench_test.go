package dedup_test

import (
	"encoding/binary"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
)

func payload(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// BenchmarkImport measures how many new payloads an import stores in a second, and how much memory that takes. It adds
// some hundred at a time, in a store that is configured as in the import command.
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
