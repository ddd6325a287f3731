//go:build profile

package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"syscall"
)

// profile begins a profile of the processor in the folder that ARCRAWL_PROFILES names. The returned function ends it, and
// writes what was allocated. SIGUSR1 puts aside what was seen of the processor so far, as opening.pprof, and the profile begins
// anew. It is only in binaries that were built with the tag profile, as the benchmarks do.
func profile() func() {
	dir := os.Getenv("ARCRAWL_PROFILES")
	if dir == "" {
		return func() {}
	}
	const processor = "cpu.pprof"
	end := profileProcessor(dir, processor)
	marks := make(chan os.Signal, 1)
	signal.Notify(marks, syscall.SIGUSR1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range marks {
			end()
			if err := os.Rename(filepath.Join(dir, processor), filepath.Join(dir, "opening.pprof")); err != nil {
				fmt.Fprintln(os.Stderr, "arcrawl: no profile of the opening:", err)
			}
			end = profileProcessor(dir, processor)
		}
		end()
	}()
	return func() {
		signal.Stop(marks)
		close(marks)
		<-done
		runtime.GC() // so that the heap is told as it is now
		memory := createProfile(dir, "memory.pprof")
		_ = pprof.WriteHeapProfile(memory)
		_ = memory.Close()
	}
}

// profileProcessor begins a profile of the processor. The returned function ends it.
func profileProcessor(dir, name string) func() {
	f := createProfile(dir, name)
	if err := pprof.StartCPUProfile(f); err != nil {
		fmt.Fprintln(os.Stderr, "arcrawl: no profile of the processor:", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}
}

func createProfile(dir, name string) *os.File {
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
