package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// garbage is how much garbage may gather at most, in percent of what is in use, before it is collected.
const garbage = 50

// leastGarbage is how many bytes of garbage may gather at least, up to [garbage] percent of what is in use.
const leastGarbage = 16 << 20

// boundGarbage sets how much, unless whoever starts the program knows better.
func boundGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// heap is what the last collection has found.
type heap struct {
	live    uint64 // bytes that are in use
	scanned uint64 // bytes of these that were looked through, because there may be pointers in them
	roots   uint64 // bytes that were looked through besides: stacks and variables
}

// percent is how much garbage may gather, in percent of what is in use, stacks and variables included. A collection costs
// what it looks through. Of the 30 to 100 MB that a crawl has in use that are 3 to 8: the rest are blocks of the store without
// pointers, memory tables, unpacked blocks and what tables are built in, which the runtime would let as much garbage gather for
// as for all else. So it is as much as what is looked through, or [leastGarbage].
func (h heap) percent() int {
	most := max(leastGarbage, h.scanned+h.roots)
	return int(min(garbage, 100*most/max(1, h.live+h.roots)))
}

// leanGarbage bounds garbage to begin with, and anew after each collection, until it is stopped; unless whoever starts the program knows
// better.
func leanGarbage() (stop func()) {
	var stopped atomic.Bool
	boundGarbage(garbage)
	if os.Getenv("GOGC") == "" {
		onCollection(&stopped)
	}
	return func() { stopped.Store(true) }
}

// onCollection waits for the next collection, without a goroutine of its own: something is thrown away, and the runtime says when it has
// noticed.
func onCollection(stopped *atomic.Bool) {
	runtime.AddCleanup(new([2]uint64), func(stopped *atomic.Bool) {
		if stopped.Load() {
			return
		}
		h, percent := lastCollection()
		if is := h.percent(); is != percent { // to set it stops the program for a moment
			debug.SetGCPercent(is)
		}
		onCollection(stopped)
	}, stopped)
}

// lastCollection tells what the last collection has found, and how much garbage may gather until the next one.
func lastCollection() (h heap, percent int) {
	n, _ := measured("/gc/heap/live:bytes", "/gc/scan/heap:bytes", "/gc/scan/total:bytes", "/gc/gogc:percent")
	return heap{live: n[0], scanned: n[1], roots: n[2] - min(n[1], n[2])}, int(n[3])
}

// measured is what the runtime tells under these names. all is false if it does not know one of them, which is 0 then.
func measured(names ...string) (values []uint64, all bool) {
	s := make([]metrics.Sample, len(names))
	for i, name := range names {
		s[i].Name = name
	}
	metrics.Read(s)
	values, all = make([]uint64, len(s)), true
	for i, m := range s {
		if m.Value.Kind() != metrics.KindUint64 {
			all = false
			continue
		}
		values[i] = m.Value.Uint64()
	}
	return values, all
}
