// Command benchfrontier measures a frontier of the size of a real crawl. For comparison it measures plain Badger and
// plain Pebble with the same writes. It is a module of its own, so that arcrawl does not depend on Pebble.
//
//	go run . -uris 1000000 -hosts 20000 -cycle 30s
//	go run . -engine badger,pebble -uris 1000000 -hosts 20000 -cycle 30s
//
// It reports the processor time of the whole process, including compactions, because elapsed times on a busy machine
// mean little.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// size says how much to measure.
type size struct {
	uris, hosts int
	workers     int
	cycle       time.Duration // duration of each measurement of visits
	sync        time.Duration // time between two syncs
	keep        bool          // use and keep the store in -dir
	quick       bool          // only visits without links, and no idling
	hot         int           // measure one host with this many URIs instead; 0 = do not
	pace        int           // visits per second; 0 = as many as possible
	visits      int           // maximum number of visits of each measurement; 0 = no limit
}

// engine is a store under test. Its methods may be called by many goroutines at once.
type engine interface {
	// load adds the URIs from number i to j-1.
	load(i, j int) error
	// visit claims a URI that is due, and settles it with the given number of known links.
	visit(worker, links int) error
	sync() error
	close() error
	reopen() error
	// live returns the total size of all keys and values in bytes.
	live() (int64, error)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "benchfrontier:", err)
		os.Exit(1)
	}
}

func run() error {
	var s size
	var dir, engines, profile, heap string
	var memory int64
	var garbage int
	flag.IntVar(&s.uris, "uris", 1_000_000, "load `N` URIs")
	flag.IntVar(&s.hosts, "hosts", 20_000, "spread them over `N` hosts")
	flag.IntVar(&s.workers, "workers", 8, "make `N` visits at a time")
	flag.DurationVar(&s.cycle, "cycle", 20*time.Second, "measure each kind of visit for this `duration`")
	flag.DurationVar(&s.sync, "sync", 200*time.Millisecond, "sync the store at this `interval`")
	flag.BoolVar(&s.keep, "keep", false, "use the store in -dir if there is one, and keep it")
	flag.BoolVar(&s.quick, "quick", false, "measure only visits without links, and no idling")
	flag.IntVar(&s.hot, "hot", 0, "measure one host with `N` URIs for ten cycles instead")
	flag.StringVar(&engines, "engine", "arcrawl,badger,pebble", "comma-separated `list` of engines")
	flag.StringVar(&dir, "dir", "", "write the stores into this `folder` (default: a new temporary folder)")
	flag.StringVar(&profile, "cpuprofile", "", "write a CPU profile of the visits without links to this `file`")
	flag.StringVar(&heap, "memprofile", "", "write a profile of the memory in use after the visits without links to this `file`")
	flag.IntVar(&s.pace, "pace", 0, "make `N` visits per second (0 = as many as possible)")
	flag.IntVar(&s.visits, "visits", 0, "end each measurement after `N` visits, to compare equal work (0 = after -cycle)")
	flag.IntVar(&garbage, "gogc", 50, "set GOGC to this `percentage`; 50 is the maximum of the daemon")
	flag.Int64Var(&memory, "memory", 0, "set the memory limit of the Go runtime in `bytes` (0 = no limit, as in the daemon)")
	flag.Parse()
	if memory > 0 {
		debug.SetMemoryLimit(memory)
	}
	debug.SetGCPercent(garbage)
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "benchfrontier-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	for _, name := range strings.Split(engines, ",") {
		if err := measure(name, filepath.Join(dir, name), s, profile, heap); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func writeHeap(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// open opens a store with the named engine.
func open(name, dir string, s size) (engine, error) {
	switch name {
	case "arcrawl":
		return openArcrawl(dir, s)
	case "badger":
		return openBadger(dir, s)
	case "pebble":
		return openPebble(dir, s)
	}
	return nil, fmt.Errorf("unknown engine; want arcrawl, badger or pebble")
}

// measure measures one engine and prints a line for each result.
func measure(name, dir string, s size, profile, heap string) error {
	if s.hot > 0 {
		s.uris, s.hosts, s.workers = s.hot, 1, 1
	}
	start := time.Now()
	e, err := open(name, dir, s)
	if err != nil {
		return err
	}
	fmt.Printf("%-8s %d URIs, %d hosts; opened in %s\n", name, s.uris, s.hosts, short(time.Since(start)))
	if err := fill(name, dir, e, s); err != nil {
		return err
	}
	if s.hot > 0 {
		return hot(name, e, s)
	}
	if err := again(name, e); err != nil {
		return err
	}
	if profile != "" && name == "arcrawl" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	err = visits(name, e, s, 0)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	if heap != "" && name == "arcrawl" {
		if err := writeHeap(heap); err != nil {
			return err
		}
	}
	for _, links := range []int{20, 200} {
		if name != "arcrawl" || s.quick {
			break
		}
		if err := visits(name, e, s, links); err != nil {
			return err
		}
	}
	if err := again(name, e); err != nil {
		return err
	}
	if !s.quick {
		if err := idle(name, e); err != nil {
			return err
		}
	}
	if err := disk(name, dir, e); err != nil {
		return err
	}
	return e.close()
}

// fill loads the URIs in portions of the size of a page.
func fill(name, dir string, e engine, s size) error {
	if s.keep {
		if _, err := os.Stat(filepath.Join(dir, "filled")); err == nil {
			return nil
		}
	}
	start, cpu := time.Now(), processor()
	const portion = 100
	for i := 0; i < s.uris; i += portion {
		if err := e.load(i, min(i+portion, s.uris)); err != nil {
			return err
		}
	}
	report(name, "load", s.uris, time.Since(start), processor()-cpu)
	if s.keep {
		return os.WriteFile(filepath.Join(dir, "filled"), nil, 0o600)
	}
	return nil
}

// again closes and opens the store, as at a restart of the daemon.
func again(name string, e engine) error {
	if err := e.close(); err != nil {
		return err
	}
	start, cpu := time.Now(), processor()
	if err := e.reopen(); err != nil {
		return err
	}
	fmt.Printf("%-8s re-open   %s, %s of CPU\n", name, short(time.Since(start)), short(processor()-cpu))
	return nil
}

// visits measures the visits of all workers, and syncs the store meanwhile.
func visits(name string, e engine, s size, links int) error {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var syncs []time.Duration
	stop := make(chan struct{})
	var working, syncing sync.WaitGroup
	start, cpu := time.Now(), processor()
	for w := range s.workers {
		working.Go(func() {
			more := func(n int) bool {
				return time.Since(start) < s.cycle && (s.visits == 0 || n < s.visits) && failed.Load() == nil
			}
			for n := w; more(n); n += s.workers {
				if s.pace > 0 {
					time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(s.pace))))
				}
				if err := e.visit(w, links); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
				done.Add(1)
			}
		})
	}
	syncing.Go(func() {
		tick := time.NewTicker(s.sync)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			begin := time.Now()
			if err := e.sync(); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
			syncs = append(syncs, time.Since(begin))
		}
	})
	working.Wait()
	close(stop)
	syncing.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	what := "visit"
	if links > 0 {
		what = fmt.Sprintf("visit+%d", links)
	}
	report(name, what, int(done.Load()), time.Since(start), processor()-cpu)
	slices.Sort(syncs)
	if n := len(syncs); n > 0 {
		fmt.Printf("%-8s %-9s %d syncs: median %s, 90th percentile %s, maximum %s\n",
			name, what, n, short(syncs[n/2]), short(syncs[n*9/10]), short(syncs[n-1]))
	}
	return nil
}

