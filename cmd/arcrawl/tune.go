package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/sim"
)

func newTune() *cobra.Command {
	var path string
	var cost float64
	cmd := &cobra.Command{
		Use:   "tune HOST [FILE…]",
		Short: "Recommend wait settings for a host, by its own history",
		Long: `tune reads what visits to HOST found, from the configuration's crawl log and the logs beside it that begin with its name, or
from the files that are named (crawl logs, CDX, CDXJ), plays settings through that history at the host's politeness and order, and
prints the [[wait]] entry that captures most for --cost times the requests of the present settings, with what it gains and costs.
It changes nothing: put the lines into the host's file if they convince you.

Changes that no visit saw are not in a log. So the shares are too high, and settings that visit more often than the crawl did would
in truth gain more than is shown.`,
		Example: "  arcrawl tune www.news.example\n  arcrawl tune --cost 2 www.news.example crawl.log.2026-*.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(cost > 0 && cost <= 1000) {
				return usageError{fmt.Errorf("--cost: %v is not above 0 and at most 1000", cost)}
			}
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			files := args[1:]
			if len(files) == 0 {
				if files, err = filepath.Glob(c.Storage.Log + "*"); err != nil || len(files) == 0 {
					return fmt.Errorf("there is no crawl log %s; name the files to read", c.Storage.Log)
				}
			}
			var seen sim.Sightings
			onHost := func(u string) bool {
				parsed, err := url.Parse(u)
				return err == nil && parsed.Host == args[0]
			}
			if _, _, err := seen.ReadFiles(files, onHost); err != nil {
				return err
			}
			t := tuning{host: args[0], config: c, histories: seen.Histories()}
			if len(t.histories) == 0 {
				return fmt.Errorf("tune %s: no URI of it was visited twice, a day apart, in %d files", args[0], len(files))
			}
			return t.run(cmd.OutOrStdout(), cost)
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "arcrawl.toml", "the main configuration file")
	cmd.Flags().Float64Var(&cost, "cost", 1, "requests that the recommended settings may make, as a multiple of the present ones'")
	return cmd
}

// tuning tries settings on the history of a host.
type tuning struct {
	host      string
	config    *config.Config
	histories []sim.History
}

// setting is one that is tried.
type setting struct {
	name  string
	toml  string // the lines below [[wait]]; empty for the present settings
	stack evaluators.Stack
	sim.Tally
}

// settings are the present ones and those that are tried.
func (t tuning) settings() []setting {
	list := []setting{
		{name: "as it is"},
		{name: "classic", toml: `rule = "classic"`, stack: evaluators.Stack{{Name: "classic"}}},
	}
	for _, name := range []string{"target", "learned"} {
		for _, percent := range []int{30, 40, 50, 60, 70, 80, 90, 95} {
			share := float64(percent) / 100
			target := strconv.FormatFloat(share, 'g', -1, 64)
			rule := evaluators.Rule(evaluators.Learned{CaptureTarget: share})
			if name == "target" {
				rule = evaluators.Target{CaptureTarget: share}
			}
			list = append(list, setting{
				name:  name + " " + target,
				toml:  fmt.Sprintf("rule = %q\ncapture_target = %s", name, target),
				stack: evaluators.Stack{{Name: name, Rule: rule}},
			})
		}
	}
	return list
}

func (t tuning) run(out io.Writer, cost float64) error {
	from, to := t.histories[0].Start, t.histories[0].Start
	for _, h := range t.histories {
		if h.Start.Before(from) {
			from = h.Start
		}
		if end := h.Start.Add(h.Watched); end.After(to) {
			to = end
		}
	}
	p := played{t.host, t.config, from}
	days := to.Sub(from).Hours() / 24
	list := t.settings()
	for i := range list {
		s := &list[i]
		policy := sim.Configured(s.name, func(host, mime string) evaluators.Stack {
			if s.toml == "" {
				return p.stack(host, mime)
			}
			return s.stack
		})
		tallies, err := inFrontier(sim.Crowding{Policy: policy, Rest: p.rest, Order: t.config.Crawl.Order}, t.histories)
		if err != nil {
			return err
		}
		s.Tally = sim.Sum(tallies)
	}
	best := 0
	for i, s := range list {
		affordable := float64(s.Requests) <= cost*float64(max(list[0].Requests, 1))
		if b := list[best]; affordable && (s.Captured > b.Captured || s.Captured == b.Captured && s.Requests < b.Requests) {
			best = i
		}
	}
	if err := t.table(out, list, best, days, p.rest(t.host)); err != nil {
		return err
	}
	return t.recommend(out, list[0], list[best], days)
}

func (t tuning) table(out io.Writer, list []setting, best int, days float64, rest time.Duration) error {
	fmt.Fprintf(out, "%s: %d URIs, %d versions seen in %.0f days; one request each %s at most\n\n", t.host, len(t.histories), list[0].Versions, days, rest)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "captured\trequests/day\tper version\tmean delay\tmean overdue\t\t setting")
	for i, s := range list {
		mark := ""
		if i == best {
			mark = "→"
		}
		fmt.Fprintf(w, "%.1f %%\t%.1f\t%.1f\t%s\t%s\t%s\t %s\n", 100*s.Share(), float64(s.Requests)/days, float64(s.Requests)/float64(max(s.Captured, 1)),
			(s.Delay / time.Duration(max(s.Captured, 1))).Round(time.Second), (s.Late / time.Duration(max(s.Requests, 1))).Round(time.Second), mark, s.name)
	}
	return w.Flush()
}

func (t tuning) recommend(out io.Writer, now, best setting, days float64) error {
	if best.toml == "" {
		_, err := fmt.Fprintf(out, "\nNothing that was tried captures more for these requests; leave the settings as they are, or allow more with --cost.\n")
		return err
	}
	_, err := fmt.Fprintf(out, `
For %s:

[[wait]]
mime = '.*'
%s

It would have captured %.1f %% of the versions in place of %.1f %%, %+d in %.0f days, with %+.1f requests a day. Entries of
the host's file with patterns of their own stay before it if they stand before it.
`, filepath.Join(hostsFolder(t.config), t.host+".toml"), best.toml, 100*best.Share(), 100*now.Share(), best.Captured-now.Captured, days,
		float64(best.Requests-now.Requests)/days)
	return err
}

// hostsFolder is where host files usually are.
func hostsFolder(c *config.Config) string {
	dir := filepath.Join(filepath.Dir(c.Path), "hosts.d")
	if _, err := os.Stat(dir); err != nil {
		return filepath.Dir(c.Path)
	}
	return dir
}
