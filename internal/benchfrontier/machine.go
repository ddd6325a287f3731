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

// processor is the time that the process has had of all cores.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is what the process holds, as the kernel counts it.
func memory() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	var found []string
	for _, line := range strings.Split(string(text), "\n") {
		var kb int
		for _, name := range []string{"RssAnon", "RssFile"} {
			if n, _ := fmt.Sscanf(line, name+": %d kB", &kb); n == 1 {
				found = append(found, name+" "+human.Bytes(kb<<10))
			}
		}
	}
	return strings.Join(found, ", ")
}

// usage is what a folder takes of the disk; the store's log files are larger than that by their length.
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

func report(name, what string, n int, took, spent time.Duration) {
	if n == 0 {
		return
	}
	fmt.Printf("%-8s %-9s %9d in %7s: %7.1f µs of the processor each, %7.0f/s elapsed, %7.0f/s of both cores; %s\n", name, what, n, short(took),
		float64(spent.Microseconds())/float64(n), float64(n)/took.Seconds(), 2*float64(n)/spent.Seconds(), memory())
}

func short(d time.Duration) string { return d.Round(time.Millisecond).String() }
