package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// build compiles arcrawl from this tree.
func build(dir string, profiling bool) (string, error) {
	binary := filepath.Join(dir, "arcrawl")
	args := []string{"build", "-trimpath", "-o", binary}
	if profiling {
		args = append(args, "-tags", "profile")
	}
	cmd := exec.Command("go", append(args, "github.com/arcrawl/arcrawl/cmd/arcrawl")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build arcrawl: %w\n%s", err, out)
	}
	return binary, nil
}

// daemonTOML is a configuration with everything switched on except politeness, and a rule whose bounds leave it no
// choice.
const daemonTOML = `[operator]
name = "Benchmark"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[crawl]
workers = %d
[log]
extra_info = true
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
delay_factor = 0.0
min_delay = "0s"
max_delay = "0s"
crawl_delay_up_to = "0s"
%s
[[wait]]
mime = ".*"
%s
[seeds]
uris = [
%s]
`

// trusting makes arcrawl trust the headers of a server at once and never audit them, so that all revisits are alike.
const trusting = `[midfetch]
proof = 0
precision = 0.0
audit_share = 0.0
audit_every = 0
audit_within = "0s"
`

// daemon is an arcrawl to be started in a folder.
type daemon struct {
	binary   string
	dir      string
	env      []string
	profiles string // folder for its profiles; empty = no profiles
}

// environment returns the environment of the process.
func (d daemon) environment() []string {
	env := append(os.Environ(), d.env...)
	if d.profiles != "" {
		env = append(env, "ARCRAWL_PROFILES="+d.profiles)
	}
	return env
}

// mark notifies a daemon that is being profiled that its visits begin or end now.
func (d daemon) mark(p *process) error {
	if d.profiles == "" {
		return nil
	}
	return p.cmd.Process.Signal(syscall.SIGUSR1)
}

// waiting returns the settings of a rule (fixed if empty) that make it always wait this long.
func waiting(rule, wait string) string {
	if rule == "" || rule == "fixed" {
		return fmt.Sprintf("rule = \"fixed\"\nevery = %q", wait)
	}
	return fmt.Sprintf("rule = %q\nmin = %q\nmax = %q", rule, wait, wait)
}

// configure writes the configuration of the daemon.
func (d daemon) configure(s site, workers int, rule, wait, more string) error {
	var seeds strings.Builder
	for h := range s.hosts {
		fmt.Fprintf(&seeds, "%q,\n", s.origin(h)+address(0))
	}
	text := fmt.Sprintf(daemonTOML, workers, more, waiting(rule, wait), seeds.String())
	return os.WriteFile(filepath.Join(d.dir, "arcrawl.toml"), []byte(text), 0o600)
}

// crawl runs the daemon until the log satisfies until, then stops it.
func (d daemon) crawl(until func(*tally) bool, count counter) (cost, tally, error) {
	t := tally{path: filepath.Join(d.dir, "crawl.log"), uris: make(map[string]bool)}
	if info, err := os.Stat(t.path); err == nil {
		t.offset = info.Size()
	}
	diskBefore, archiveBefore, err := usage(d.dir)
	if err != nil {
		return cost{}, t, err
	}
	cmd := exec.Command(d.binary, "run", "--config", filepath.Join(d.dir, "arcrawl.toml"))
	cmd.Env = d.environment()
	p, err := start(cmd, count, d.dir)
	if err != nil {
		return cost{}, t, err
	}
	t.began = p.began
	if err = d.follow(p, &t, until); err != nil {
		_ = p.cmd.Process.Kill()
	} else {
		p.look()
		err = p.terminate()
	}
	c, ended := p.end()
	if err := errors.Join(err, ended, t.read()); err != nil {
		return cost{}, t, fmt.Errorf("%w; %s\n%s", err, t, p.output.String())
	}
	disk, archive, err := usage(d.dir)
	c.elapsed, c.documents, c.disk, c.archive = t.enough.elapsed, t.visits, disk-diskBefore, archive-archiveBefore
	return c, t, err
}

// maxSilence is how long the daemon may log nothing.
const maxSilence = time.Minute

// follow reads the log until it satisfies until.
func (d daemon) follow(p *process, t *tally, until func(*tally) bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last, seen, opened := time.Now(), t.visits, false
	for range tick.C {
		select {
		case <-p.gone:
			return errors.New("arcrawl ended too early")
		default:
		}
		if err := t.read(); err != nil {
			return err
		}
		if t.first > 0 && !opened {
			opened, t.opened = true, t.now(p)
			if err := d.mark(p); err != nil {
				return err
			}
		}
		if until(t) {
			t.enough = t.now(p)
			return d.mark(p)
		}
		if t.visits != seen {
			last, seen = time.Now(), t.visits
		}
		if time.Since(last) > maxSilence {
			return fmt.Errorf("arcrawl logged nothing for %s", maxSilence)
		}
	}
	return nil
}

// tally counts the lines of crawl.log.
type tally struct {
	path   string
	offset int64

	began  time.Time
	first  time.Duration // from the start of the daemon to its first line
	opened moment        // when the first line was seen
	enough moment        // when there were enough visits
	robots int           // visits of a robots.txt

	visits  int
	ok      int // answered 200
	same    int // answered 304
	stopped int // aborted after the head
	other   int
	revisit int             // with a payload that is already archived
	uris    map[string]bool // the visited URIs
}

// moment is the progress of a daemon at one time.
type moment struct {
	elapsed, processor time.Duration // since the start of the daemon
	visits             int           // logged by then, including visits of robots.txt
}

// now returns the progress of a process.
func (t tally) now(p *process) moment {
	return moment{elapsed: time.Since(p.began), processor: ticks(p.cmd.Process.Pid), visits: t.visits + t.robots}
}

func (t tally) String() string {
	return fmt.Sprintf("%d visits of %d documents: %d with 200 (%d aborted, %d already archived), %d with 304, %d others",
		t.visits, len(t.uris), t.ok, t.stopped, t.revisit, t.same, t.other)
}

// read counts the new lines of the log.
func (t *tally) read() error {
	f, err := os.Open(t.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(t.offset, io.SeekStart); err != nil {
		return err
	}
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		t.offset += int64(len(line))
		t.add(line)
	}
}

// add counts one line.
func (t *tally) add(line []byte) {
	columns := bytes.Fields(line)
	if len(columns) < 12 {
		return
	}
	if t.first == 0 {
		t.first = time.Since(t.began)
	}
	if bytes.HasSuffix(columns[3], []byte("/robots.txt")) {
		t.robots++
		return
	}
	t.visits++
	t.uris[string(columns[3])] = true
	switch string(columns[1]) {
	case "200":
		t.ok++
	case "304":
		t.same++
	default:
		t.other++
	}
	if bytes.Contains(columns[11], []byte("midFetchAbort")) {
		t.stopped++
	}
	if bytes.Contains(columns[11], []byte("duplicate:digest")) {
		t.revisit++
	}
}
