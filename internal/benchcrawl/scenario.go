package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// scenario is one kind of crawl.
type scenario struct {
	name, title string
	site        site             // hosts and serverPort are set later
	visits      int              // visits of each known document in a round; 0 = measure first visits
	bare        []string         // flags of the bare loop
	wget        bool             // wget can do it
	proof       func(tally) bool // reports whether the visits were the ones in the title
}

func scenarios() []scenario {
	const page, large = 15_000, 1 << 20
	all := func(n func(tally) int) func(tally) bool {
		return func(t tally) bool { return n(t) >= t.visits*99/100 }
	}
	ok := all(func(t tally) int { return t.ok - t.revisit })
	return []scenario{
		{
			name: "first", title: "First visits of pages of 15 KB",
			site: site{size: page, documents: 203}, wget: true, proof: ok,
		},
		{
			name: "large", title: "First visits of documents of 1 MB",
			site: site{size: large, documents: 10}, wget: true, proof: ok,
		},
		{
			name: "same", title: "Revisits that are answered 304",
			site: site{size: page, documents: 203}, visits: 2, bare: []string{"-ask"},
			proof: all(func(t tally) int { return t.same }),
		},
		{
			name: "aborted", title: "Revisits of documents of 1 MB that are aborted after the head",
			site: site{size: large, documents: 10, unconditional: true}, visits: 5, bare: []string{"-hangup"},
			proof: all(func(t tally) int { return t.stopped }),
		},
		{
			name: "twins", title: "First visits of pages of 15 KB whose payload is already archived",
			site: site{size: page, documents: 203, twins: true}, bare: []string{"-dedupe"},
			proof: func(t tally) bool { return t.revisit > t.visits*9/10 },
		},
		{
			name: "tls", title: "First visits of pages of 15 KB over TLS",
			site: site{size: page, documents: 203, secure: true}, wget: true, proof: ok,
		},
	}
}

// stage is a scenario that is being measured.
type stage struct {
	scenario
	o         options
	dir       string
	authority string // file of the certificate to trust; empty without TLS
}

// measure measures all programs in the scenario, in turns.
func (s scenario) measure(o options, dir string) (table, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return table{}, err
	}
	s.site.hosts = o.hosts
	s.site.documents = max(1, int(float64(s.site.documents)*o.scale))
	g := &stage{scenario: s, o: o, dir: dir}
	if s.site.secure {
		g.authority = filepath.Join(dir, "authority.pem")
	}
	stop, err := g.serve()
	if err != nil {
		return table{}, err
	}
	defer stop()
	return g.play()
}

// serve starts the server.
func (g *stage) serve() (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	wire, err := json.Marshal(g.site.wire())
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "serve", string(wire), g.authority)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		g.site.serverPort, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return stop, nil
}

// otherName is the name of the second binary of arcrawl in tables.
const otherName = "other arcrawl"

// program is one of the compared programs.
type program struct {
	name string
	run  func(dir string, count counter) (cost, error)
}

func (g *stage) programs() []program {
	p := []program{{"bare loop", g.bareLoop}, {"arcrawl", g.arcrawl(g.o.arcrawl)}}
	if g.o.other != "" {
		p = append(p, program{otherName, g.arcrawl(g.o.other)})
	}
	if _, err := exec.LookPath("wget"); err == nil && g.wget {
		p = append(p, program{"wget", g.wgetWARC})
	}
	return p
}

// play measures the rounds, and then counts the system calls in another round.
func (g *stage) play() (table, error) {
	if err := g.prepare(); err != nil {
		return table{}, fmt.Errorf("prepare: %w", err)
	}
	programs := g.programs()
	t := table{title: g.title, rounds: g.o.rounds, counter: "no tool (none is installed)"}
	for _, p := range programs {
		t.names = append(t.names, p.name)
	}
	t.costs = make([][]cost, len(programs))
	for round := range g.o.rounds {
		for k := range programs {
			i := k
			if round%2 == 1 { // so that a load that rises or falls meets each program alike
				i = len(programs) - 1 - k
			}
			c, err := g.once(programs[i], nil)
			if err != nil {
				return t, err
			}
			t.costs[i] = append(t.costs[i], c)
		}
	}
	t.calls = make([]float64, len(programs))
	if count := findCounter(); count != nil && g.o.profiles == "" {
		t.counter = count.String()
		for i, p := range programs {
			c, err := g.once(p, count)
			if err != nil {
				return t, err
			}
			t.calls[i] = float64(c.calls) / float64(c.documents)
		}
	}
	return t, nil
}

// once runs a program in a folder of its own.
func (g *stage) once(p program, count counter) (cost, error) {
	dir, err := os.MkdirTemp(g.dir, "run-")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	c, err := p.run(dir, count)
	if err != nil {
		return c, fmt.Errorf("%s: %w", p.name, err)
	}
	return c, nil
}

