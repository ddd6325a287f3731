// Command benchcrawl measures what a document costs the whole program, beside the least that an archive needs.
//
//	make bench-crawl                                        # all scenarios, five rounds of each
//	go run ./internal/benchcrawl -scenario first -rounds 9  # one of them
//	go run ./internal/benchcrawl -scenario first -profiles /tmp/profiles
//	go run ./internal/benchcrawl grow hosts connections known links idle
//	go run ./internal/benchcrawl grow -profiles /tmp/profiles -dir /tmp/grow -known 10000,5000000 known
//
// A server in a process of its own plays many hosts, each at its own address of the loopback. Three programs fetch the
// same documents from it, one after the other in each round: a bare loop of GET, SHA-1, gzip and append that is part of
// this command and keeps no promise, the real arcrawl with everything on but politeness, and GNU wget with --warc-file
// where it can do the same. Times are those of the process, user and system, start and stop included. What is printed
// is the median of the rounds, as a table for docs/benchmarks.md.
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

// command runs the benchmark, or one of the processes that it starts of itself.
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

// options are what the command line asks for.
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
}

func benchmark(args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("benchcrawl", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "how often each program does each scenario; the median is printed")
	flags.IntVar(&o.hosts, "hosts", 60, "number of hosts")
	flags.IntVar(&o.workers, "workers", 50, "crawl.workers of arcrawl")
	flags.StringVar(&o.rule, "rule", "fixed", "rule of the wait evaluator: fixed, classic or learned, each within bounds that leave it no choice")
	flags.Float64Var(&o.scale, "scale", 1, "makes each scenario so many times as large")
	flags.StringVar(&o.names, "scenario", scenarioNames(), "which scenarios, with commas between")
	flags.StringVar(&o.arcrawl, "arcrawl", "", "the binary to measure; built from this tree by default")
	flags.StringVar(&o.other, "other", "", "a second binary of arcrawl to measure in the same rounds, to see what a change is worth")
	flags.StringVar(&o.profiles, "profiles", "", "write processor and memory profiles of arcrawl into this folder; the times then include that")
	flags.StringVar(&o.dir, "dir", "", "where everything is written; a folder in the temporary one by default")
	if err := flags.Parse(args); err != nil {
		return err
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
	if o.dir, err = filepath.Abs(o.dir); err != nil { // programs are started in folders of their own
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
		found := false
		for _, s := range scenarios() {
			if s.name == name {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no scenario %q; there are %s", name, scenarioNames())
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
