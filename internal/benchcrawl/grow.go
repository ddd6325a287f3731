package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// growth measures how the cost of a document grows with one number.
type growth struct {
	o       options
	total   int              // documents of a run
	sizes   map[string][]int // by kind of measurement
	out     io.Writer
	idleFor time.Duration // how long an idle daemon is observed
}

// grow measures arcrawl with one number at a time made larger. It measures the bare loop on the same documents,
// because a busy machine can change the result more than the number does. The cost of a visit is the processor time of
// the daemon from the first line of its log until the last wanted document was logged. Startup before that and
// shutdown after it are reported apart.
//
//	go run ./internal/benchcrawl grow hosts connections known links idle
//
// A store that is filled for a measurement is copied for each round. With -dir it is kept, and the next run uses it
// again.
func grow(args []string, out io.Writer) error {
	g := growth{out: out, sizes: make(map[string][]int)}
	lists := map[string]*string{}
	flags := flag.NewFlagSet("grow", flag.ContinueOnError)
	for kind, sizes := range map[string]string{
		"hosts": "10,100,1000,5000", "connections": "1,10,100,500", "known": "10000,100000,1000000",
		"links": "0,5000", "idle": "1000000",
	} {
		lists[kind] = flags.String(kind, sizes, "comma-separated `sizes` for the measurement of this name")
	}
	flags.IntVar(&g.o.rounds, "rounds", 3, "measure each size `N` times and print the median")
	flags.IntVar(&g.total, "documents", 12_000, "crawl `N` documents in each run")
	flags.StringVar(&g.o.arcrawl, "arcrawl", "", "measure this `binary` (default: build one from this tree)")
	flags.StringVar(&g.o.profiles, "profiles", "", "write profiles of each round into this `folder`, startup apart; the times then include profiling")
	flags.StringVar(&g.o.dir, "dir", "", "write all files into this `folder` (default: a new temporary folder)")
	flags.DurationVar(&g.idleFor, "idle-for", time.Minute, "observe an idle daemon for this `duration`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for kind, list := range lists {
		for text := range strings.SplitSeq(*list, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("-%s %q: want comma-separated whole numbers", kind, *list)
			}
			g.sizes[kind] = append(g.sizes[kind], n)
		}
	}
	var err error
	if g.o.dir == "" {
		if g.o.dir, err = os.MkdirTemp("", "benchcrawl-"); err != nil {
			return err
		}
		defer os.RemoveAll(g.o.dir)
	}
	if g.o.dir, err = filepath.Abs(g.o.dir); err != nil { // each program starts in a folder of its own
		return err
	}
	if g.o.arcrawl == "" {
		if g.o.arcrawl, err = build(g.o.dir, g.o.profiles != ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s\n", machine())
	return g.all(flags.Args())
}

// all runs the named measurements.
func (g growth) all(kinds []string) error {
	for _, kind := range kinds {
		measure, ok := map[string]func(growth, int) (figures, error){
			"hosts": growth.hosts, "connections": growth.connections, "known": growth.known, "links": growth.links, "idle": nil,
		}[kind]
		switch {
		case !ok:
			return fmt.Errorf("unknown measurement %q; the measurements are hosts, connections, known, links and idle", kind)
		case kind == "idle":
			if err := g.idle(); err != nil {
				return err
			}
			continue
		}
		if err := g.table(kind, measure); err != nil {
			return err
		}
		if kind == "links" {
			for _, n := range g.sizes[kind] {
				fmt.Fprintf(g.out, "\nThe tokenizer alone, a page with %d links: %.2f ms\n", n, 1000*tokenizing(n).Seconds())
			}
		}
	}
	return nil
}

// figures are the results of a run, in the order of the columns.
type figures [7]float64

// columns are the names of figures and their formats.
var columns = [len(figures{})][2]string{
	{"CPU s / 1,000 visits", "%.3f"},
	{"× bare loop", "%.2f"},
	{"visits / s", "%.0f"},
	{"peak resident MB", "%.0f"},
	{"startup, CPU s", "%.2f"},
	{"shutdown, CPU s", "%.2f"},
	{"first log line after, s", "%.2f"},
}

// table measures all sizes in each round, and prints the medians. It also prints the cost of a visit as a multiple of
// the cost at the first size: the median of the ratios of all rounds.
func (g growth) table(kind string, measure func(growth, int) (figures, error)) error {
	sizes := g.sizes[kind]
	measured := make([][len(columns)][]float64, len(sizes))
	ratios := make([][]float64, len(sizes))
	for round := range g.o.rounds {
		turn := g
		if g.o.profiles != "" {
			turn.o.profiles = filepath.Join(g.o.profiles, strconv.Itoa(round+1))
		}
		for i, n := range sizes {
			f, err := measure(turn, n)
			if err != nil {
				return fmt.Errorf("%s %d: %w", kind, n, err)
			}
			for column, value := range f {
				measured[i][column] = append(measured[i][column], value)
			}
			ratios[i] = append(ratios[i], f[0]/measured[0][0][round])
		}
	}
	fmt.Fprintf(g.out, "\n| %s | × first size", kind)
	for _, c := range columns {
		fmt.Fprintf(g.out, " | %s", c[0])
	}
	fmt.Fprintf(g.out, " |\n|---|---|%s\n", strings.Repeat("---|", len(columns)))
	for i, n := range sizes {
		fmt.Fprintf(g.out, "| %d | %.2f", n, median(ratios[i]))
		for column, c := range columns {
			fmt.Fprintf(g.out, " | "+c[1], median(measured[i][column]))
		}
		fmt.Fprintln(g.out, " |")
	}
	return nil
}

// run crawls a new site. prepare may fill the folder of the store first.
func (g growth) run(name string, s site, workers, visits int, prepare func(state string) error) (figures, error) {
	g.o.workers, g.o.hosts = workers, s.hosts
	st := &stage{scenario: scenario{name: name, site: s}, o: g.o, dir: g.o.dir}
	stop, err := st.serve()
	if err != nil {
		return figures{}, err
	}
	defer stop()
	if err := st.prepare(); err != nil {
		return figures{}, err
	}
	bare, err := st.once(program{"bare loop", st.bareLoop}, nil)
	if err != nil {
		return figures{}, err
	}
	c, t, err := g.crawl(st, visits, prepare)
	if err != nil {
		return figures{}, err
	}
	n := float64(t.enough.visits - t.opened.visits)
	if n == 0 {
		return figures{}, errors.New("all documents were visited before the log was first read; use a larger -documents")
	}
	each := (t.enough.processor - t.opened.processor).Seconds() / n
	return figures{
		1000 * each, each / (bare.processor.Seconds() / float64(bare.documents)),
		n / (t.enough.elapsed - t.opened.elapsed).Seconds(), float64(c.resident) / 1e6,
		t.opened.processor.Seconds(), (c.processor - t.enough.processor).Seconds(), t.first.Seconds(),
	}, nil
}

// crawl runs arcrawl in a new folder until it has made this many visits.
func (g growth) crawl(st *stage, visits int, prepare func(string) error) (cost, tally, error) {
	dir, err := os.MkdirTemp(g.o.dir, "grow-")
	if err != nil {
		return cost{}, tally{}, err
	}
	defer os.RemoveAll(dir)
	d, err := st.daemon(dir, "28d")
	if err != nil {
		return cost{}, tally{}, err
	}
	if prepare != nil {
		if err := prepare(filepath.Join(dir, "state")); err != nil {
			return cost{}, tally{}, err
		}
	}
	return d.crawl(func(t *tally) bool { return t.visits >= visits }, nil)
}

const page = 15_000

// hosts distributes the same number of documents over n hosts. Each has a robots.txt, which counts as a visit.
func (g growth) hosts(n int) (figures, error) {
	each := max(2, g.total/n)
	return g.run(fmt.Sprintf("hosts-%d", n), site{size: page, hosts: n, documents: each}, 50, n*each, nil)
}

// connections visits 500 hosts with n workers.
func (g growth) connections(n int) (figures, error) {
	const hosts = 500
	each := max(2, g.total/hosts)
	return g.run(fmt.Sprintf("connections-%d", n), site{size: page, hosts: hosts, documents: each}, n, hosts*each, nil)
}

// known first puts n URIs into the store that are not due.
func (g growth) known(n int) (figures, error) {
	const hosts = 60
	each := max(2, g.total/hosts)
	filled, err := g.filled(n)
	if err != nil {
		return figures{}, err
	}
	s := site{size: page, hosts: hosts, documents: each}
	prepare := func(state string) error { return os.CopyFS(state, os.DirFS(filled)) }
	return g.run(fmt.Sprintf("known-%d", n), s, 50, hosts*each, prepare)
}

// links visits pages of 250 KB with n links, of which nearly all are known.
func (g growth) links(n int) (figures, error) {
	return g.run(fmt.Sprintf("links-%d", n), linked(n), 50, 1000, nil)
}

// linked returns a site of pages of 250 KB with n links each.
func linked(n int) site { return site{size: 250_000, hosts: 2, documents: 5100, links: n} }

// tokenizing returns the processor time of the tokenizer alone for a page with n links.
func tokenizing(n int) time.Duration {
	s := linked(n)
	text := s.document(nil, texts(s.size), host(0), 7)
	const times = 50
	before := processorTime()
	for range times {
		for z := html.NewTokenizer(strings.NewReader(string(text))); z.Next() != html.ErrorToken; {
			_, more := z.TagName()
			for more {
				_, _, more = z.TagAttr()
			}
		}
	}
	return (processorTime() - before) / times
}

// dueLater is the time until the URIs that fill a store are due.
const dueLater = 300 * 24 * time.Hour

// filled returns the folder of a store with n URIs, and creates it if necessary.
func (g growth) filled(n int) (string, error) {
	dir := filepath.Join(g.o.dir, fmt.Sprintf("filled-%d", n))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	half := dir + ".half"
	if err := errors.Join(os.RemoveAll(half), fill(half, n)); err != nil {
		return "", err
	}
	return dir, os.Rename(half, dir)
}

// fill creates a store with n URIs, 250 on each host, of which none is due. It waits until the store has merged its
// tables.
func fill(state string, n int) error {
	now := time.Now()
	f, err := frontier.Open(frontier.Options{Dir: state, Now: now, RestAfterCrash: time.Millisecond})
	if err != nil {
		return err
	}
	batch := make([]frontier.Candidate, 0, 1000)
	for i := range n {
		u := uri.FromCanonical(fmt.Sprintf("https://www.host-%d.example/section/%d/an-article-with-a-name-%d.html", i/250, i%10, i))
		batch = append(batch, frontier.Candidate{
			URI: u, Hops: "LL", Via: "https://" + string(u.Host()) + "/", Seed: "https://" + string(u.Host()) + "/",
			Due: now.Add(dueLater + time.Duration(i)*time.Millisecond),
		})
		if len(batch) == cap(batch) || i == n-1 {
			if _, err := f.Add(now, batch...); err != nil {
				_ = f.Close()
				return err
			}
			batch = batch[:0]
		}
	}
	for merging(f) {
		time.Sleep(100 * time.Millisecond)
	}
	return f.Close()
}

// merging reports whether a store still has tables to merge.
func merging(f *frontier.Frontier) bool {
	return slices.ContainsFunc(f.DB().Levels(), func(l badger.LevelInfo) bool { return l.Score >= 1 })
}
