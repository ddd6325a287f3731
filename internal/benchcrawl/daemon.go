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

// build compiles the daemon of this tree.
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

// daemonTOML is a configuration with everything on but politeness, and a rule within bounds that leave it no choice.
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

// believing has the headers of a server believed at once and never audited, so that each revisit is the same.
const believing = `[midfetch]
proof = 0
precision = 0.0
audit_share = 0.0
audit_every = 0
audit_within = "0s"
`

// daemon is arcrawl in a folder.
type daemon struct {
	binary   string
	dir      string
	env      []string
	profiles string // where it writes them; empty without
}

// environment is that of the process.
func (d daemon) environment() []string {
	env := append(os.Environ(), d.env...)
	if d.profiles != "" {
		env = append(env, "ARCRAWL_PROFILES="+d.profiles)
	}
	return env
}

// mark tells a daemon that is profiled that its visits begin, or end, now.
func (d daemon) mark(p *process) error {
	if d.profiles == "" {
		return nil
	}
	return p.cmd.Process.Signal(syscall.SIGUSR1)
}

// waiting has a rule, fixed if it is empty, wait for so long always.
func waiting(rule, wait string) string {
	if rule == "" || rule == "fixed" {
		return fmt.Sprintf("rule = \"fixed\"\nevery = %q", wait)
	}
	return fmt.Sprintf("rule = %q\nmin = %q\nmax = %q", rule, wait, wait)
}

// configure writes the configuration.
func (d daemon) configure(s site, workers int, rule, wait, more string) error {
	var seeds strings.Builder
	for h := range s.hosts {
		fmt.Fprintf(&seeds, "%q,\n", s.origin(h)+address(0))
	}
	text := fmt.Sprintf(daemonTOML, workers, more, waiting(rule, wait), seeds.String())
	return os.WriteFile(filepath.Join(d.dir, "arcrawl.toml"), []byte(text), 0o600)
}

// crawl runs the daemon until so many visits of documents are logged, then stops it.
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

// patience is how long nothing may be logged.
const patience = time.Minute

// follow reads the log until it says enough.
func (d daemon) follow(p *process, t *tally, until func(*tally) bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last, seen, opened := time.Now(), t.visits, false
	for range tick.C {
		select {
		case <-p.gone:
			return errors.New("arcrawl has ended too early")
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
		if time.Since(last) > patience {
			return fmt.Errorf("arcrawl has logged nothing for %s", patience)
		}
	}
	return nil
}

// tally counts what crawl.log says of documents.
type tally struct {
	path   string
	offset int64

	began  time.Time
	first  time.Duration // from the start of the daemon to its first line
	opened moment        // when the first line was seen
	enough moment        // when there were as many visits as were wanted
	robots int           // visits of a robots.txt

	visits  int
	ok      int // answered 200
	same    int // answered 304
	stopped int // broken off after the head
	other   int
	revisit int             // of a payload that is archived already
	uris    map[string]bool // visited
}

// moment is how far a daemon has come.
type moment struct {
	elapsed, processor time.Duration // since its start
	visits             int           // logged by then, those of robots.txt too
}

func (t tally) now(p *process) moment {
	return moment{elapsed: time.Since(p.began), processor: ticks(p.cmd.Process.Pid), visits: t.visits + t.robots}
}

func (t tally) String() string {
	return fmt.Sprintf("%d visits of %d documents: %d with 200 (%d broken off, %d archived already), %d with 304, %d others",
		t.visits, len(t.uris), t.ok, t.stopped, t.revisit, t.same, t.other)
}

// read goes on in the log.
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
	if !t.uris[string(columns[3])] {
		t.uris[string(columns[3])] = true
	}
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
