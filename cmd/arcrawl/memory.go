package main

import (
	"os"
	"runtime/debug"
)

// garbage is how much garbage may gather, in percent of what is in use, before it is collected. Of the 50 MB that a crawl
// has in use 20 to 40 are memtables of the store, each one block without pointers, which costs the collector nothing and
// yet doubles what it lets gather. Half as much garbage spares some 20 MB; the processor time does not show it.
const garbage = 50

// boundGarbage sets how much, unless whoever starts the program knows better.
func boundGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
