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

// beginProfile begins a CPU profile in the folder that ARCRAWL_PROFILES names. The returned function ends it and
// writes a profile of the memory. The first SIGUSR1 saves the CPU profile as opening.pprof and begins another one.
// The second ends profiling early. It does nothing if the variable is not set.
func beginProfile() (end func()) {
	dir := os.Getenv("ARCRAWL_PROFILES")
	if dir == "" {
		return func() {}
	}
	const processor = "cpu.pprof"
	stop := beginProcessor(dir, processor)
	marks, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(marks, syscall.SIGUSR1)
	go func() {
		defer close(done)
		if _, opened := <-marks; opened {
			stop()
			if err := os.Rename(filepath.Join(dir, processor), filepath.Join(dir, "opening.pprof")); err != nil {
				fmt.Fprintln(os.Stderr, "arcrawl: no profile of the opening:", err)
			}
			stop = beginProcessor(dir, processor)
			<-marks
		}
		stop()
		runtime.GC() // a heap profile shows the heap after the last collection
		memory := createProfile(dir, "memory.pprof")
		_ = pprof.WriteHeapProfile(memory)
		_ = memory.Close()
	}()
	return func() {
		signal.Stop(marks)
		close(marks)
		<-done
	}
}

// beginProcessor begins a CPU profile. The returned function ends it.
func beginProcessor(dir, name string) func() {
	f := createProfile(dir, name)
	if err := pprof.StartCPUProfile(f); err != nil {
		fmt.Fprintln(os.Stderr, "arcrawl: no profile of the processor:", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}
}

// cannotCreate is the exit code for a folder that cannot be used, after sysexits.h.
const cannotCreate = 73

// createProfile creates a file for a profile. If it fails, it ends the process: a benchmark without its profile is
// useless.
func createProfile(dir, name string) *os.File {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.Create(filepath.Join(dir, name)); err == nil {
			return f
		}
	}
	fmt.Fprintln(os.Stderr, "arcrawl: no profile:", err)
	os.Exit(cannotCreate)
	return nil
}