// hot visits all URIs of one host ten times, and compares the last cycle with the first.
func hot(name string, e engine, s size) error {
	var first time.Duration
	for cycle := range 10 {
		cpu, start := processor(), time.Now()
		for range s.uris {
			if err := e.visit(0, 0); err != nil {
				return err
			}
		}
		spent := processor() - cpu
		if cycle == 0 {
			first = spent
		}
		if cycle == 0 || cycle == 9 {
			report(name, fmt.Sprintf("cycle %d", cycle+1), s.uris, time.Since(start), spent)
			fmt.Printf("%-8s cycle %d   %.2f × the first cycle\n", name, cycle+1, float64(spent)/float64(first))
		}
	}
	return e.close()
}

// idle measures the cost of an idle store that is synced every 200 ms.
func idle(name string, e engine) error {
	const seconds = 10
	if err := e.sync(); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // for the compactions
	cpu := processor()
	for range seconds * 5 {
		time.Sleep(200 * time.Millisecond)
		if err := e.sync(); err != nil {
			return err
		}
	}
	spent := processor() - cpu
	fmt.Printf("%-8s idle      %.2f %% of a core, with a sync every 200 ms\n", name, 100*spent.Seconds()/seconds)
	return nil
}

// disk prints the disk space of the store as a multiple of its live data.
func disk(name, dir string, e engine) error {
	live, err := e.live()
	if err != nil {
		return err
	}
	used := usage(dir)
	ratio := float64(used) / float64(live)
	fmt.Printf("%-8s disk      %s, live data %s, ratio %.2f\n", name, human.Bytes(used), human.Bytes(live), ratio)
	return nil
}
