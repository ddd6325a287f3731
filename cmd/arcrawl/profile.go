//go:build profile

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// profile begins a profile of the processor in the folder that ARCRAWL_PROFILES names. The returned function ends it, and
// writes what was allocated. It is only in binaries that were built with the tag profile, as the benchmarks do.
func profile() func() {
	dir := os.Getenv("ARCRAWL_PROFILES")
	if dir == "" {
		return func() {}
	}
	create := func(name string) *os.File {
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			var f *os.File
			if f, err = os.Create(filepath.Join(dir, name)); err == nil {
				return f
			}
		}
		fmt.Fprintln(os.Stderr, "arcrawl: no profile:", err)
		os.Exit(exitFolder)
		return nil
	}
	cpu := create("cpu.pprof")
	if err := pprof.StartCPUProfile(cpu); err != nil {
		fmt.Fprintln(os.Stderr, "arcrawl: no profile of the processor:", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = cpu.Close()
		runtime.GC() // so that the heap is told as it is now
		memory := create("memory.pprof")
		_ = pprof.WriteHeapProfile(memory)
		_ = memory.Close()
	}
}
