package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cost holds what a process used for some documents.
type cost struct {
	documents int
	processor time.Duration // user and system
	system    time.Duration // part of processor
	elapsed   time.Duration
	resident  int64 // peak, in bytes
	disk      int64 // bytes added on disk
	archive   int64 // part of disk in WARC files
	calls     int64 // system calls; 0 if not counted
}

// process is a running program under test.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read it only after end
	began  time.Time
	count  counter
	tally  string // file that the counter writes

	mu       sync.Mutex // guards the fields below
	resident int64

	watching sync.WaitGroup
	gone     chan struct{} // closed when the process has ended and err is set
	err      error
}

// watchEvery is how often the peak memory is read. The kernel keeps the peak, so only its last growth can be missed.
const watchEvery = 20 * time.Millisecond

// start runs a command. With a counter its system calls are counted, which slows it down.
func start(cmd *exec.Cmd, count counter, dir string) (*process, error) {
	p := &process{cmd: cmd, count: count, gone: make(chan struct{})}
	if count != nil {
		p.tally = filepath.Join(dir, "calls")
		p.cmd = count.wrap(cmd, p.tally)
	}
	p.cmd.Stderr = &p.output
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.watching.Go(func() {
		p.err = p.cmd.Wait()
		close(p.gone)
	})
	p.watching.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.gone:
				return
			case <-tick.C:
				p.look()
			}
		}
	})
	return p, nil
}

// look reads the peak memory. The peak that wait4 returns is not usable: it starts with the peak of the parent.
func (p *process) look() {
	peak := statusField(p.cmd.Process.Pid, "VmHWM") << 10
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resident = max(p.resident, peak)
}

// statusField returns a number of /proc/PID/status, 0 if it is missing.
func statusField(pid int, name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n
		}
	}
	return 0
}

// end waits for the process and returns its cost.
func (p *process) end() (cost, error) {
	p.watching.Wait()
	if p.err != nil {
		command := strings.Join(p.cmd.Args[:min(len(p.cmd.Args), 3)], " ")
		return cost{}, fmt.Errorf("%s: %w\n%s", command, p.err, p.output.String())
	}
	c := cost{
		elapsed: time.Since(p.began), resident: p.resident,
		processor: p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(),
		system:    p.cmd.ProcessState.SystemTime(),
	}
	if p.count != nil {
		calls, err := p.count.read(p.tally)
		if err != nil {
			return cost{}, err
		}
		c.calls = calls
	}
	return c, nil
}

// terminate asks the process to stop.
func (p *process) terminate() error {
	pid := p.cmd.Process.Pid
	if p.count != nil { // the process is the counter's child
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return err
		}
		if pid, err = strconv.Atoi(strings.Fields(string(text) + " 0")[0]); err != nil || pid == 0 {
			return fmt.Errorf("the counter of system calls has the children %q, want one", text)
		}
	}
	return syscall.Kill(pid, syscall.SIGTERM)
}

// usage returns the disk space of a folder, and the length of its WARC files. Sparse files take less space than their
// length.
func usage(dir string) (all, archive int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all += info.Sys().(*syscall.Stat_t).Blocks * 512
		if strings.Contains(d.Name(), ".warc") || d.Name() == "bare.gz" {
			archive += info.Size()
		}
		return nil
	})
	return all, archive, err
}

// counter counts the system calls of a process.
type counter interface {
	String() string
	wrap(cmd *exec.Cmd, tally string) *exec.Cmd
	read(tally string) (int64, error)
}

// findCounter returns a tool that works on this machine, nil if there is none.
func findCounter() counter {
	if exec.Command("perf", "stat", "-e", "raw_syscalls:sys_enter", "true").Run() == nil {
		return perf{}
	}
	if exec.Command("strace", "-f", "-c", "-o", os.DevNull, "true").Run() == nil {
		return strace{}
	}
	return nil
}

type perf struct{}

func (perf) String() string { return "perf stat" }

func (perf) wrap(cmd *exec.Cmd, tally string) *exec.Cmd {
	args := append([]string{"stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", tally, "--"}, cmd.Args...)
	return within(cmd, "perf", args)
}

func (perf) read(tally string) (int64, error) {
	return firstNumber(tally, regexp.MustCompile(`(?m)^(\d+),.*raw_syscalls:sys_enter`))
}

type strace struct{}

func (strace) String() string { return "strace -c" }

func (strace) wrap(cmd *exec.Cmd, tally string) *exec.Cmd {
	return within(cmd, "strace", append([]string{"-f", "-c", "-o", tally, "--"}, cmd.Args...))
}

func (strace) read(tally string) (int64, error) {
	return firstNumber(tally, regexp.MustCompile(`(?m)^100\.00\s+\S+\s+(?:\S+\s+)?(\d+)(?:\s+\d+)?\s+total`))
}

// within returns a command that runs cmd under a tool.
func within(cmd *exec.Cmd, tool string, args []string) *exec.Cmd {
	w := exec.Command(tool, args...)
	w.Dir, w.Env = cmd.Dir, cmd.Env
	return w
}

// firstNumber returns the number in a file that the pattern matches.
func firstNumber(file string, pattern *regexp.Regexp) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	m := pattern.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("no number of system calls in %q", text)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}
