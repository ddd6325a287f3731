package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// invented holds the flags of sim that invent a crawl.
type invented struct {
	wanted      bool
	hosts, uris int
	busy        float64
}

const yearHelp = `With --year it invents hosts whose pages change at random, from twenty times a day to once in years. It plays one rule through a year
of them on all processors, and prints how many visits the rule makes, what it captures, and how long decisions take. Each host is
invented, played and forgotten, so memory does not grow with their number.

The mix is light, as in a crawl of many sites. Each host has one front page that changes twenty times a day, and one section per
two hundred URIs that changes twice a day. The rates of other pages are spread log-normally about once a year; one page in
twenty changes once a month or more. Hosts of fewer URIs change more often on average, as each has its front page. The output
says how many versions and visits a URI has a year on average.`

// flags adds the flags that invent a crawl.
func (y *invented) flags(f *pflag.FlagSet) {
	f.BoolVar(&y.wanted, "year", false, "measure one rule on a year of an invented crawl")
	f.IntVar(&y.hosts, "hosts", 100, "with --year: number of hosts, at most 100,000")
	f.IntVar(&y.uris, "uris", 1000, "with --year: number of URIs per host, at most 100,000")
	f.Float64Var(&y.busy, "busy", 1, "with --year: multiply the rate of change of every page by N, from 0.01 to 100")
}

// yearResult is the result of an invented year.
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

// playYear plays a rule on a year of an invented crawl.
func (s simulation) playYear(ctx context.Context, out io.Writer) error {
	y, days, rule := s.year, cmp.Or(s.days, 365), cmp.Or(s.waits.options.Rule, "learned")
	for _, n := range []struct {
		name       string
		value, max int
	}{{"hosts", y.hosts, 100_000}, {"uris", y.uris, 100_000}, {"days", days, 3660}} {
		if n.value < 1 || n.value > n.max {
			return cli.Usage(fmt.Errorf("--%s %d: want 1 to %d", n.name, n.value, n.max))
		}
	}
	if !(y.busy >= 0.01 && y.busy <= 100) {
		return cli.Usage(fmt.Errorf("--busy %v: want 0.01 to 100", y.busy))
	}
	policy, err := yearPolicy(rule, s.waits.options.CaptureTarget)
	if err != nil {
		return err
	}
	began := time.Now()
	workers := sim.Workers(y.hosts)
	sum, err := sim.Crawl{Hosts: y.hosts, URIs: y.uris, Days: days, Busy: y.busy}.Play(ctx, policy)
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	r := yearResult{
		Hosts: y.hosts, URIs: y.hosts * y.uris, Days: days, Busy: y.busy, Rule: rule,
		Visits: sum.Requests + y.hosts*y.uris, Versions: sum.Versions, Captured: sum.Captured,
		Share: sum.Share(), Seconds: took,
	}
	years := float64(r.URIs) * float64(days) / 365
	r.PerURI, r.Changes = float64(r.Visits)/years, float64(r.Versions)/years
	r.Each = took * float64(workers) / float64(r.Visits) * 1e6
	if s.asJSON {
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

// yearPolicy returns the policy that plays a rule with its own bounds.
func yearPolicy(name string, target float64) (sim.Policy, error) {
	rule, err := evaluators.Options{Rule: name, CaptureTarget: target}.New()
	if _, fixed := rule.(evaluators.Fixed); fixed {
		err = fmt.Errorf("--rule %s makes the same visits whatever changes", name)
	}
	if err == nil && !(target > 0 && target < 1) {
		err = fmt.Errorf("--set capture_target = %v is not between 0 and 1", target)
	}
	if err != nil {
		return sim.Policy{}, cli.Usage(err)
	}
	return sim.Stack(name, evaluators.Stack{{Name: name, Rule: rule}}), nil
}