// prepare writes the lists of URIs and, for revisits, crawls everything for the first time.
func (g *stage) prepare() error {
	turns, list := g.site.uris(false), ""
	for range max(1, g.visits) {
		list += turns
	}
	err := errors.Join(os.WriteFile(filepath.Join(g.dir, "turns"), []byte(list), 0o600),
		os.WriteFile(filepath.Join(g.dir, "hosts"), []byte(g.site.uris(true)), 0o600))
	if err != nil || g.visits == 0 {
		return err
	}
	for _, binary := range []string{g.o.arcrawl, g.o.other} {
		if binary == "" {
			continue
		}
		d, err := g.daemon(g.known(binary), "1s")
		if err != nil {
			return err
		}
		d.binary = binary
		if _, _, err = d.crawl(func(t *tally) bool { return len(t.uris) >= g.documents() }, nil); err != nil {
			return err
		}
	}
	return nil
}

// known returns the folder in which a binary has crawled everything for the first time.
func (g *stage) known(binary string) string {
	if binary == g.o.other {
		return filepath.Join(g.dir, "known-other")
	}
	return filepath.Join(g.dir, "known")
}

func (g *stage) documents() int { return g.site.hosts * g.site.documents }

// daemon configures arcrawl in a folder. wait is the time between two visits of a document.
func (g *stage) daemon(dir, wait string) (daemon, error) {
	d := daemon{binary: g.o.arcrawl, dir: dir}
	if g.authority != "" {
		d.env = append(d.env, "SSL_CERT_FILE="+g.authority)
	}
	if g.o.profiles != "" {
		d.profiles = filepath.Join(g.o.profiles, g.name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return d, err
	}
	more := ""
	if g.visits > 0 {
		more = trusting
	}
	return d, d.configure(g.site, g.o.workers, g.o.rule, wait, more)
}

// arcrawl returns the function that measures a binary of arcrawl.
func (g *stage) arcrawl(binary string) func(string, counter) (cost, error) {
	return func(dir string, count counter) (cost, error) {
		if g.visits > 0 {
			return g.again(binary, dir, count)
		}
		return g.first(binary, dir, count)
	}
}

// first crawls all documents in a new folder.
func (g *stage) first(binary, dir string, count counter) (cost, error) {
	d, err := g.daemon(dir, "28d")
	if err != nil {
		return cost{}, err
	}
	d.binary = binary
	c, t, err := d.crawl(func(t *tally) bool { return t.visits >= g.documents() }, count)
	return c, errors.Join(err, g.check(t))
}

// again crawls the documents that prepare has made known. It always begins with the same store, because a store that
// was used in a round before has more tables to merge.
func (g *stage) again(binary, dir string, count counter) (cost, error) {
	d, err := g.daemon(dir, "1ms")
	if err != nil {
		return cost{}, err
	}
	d.binary = binary
	for _, part := range []string{"state", "warc"} { // a payload whose file is missing would be archived again
		if err := copyFolder(filepath.Join(dir, part), filepath.Join(g.known(binary), part)); err != nil {
			return cost{}, err
		}
	}
	c, t, err := d.crawl(func(t *tally) bool { return t.visits >= g.visits*g.documents() }, count)
	return c, errors.Join(err, g.check(t))
}

// copyFolder copies a folder with the times of its files. The daemon reads an archived file again that has another time
// than its index and its manifest say.
func copyFolder(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		copied := filepath.Join(to, strings.TrimPrefix(path, from))
		return os.Chtimes(copied, info.ModTime(), info.ModTime())
	})
}

// check returns an error if the visits were not the ones in the title of the scenario.
func (g *stage) check(t tally) error {
	if g.proof(t) {
		return nil
	}
	return fmt.Errorf("wrong kind of visits: %s", t)
}

func (g *stage) bareLoop(dir string, count counter) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	args := []string{
		"bare", "-list", filepath.Join(g.dir, "turns"), "-out", filepath.Join(dir, "bare.gz"), "-authority", g.authority,
	}
	args = append(args, g.bare...)
	c, err := g.simple(exec.Command(self, args...), dir, count)
	c.documents = g.documents() * max(1, g.visits)
	return c, err
}

func (g *stage) wgetWARC(dir string, count counter) (cost, error) {
	args := []string{
		"--no-config", "--no-hsts", "--quiet", "--tries=1", "--input-file", filepath.Join(g.dir, "hosts"),
		"--output-document", os.DevNull, "--warc-file", filepath.Join(dir, "wget"), "--warc-tempdir", dir,
	}
	if g.authority != "" {
		args = append(args, "--ca-certificate", g.authority)
	}
	c, err := g.simple(exec.Command("wget", args...), dir, count)
	c.documents = g.documents()
	return c, err
}

// simple measures a program that ends by itself.
func (g *stage) simple(cmd *exec.Cmd, dir string, count counter) (cost, error) {
	cmd.Dir = dir
	p, err := start(cmd, count, dir)
	if err != nil {
		return cost{}, err
	}
	c, err := p.end()
	if err != nil {
		return c, err
	}
	c.disk, c.archive, err = usage(dir)
	return c, err
}
