package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// idle observes daemons without URIs that are due, and prints their share of a core, and their memory at the beginning
// and at the end.
func (g growth) idle() error {
	fmt.Fprint(g.out, "\n| idle | share of a core | anonymous memory MB, at the beginning and the end |\n|---|---|---|\n")
	for _, n := range g.sizes["idle"] {
		if err := g.idleWith(n); err != nil {
			return fmt.Errorf("idle %d: %w", n, err)
		}
	}
	return nil
}

// idleWith observes a daemon with n URIs, of which none is due.
func (g growth) idleWith(n int) (err error) {
	dir, err := os.MkdirTemp(g.o.dir, "idle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	filled, err := g.filled(n)
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "state"), os.DirFS(filled)); err != nil {
		return err
	}
	d := daemon{binary: g.o.arcrawl, dir: dir}
	if err := d.configure(site{}, 50, "fixed", "28d", ""); err != nil {
		return err
	}
	p, err := start(exec.Command(d.binary, "run", "--config", filepath.Join(dir, "arcrawl.toml")), nil, dir)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, p.terminate())
		_, ended := p.end()
		err = errors.Join(err, ended)
	}()
	pid := p.cmd.Process.Pid
	time.Sleep(15 * time.Second) // for startup and the compactions after it
	before, memory := ticks(pid), statusField(pid, "RssAnon")
	time.Sleep(g.idleFor)
	spent := ticks(pid) - before
	share := 100 * spent.Seconds() / g.idleFor.Seconds()
	_, err = fmt.Fprintf(g.out, "| %d | %.2f %% in %s | %d, %d |\n",
		n, share, g.idleFor, memory*1024/1e6, statusField(pid, "RssAnon")*1024/1e6)
	return err
}

// ticks returns the processor time of a process, to 10 ms.
func ticks(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / 100
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
