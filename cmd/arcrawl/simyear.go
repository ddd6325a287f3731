package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/sim"
)

// simYear is the command line of arcrawl sim year.
type simYear struct {
	hosts, uris, days int
	rule              string
	target, busy      float64
	asJSON            bool
}

func newSimYear() *cobra.Command {
	var y simYear
	cmd := &cobra.Command{
		Use:   "year",
		Short: "Play a rule through a year of an invented crawl",
		Long: `year invents hosts whose pages change at random, from twenty times a day to once in years, and plays one rule through a year of
them on all processors: to see how many visits a rule makes of so many URIs, what it captures, and how long deciding takes. Each
host is invented, played and forgotten, so that memory does not grow with their number.

The mix is a light one, as a crawl of many sites has it: of each host one front page that changes twenty times a day, one section
in two hundred URIs that does so twice, and pages whose rates are spread log-normally about once in a year, one in twenty
of them once a month or more. With 1,000 URIs a host the rule learned visits each 54 times a year in the mean. Hosts of
fewer URIs are livelier in the mean, as each has its front page; --busy 10 lets every page change ten times as often.`,
		Example: "  arcrawl sim year --hosts 1000 --uris 1000\n  arcrawl sim year --hosts 50 --uris 200 --busy 10",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return y.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&y.hosts, "hosts", 100, "so many hosts, at most 100,000")
	f.IntVar(&y.uris, "uris", 1000, "so many URIs on each, at most 100,000")
	f.IntVar(&y.days, "days", 365, "so many days, at most 3,660")
	f.StringVar(&y.rule, "rule", "learned", "classic, target or learned")
	f.Float64Var(&y.target, "capture-target", 0.8, "share of the versions to capture, for target and learned")
	f.Float64Var(&y.busy, "busy", 1, "every page changes so many times as often as it would, 0.01 to 100")
	f.BoolVar(&y.asJSON, "json", false, "write JSON")
	return cmd
}

// yearResult is what came of it.
type yearResult struct {
	Hosts    int     `json:"hosts"`
	URIs     int     `json:"uris"`
	Days     int     `json:"days"`
	Busy     float64 `json:"busy"`
	Rule     string  `json:"rule"`
	Visits   int     `json:"visits"` // the first ones too
	Versions int     `json:"versions"`
	Captured int     `json:"captured"`
	Share    float64 `json:"share"`
	PerURI   float64 `json:"visits_per_uri_and_year"`
	Changes  float64 `json:"versions_per_uri_and_year"`
	Seconds  float64 `json:"seconds"`            // that it took
	Each     float64 `json:"visit_microseconds"` // for each visit, on each processor; on a busy machine with the time that it waits
}

func (y simYear) run(ctx context.Context, out io.Writer) error {
	for _, n := range []struct {
		name        string
		value, most int
	}{{"hosts", y.hosts, 100_000}, {"uris", y.uris, 100_000}, {"days", y.days, 3660}} {
		if n.value < 1 || n.value > n.most {
			return usageError{fmt.Errorf("--%s %d: want 1 to %d", n.name, n.value, n.most)}
		}
	}
	if !(y.busy >= 0.01 && y.busy <= 100) {
		return usageError{fmt.Errorf("--busy %v: want 0.01 to 100", y.busy)}
	}
	policy, err := y.policy()
	if err != nil {
		return err
	}
	began := time.Now()
	workers := min(runtime.GOMAXPROCS(0), y.hosts)
	sums := make([]sim.Tally, workers)
	var next atomic.Int64
	var playing sync.WaitGroup
	for i := range workers {
		playing.Go(func() {
			for seed := next.Add(1); seed <= int64(y.hosts) && ctx.Err() == nil; seed = next.Add(1) {
				site := sim.Site(uint64(seed), y.uris, time.Duration(y.days)*24*time.Hour, y.busy)
				sums[i] = sums[i].Add(sim.Sum(sim.Play(policy, 0, site)))
			}
		})
	}
	playing.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	sum := sim.Sum(sums)
	took := time.Since(began).Seconds()
	r := yearResult{
		Hosts: y.hosts, URIs: y.hosts * y.uris, Days: y.days, Busy: y.busy, Rule: y.rule, Visits: sum.Requests + y.hosts*y.uris, Versions: sum.Versions, Captured: sum.Captured,
		Share: sum.Share(), Seconds: took,
	}
	years := float64(r.URIs) * float64(y.days) / 365
	r.PerURI, r.Changes = float64(r.Visits)/years, float64(r.Versions)/years
	r.Each = took * float64(workers) / float64(r.Visits) * 1e6
	if y.asJSON {
		return writeJSON(out, r)
	}
	return r.tell(out, workers)
}

// tell writes the result in words, with the mix that it holds for.
func (r yearResult) tell(out io.Writer, workers int) error {
	_, err := fmt.Fprintf(out, `%d URIs on %d hosts, %d days, rule %s: %d visits, %d of %d versions captured (%.1f %%)
the mix: of each host a front page that changes %g times a day, each 200th URI a section that does so %g times a day, the others
spread about %g a year; in the mean a URI has %.0f versions and %.0f visits a year (--busy N for a livelier mix)
in %s on %d processors, %.1f µs a visit
`,
		r.URIs, r.Hosts, r.Days, r.Rule, r.Visits, r.Captured, r.Versions, 100*r.Share, 20*r.Busy, 2*r.Busy, r.Busy, r.Changes, r.PerURI,
		human.About(time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond)), workers, r.Each)
	return err
}

// policy is the rule with its own bounds.
func (y simYear) policy() (sim.Policy, error) {
	rule, err := evaluators.Options{Rule: y.rule, CaptureTarget: y.target}.New()
	if _, fixed := rule.(evaluators.Fixed); fixed {
		err = fmt.Errorf("rule %q captures the same whatever changes", y.rule)
	}
	if err == nil && !(y.target > 0 && y.target < 1) {
		err = fmt.Errorf("--capture-target %v is not between 0 and 1", y.target)
	}
	if err != nil {
		return sim.Policy{}, usageError{err}
	}
	stack := evaluators.Stack{{Name: y.rule, Rule: rule}}
	return sim.Configured(y.rule, func(string, string) evaluators.Stack { return stack }), nil
}
