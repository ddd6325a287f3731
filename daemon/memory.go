package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// MaxGarbage is how much garbage may gather before it is collected, in percent of the memory in use.
	MaxGarbage = 50
	// minGarbage is how many bytes of garbage may gather in any case, up to MaxGarbage percent.
	minGarbage = 16 << 20
)

// LimitGarbage sets how much garbage may gather, in percent of the memory in use, unless the environment sets GOGC.
func LimitGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// boundGarbage sets how much garbage may gather, now and after each collection, until stop is called. It does nothing
// if the environment sets GOGC.
func boundGarbage() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	LimitGarbage(MaxGarbage)
	var stopped atomic.Bool
	boundAfterCollection(&stopped)
	return func() { stopped.Store(true) }
}

// boundAfterCollection sets the bound after the next collection, and after each one that follows. It needs no
// goroutine: an object is left to be collected, and the runtime calls the cleanup when it was.
func boundAfterCollection(stopped *atomic.Bool) {
	runtime.AddCleanup(new([2]uint64), func(stopped *atomic.Bool) {
		if stopped.Load() {
			return
		}
		h, current := lastCollection()
		if want := h.garbagePercent(); want != current { // setting it stops the program for a moment
			debug.SetGCPercent(want)
		}
		boundAfterCollection(stopped)
	}, stopped)
}

// heap holds what the last collection found, in bytes.
type heap struct {
	live    uint64 // in use
	scanned uint64 // of these, searched for pointers
	roots   uint64 // stacks and variables that were searched too
}

// garbagePercent returns how much garbage may gather, in percent of the memory in use, stacks and variables included.
//
// The cost of a collection is what it searches for pointers. A crawl has 30 to 100 MB in use, but only 3 to 8 MB have
// pointers: the rest is blocks of the store, memory tables and buffers. The runtime would allow as much garbage for
// those as for everything else. This allows as much as was searched, or minGarbage if that is more.
func (h heap) garbagePercent() int {
	allowed := max(minGarbage, h.scanned+h.roots)
	return int(min(MaxGarbage, 100*allowed/max(1, h.live+h.roots)))
}

// lastCollection returns what the last collection found, and how much garbage may gather until the next one.
func lastCollection() (h heap, percent int) {
	n, _ := readMetrics("/gc/heap/live:bytes", "/gc/scan/heap:bytes", "/gc/scan/total:bytes", "/gc/gogc:percent")
	return heap{live: n[0], scanned: n[1], roots: n[2] - min(n[1], n[2])}, int(n[3])
}

// readMetrics returns the values of metrics of the runtime. all is false if the runtime does not know one of them; its
// value is 0 then.
func readMetrics(names ...string) (values []uint64, all bool) {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values, all = make([]uint64, len(samples)), true
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			all = false
			continue
		}
		values[i] = s.Value.Uint64()
	}
	return values, all
}
