package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// resting is what is done when the crawl rests, and undone when it goes on.
func resting() func(rests bool) {
	processors, memory := onOneProcessor(), givingBack(giveBack)
	return func(rests bool) {
		processors(rests)
		memory(rests)
	}
}

// onOneProcessor has the program run on one processor while the crawl rests, and on as many as before when it goes on. At rest
// nothing wakes it but the clocks of the store, forty times a second for some µs. With several processors the Go runtime
// wakes another thread each time, to look for work that is not there; and once a second it looks how many processors there are.
func onOneProcessor() func(rests bool) {
	own := 0 // how many there were before the rest
	return func(rests bool) {
		switch {
		case rests:
			own = runtime.GOMAXPROCS(1)
		case os.Getenv("GOMAXPROCS") != "":
			runtime.GOMAXPROCS(own)
		default:
			runtime.SetDefaultGOMAXPROCS() // there may be others by now
		}
	}
}

// giveBackAfter is how long the crawl rests before memory is given back. The store lets one of the pieces in which it has built tables go
// every two seconds, of which there are up to eight.
const giveBackAfter = 20 * time.Second

// worthGivingBack is how many bytes of memory that nobody needs are given back.
const worthGivingBack = 8 << 20

// givingBack has memory given back when the crawl has rested for a while. Nothing gathers then that would have garbage collected, so what a
// busy time or the opening of the store has left would stay for minutes.
func givingBack(give func()) func(rests bool) {
	var due *time.Timer
	return func(rests bool) {
		if rests {
			due = time.AfterFunc(giveBackAfter, give)
		} else {
			due.Stop()
		}
	}
}

// giveBack collects garbage and gives the system what is free then, if there may be enough of it.
func giveBack() {
	if spare() >= worthGivingBack {
		debug.FreeOSMemory()
	}
}

// spare is how many bytes of memory are free, or were taken since garbage was collected last, or are left of the last collection.
func spare() uint64 {
	n, all := measured("/memory/classes/heap/free:bytes", "/memory/classes/heap/objects:bytes", "/gc/heap/live:bytes")
	if !all {
		return worthGivingBack
	}
	free, objects, live := n[0], n[1], n[2]
	return free + objects - min(objects, live)
}
