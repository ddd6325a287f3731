package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// freeAfter is how long the crawl rests before free memory is returned to the system. The store releases one of the up
	// to eight buffers in which it has built tables every two seconds.
	freeAfter = 20 * time.Second
	// minFree is how many bytes of free memory are worth returning.
	minFree = 8 << 20
)

// saveAtRest returns a function that saves processor time and memory from the moment the crawl rests until it
// resumes. The crawler calls it with true and false in turns.
func saveAtRest() func(rests bool) {
	processors, memory := oneProcessorAtRest(), freeMemoryAtRest(freeMemory)
	return func(rests bool) {
		processors(rests)
		memory(rests)
	}
}

// oneProcessorAtRest returns a function that runs the program on one processor while the crawl rests, and on as many as
// before when it resumes. At rest only the timers of the store run, forty times a second for some µs. With several
// processors, the Go runtime wakes another thread each time, to look for work that does not exist.
func oneProcessorAtRest() func(rests bool) {
	before := 0
	return func(rests bool) {
		switch {
		case rests:
			before = runtime.GOMAXPROCS(1)
		case os.Getenv("GOMAXPROCS") != "":
			runtime.GOMAXPROCS(before)
		default:
			runtime.SetDefaultGOMAXPROCS() // the number of processors may have changed
		}
	}
}

// freeMemoryAtRest returns a function that calls free when the crawl has rested for freeAfter. At rest so little is
// allocated that garbage would not be collected for minutes.
func freeMemoryAtRest(free func()) func(rests bool) {
	var due *time.Timer
	return func(rests bool) {
		if rests {
			due = time.AfterFunc(freeAfter, free)
		} else {
			due.Stop()
		}
	}
}

// freeMemory collects garbage and returns free memory to the system, if there may be enough of it.
func freeMemory() {
	if unusedMemory() >= minFree {
		debug.FreeOSMemory()
	}
}

// unusedMemory returns the bytes of the heap that are free, or that were allocated after the last collection and so
// may be garbage.
func unusedMemory() uint64 {
	n, all := readMetrics("/memory/classes/heap/free:bytes", "/memory/classes/heap/objects:bytes", "/gc/heap/live:bytes")
	if !all {
		return minFree
	}
	free, objects, live := n[0], n[1], n[2]
	return free + objects - min(objects, live)
}
