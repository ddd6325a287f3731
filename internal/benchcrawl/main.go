// Command benchcrawl measures what a document costs in the whole program, compared with the minimum that an archive
// needs.
//
//	make bench-crawl                                        # all scenarios, five rounds each
//	go run ./internal/benchcrawl -scenario first -rounds 9  # one scenario
//	go run ./internal/benchcrawl -scenario first -profiles /tmp/profiles
//	go run ./internal/benchcrawl -aspects -rounds 40        # what each aspect costs a visit
//	go run ./internal/benchcrawl grow hosts connections known links idle
//	go run ./internal/benchcrawl grow -profiles /tmp/profiles -dir /tmp/grow -known 10000,5000000 known
//
// A server in a process of its own plays many hosts, each at its own loopback address. Three programs fetch the same
// documents from it, one after the other in each round:
//
//   - a bare loop of GET, SHA-1, gzip and append, which is part of this command and guarantees nothing;
//   - the real arcrawl, with everything switched on except politeness;
//   - GNU wget with --warc-file, in scenarios that it can do.
//
// Times are the user and system time of the process, startup and shutdown included. The output is the median of all
// rounds, as a table for docs/benchmarks.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchcrawl:", err)
		os.Exit(1)
	}
}

// command runs the benchmark, or one of the child processes that it starts from its own binary.
func command(args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve":
			return serve(args[1:], out)
		case "bare":
			return bare(args[1:])
		case "grow":
			return grow(args[1:], out)
		}
	}
	return benchmark(args, out)
}

// options are the flags of the command line.
type options struct {
	rounds   int
	hosts    int
	workers  int
	scale    float64
	rule     string
	names    string
	arcrawl  string
	other    string
	profiles string
	dir      string
	aspects  bool
}

func benchmark(args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("benchcrawl", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "measure each program `N` times in each scenario and print the median")
	flags.IntVar(&o.hosts, "hosts", 60, "serve `N` hosts")
	flags.IntVar(&o.workers, "workers", 50, "set crawl.workers of arcrawl to `N`")
	flags.StringVar(&o.rule, "rule", "fixed", "`rule` of the wait evaluator: fixed, classic or learned, with bounds that leave it no choice")
	flags.Float64Var(&o.scale, "scale", 1, "multiply the number of documents by `factor`")
	flags.StringVar(&o.names, "scenario", scenarioNames(), "comma-separated `list` of scenarios")
	flags.StringVar(&o.arcrawl, "arcrawl", "", "measure this `binary` (default: build one from this tree)")
	flags.StringVar(&o.other, "other", "", "also measure this second `binary` of arcrawl in the same rounds, to compare two versions")
	flags.StringVar(&o.profiles, "profiles", "", "write CPU and memory profiles of arcrawl into this `folder`; the times then include profiling")
	flags.StringVar(&o.dir, "dir", "", "write all files into this `folder` (default: a new temporary folder)")
	flags.BoolVar(&o.aspects, "aspects", false, "measure what each aspect costs a visit; -rounds 40 and more for processor times")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.aspects {
		return priceAspects(o.rounds, out)
	}
	chosen, err := chooseScenarios(o.names)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "benchcrawl-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil { // each program starts in a folder of its own
		return err
	}
	if o.arcrawl == "" {
		if o.arcrawl, err = build(o.dir, o.profiles != ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s\n\n", machine())
	for _, s := range chosen {
		t, err := s.measure(o, filepath.Join(o.dir, s.name))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintln(out, t)
	}
	return nil
}

func chooseScenarios(names string) ([]scenario, error) {
	var chosen []scenario
	for name := range strings.SplitSeq(names, ",") {
		known := false
		for _, s := range scenarios() {
			if s.name == name {
				chosen, known = append(chosen, s), true
			}
		}
		if !known {
			return nil, fmt.Errorf("unknown scenario %q; the scenarios are %s", name, scenarioNames())
		}
	}
	return chosen, nil
}

func scenarioNames() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ",")
}
