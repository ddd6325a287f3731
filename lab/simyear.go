package lab

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// simYear holds the flags of sim year.
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
		Short: "Measure a rule on a year of an invented crawl",
		Long: `year invents hosts whose pages change at random, from twenty times a day to once in years. It plays one rule through a year of
them on all processors, and prints how many visits the rule makes, what it captures, and how long decisions take. Each host
is invented, played and forgotten, so memory does not grow with their number.

The mix is light, as in a crawl of many sites. Each host has one front page that changes twenty times a day, and one section per
two hundred URIs that changes twice a day. The rates of other pages are spread log-normally about once a year; one page in
twenty changes once a month or more. Hosts of fewer URIs change more often on average, as each has its front page. The output
says how many versions and visits a URI has a year on average.`,
		Example: "  arcrawl sim year --hosts 1000 --uris 1000\n  arcrawl sim year --hosts 50 --uris 200 --busy 10",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return y.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&y.hosts, "hosts", 100, "number of hosts, at most 100,000")
	f.IntVar(&y.uris, "uris", 1000, "number of URIs per host, at most 100,000")
	f.IntVar(&y.days, "days", 365, "number of days, at most 3,660")
	f.StringVar(&y.rule, "rule", "learned", "rule to play: classic, target or learned")
	f.Float64Var(&y.target, "capture-target", 0.8, "share of the versions to capture, between 0 and 1, for target and learned")
	f.Float64Var(&y.busy, "busy", 1, "multiply the rate of change of every page by N, from 0.01 to 100")
	cli.JSONFlag(cmd, &y.asJSON)
	return cmd
}

// yearResult is the result of sim year.
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
	Each     float64 `json:"visit_microseconds"` // of one processor for each visit; includes waiting on a busy machine
}

func (y simYear) run(ctx context.Context, out io.Writer) error {
	for _, n := range []struct {
		name       string
		value, max int
	}{{"hosts", y.hosts, 100_000}, {"uris", y.uris, 100_000}, {"days", y.days, 3660}} {
		if n.value < 1 || n.value > n.max {
			return cli.Usage(fmt.Errorf("--%s %d: want 1 to %d", n.name, n.value, n.max))
		}
	}
	if !(y.busy >= 0.01 && y.busy <= 100) {
		return cli.Usage(fmt.Errorf("--busy %v: want 0.01 to 100", y.busy))
	}
	policy, err := y.policy()
	if err != nil {
		return err
	}
	began := time.Now()
	workers := sim.Workers(y.hosts)
	sum, err := sim.Crawl{Hosts: y.hosts, URIs: y.uris, Days: y.days, Busy: y.busy}.Play(ctx, policy)
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	r := yearResult{
		Hosts: y.hosts, URIs: y.hosts * y.uris, Days: y.days, Busy: y.busy, Rule: y.rule,
		Visits: sum.Requests + y.hosts*y.uris, Versions: sum.Versions, Captured: sum.Captured,
		Share: sum.Share(), Seconds: took,
	}
	years := float64(r.URIs) * float64(y.days) / 365
	r.PerURI, r.Changes = float64(r.Visits)/years, float64(r.Versions)/years
	r.Each = took * float64(workers) / float64(r.Visits) * 1e6
	if y.asJSON {
		return cli.WriteJSON(out, r)
	}
	return r.show(out, workers)
}

// show writes the result in words, with the mix of pages that it applies to.
func (r yearResult) show(out io.Writer, workers int) error {
	_, err := fmt.Fprintf(out, `%d URIs on %d hosts, %d days, rule %s: %d visits, %d of %d versions captured (%.1f %%)
the mix: each host has a front page that changes %g times a day, and one section per 200 URIs that changes %g times a day; others are
spread about %g a year; on average a URI has %.0f versions and %.0f visits a year (--busy N for more changes)
in %s on %d processors, %.1f µs per visit
`,
		r.URIs, r.Hosts, r.Days, r.Rule, r.Visits, r.Captured, r.Versions,
		100*r.Share, 20*r.Busy, 2*r.Busy, r.Busy, r.Changes, r.PerURI,
		human.About(time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond)), workers, r.Each)
	return err
}

// policy returns the policy that plays the rule with its own bounds.
func (y simYear) policy() (sim.Policy, error) {
	rule, err := evaluators.Options{Rule: y.rule, CaptureTarget: y.target}.New()
	if _, fixed := rule.(evaluators.Fixed); fixed {
		err = fmt.Errorf("rule %q makes the same visits whatever changes", y.rule)
	}
	if err == nil && !(y.target > 0 && y.target < 1) {
		err = fmt.Errorf("--capture-target %v is not between 0 and 1", y.target)
	}
	if err != nil {
		return sim.Policy{}, cli.Usage(err)
	}
	stack := evaluators.Stack{{Name: y.rule, Rule: rule}}
	return sim.Configured(y.rule, func(string, string) evaluators.Stack { return stack }), nil
}
