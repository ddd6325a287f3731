package main

import (
	"runtime"
	"testing"
)

// Not parallel: what it changes is of the whole process.
func TestTheProcessorsAreThereAgainAfterARest(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rest := onOneProcessor()
	for range 2 {
		rest(true)
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("at rest it runs on %d processors, want 1", n)
		}
		rest(false)
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("after the rest it runs on %d processors, want %d", n, before)
		}
	}
}
