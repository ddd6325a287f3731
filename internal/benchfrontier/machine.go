package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// processor returns the processor time of the process on all cores.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory returns the resident memory of the process, as the kernel counts it.
func memory() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	var parts []string
	for _, line := range strings.Split(string(text), "\n") {
		var kb int
		for _, name := range []string{"RssAnon", "RssFile"} {
			if n, _ := fmt.Sscanf(line, name+": %d kB", &kb); n == 1 {
				parts = append(parts, name+" "+human.Bytes(kb<<10))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// usage returns the disk space of a folder. It is less than the length of the files, because the store's log files are
// sparse.
func usage(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return total
}

// report prints the result of one measurement: n operations, the elapsed time and the processor time.
func report(name, what string, n int, took, spent time.Duration) {
	if n == 0 {
		return
	}
	fmt.Printf("%-8s %-9s %9d in %7s: %7.1f µs of CPU each, %7.0f/s elapsed, %7.0f/s of CPU on two cores; %s\n",
		name, what, n, short(took), float64(spent.Microseconds())/float64(n), float64(n)/took.Seconds(),
		2*float64(n)/spent.Seconds(), memory())
}

func short(d time.Duration) string { return d.Round(time.Millisecond).String() }
