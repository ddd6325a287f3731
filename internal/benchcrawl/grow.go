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

// growth is the question how the cost of a document grows with one number.
type growth struct {
	o       options
	total   int // documents of a run
	sizes   map[string][]int
	out     io.Writer
	idleFor time.Duration
}

// grow measures arcrawl with one number after the other made larger, and beside it the bare loop on the same documents,
// because a busy machine changes more than the number does. What the daemon has had of the processor by the first line of its
// log is told as the opening, all from then on, the end included, as the visits.
//
//	go run ./internal/benchcrawl grow hosts connections known links idle
//
// A store that was filled for a measurement is copied for each round. In a folder given with -dir it stays, and is used again by
// the next run.
func grow(args []string, out io.Writer) error {
	g := growth{out: out, sizes: make(map[string][]int)}
	lists := map[string]*string{}
	flags := flag.NewFlagSet("grow", flag.ContinueOnError)
	for kind, usual := range map[string]string{
		"hosts": "10,100,1000,5000", "connections": "1,10,100,500", "known": "10000,100000,1000000", "links": "0,5000", "idle": "1000000",
	} {
		lists[kind] = flags.String(kind, usual, "the sizes of the measurement of this name")
	}
	flags.IntVar(&g.o.rounds, "rounds", 3, "how often each is measured; the median is printed")
	flags.IntVar(&g.total, "documents", 12_000, "documents of a run")
	flags.StringVar(&g.o.arcrawl, "arcrawl", "", "the binary to measure; built from this tree by default")
	flags.StringVar(&g.o.profiles, "profiles", "", "write profiles of each round into this folder, the opening apart; the times then include that")
	flags.StringVar(&g.o.dir, "dir", "", "where everything is written; a folder in the temporary one by default")
	flags.DurationVar(&g.idleFor, "idle-for", time.Minute, "how long an idle daemon is watched")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for kind, list := range lists {
		for text := range strings.SplitSeq(*list, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("-%s %q: want whole numbers with commas between", kind, *list)
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
	if g.o.arcrawl == "" {
		if g.o.arcrawl, err = build(g.o.dir, g.o.profiles != ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s\n", machine())
	return g.all(flags.Args())
}

func (g growth) all(kinds []string) error {
	for _, kind := range kinds {
		measure, ok := map[string]func(int) error{
			"hosts": g.hosts, "connections": g.connections, "known": g.known, "links": g.links, "idle": g.idle,
		}[kind]
		if !ok {
			return fmt.Errorf("no measurement %q; there are hosts, connections, known, links and idle", kind)
		}
		fmt.Fprintf(g.out, "\n| %s | CPU s / 1,000 visits | × bare loop | visits / s | peak resident MB | opening, CPU s | first line after |\n|---|---|---|---|---|---|---|\n", kind)
		for _, n := range g.sizes[kind] {
			if err := measure(n); err != nil {
				return fmt.Errorf("%s %d: %w", kind, n, err)
			}
		}
	}
	return nil
}

// run crawls a new site in rounds, each beginning with what prepare leaves in the folder of the store, and prints the
// medians.
func (g growth) run(kind string, n int, s site, workers, visits int, prepare func(state string) error) error {
	g.o.workers, g.o.hosts = workers, s.hosts
	st := &stage{scenario: scenario{name: fmt.Sprintf("%s-%d", kind, n), site: s}, o: g.o, dir: g.o.dir}
	stop, err := st.serve()
	if err != nil {
		return err
	}
	defer stop()
	if err := st.prepare(); err != nil {
		return err
	}
	var processor, ratio, rate, resident, opening, first []float64
	for round := range g.o.rounds {
		bare, err := st.once(program{"bare loop", st.bareLoop}, nil)
		if err != nil {
			return err
		}
		if g.o.profiles != "" {
			st.o.profiles = filepath.Join(g.o.profiles, strconv.Itoa(round+1))
		}
		c, t, err := g.round(st, visits, prepare)
		if err != nil {
			return err
		}
		each := (c.processor - t.opening).Seconds() / float64(t.visits+t.robots)
		processor = append(processor, 1000*each)
		ratio = append(ratio, each/(bare.processor.Seconds()/float64(bare.documents)))
		rate = append(rate, float64(t.visits+t.robots)/(c.elapsed-t.first).Seconds())
		resident = append(resident, float64(c.resident)/1e6)
		opening = append(opening, t.opening.Seconds())
		first = append(first, t.first.Seconds())
	}
	_, err = fmt.Fprintf(g.out, "| %d | %.3f | %.2f | %.0f | %.0f | %.2f | %.2f s |\n", n, median(processor), median(ratio), median(rate),
		median(resident), median(opening), median(first))
	return err
}

func (g growth) round(st *stage, visits int, prepare func(string) error) (cost, tally, error) {
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

// hosts spreads the same number of documents over more hosts. Each has its robots.txt, which counts as a visit.
func (g growth) hosts(n int) error {
	each := max(2, g.total/n)
	return g.run("hosts", n, site{size: page, hosts: n, documents: each}, 50, n*each, nil)
}

// connections lets more workers visit 500 hosts.
func (g growth) connections(n int) error {
	const hosts = 500
	each := max(2, g.total/hosts)
	return g.run("connections", n, site{size: page, hosts: hosts, documents: each}, n, hosts*each, nil)
}

// known puts so many URIs into the store first, which are not due.
func (g growth) known(n int) error {
	const hosts = 60
	each := max(2, g.total/hosts)
	filled, err := g.filled(n)
	if err != nil {
		return err
	}
	return g.run("known", n, site{size: page, hosts: hosts, documents: each}, 50, hosts*each, func(state string) error {
		return os.CopyFS(state, os.DirFS(filled))
	})
}

// links visits pages of a quarter of a megabyte with so many links, which nearly all are known; it also says what the
// tokenizer alone takes to read such a page.
func (g growth) links(n int) error {
	s := site{size: 250_000, hosts: 2, documents: 5100, links: n}
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
	each := (processorTime() - before).Seconds() / times
	if err := g.run("links", n, s, 50, 1000, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(g.out, "| the tokenizer alone | %.3f | | | | | |\n", 1000*each)
	return err
}

// dueLater is when the URIs that fill a store are due.
const dueLater = 300 * 24 * time.Hour

// filled is the folder of a store with n URIs, which is made if it is not there.
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

// fill makes a store with n URIs, 250 on each host, none of which is due, and lets it come to rest.
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

// merging tells that a store has still to merge tables of what was written. That belongs to the filling.
func merging(f *frontier.Frontier) bool {
	return slices.ContainsFunc(f.DB().Levels(), func(l badger.LevelInfo) bool { return l.Score >= 1 })
}
