package main

import (
	"os"
	"runtime"
)

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
