package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// simulation holds the flags of sim.
type simulation struct {
	policies  []string
	budgets   []float64
	group     string
	perSource bool
	asJSON    bool
	plot      string
	draws     int
	seed      uint64
	crowd     float64
	oneHost   bool
	configs   []string
	polite    bool
	explained string
	summed    bool
	targets   []float64
	noise     float64
	report    bool
	half      int
	trouble   string
	unseen    bool
	start     string
	days      int
	waits     waitSteps
	year      invented
}

// indexHelp explains the policies that play an index.
const indexHelp = `

The policies index-… are learned-90d on hosts of three pages and more that have an index, such as a sitemap with dates. It is
true, late (made every six hours), lying (it says each day that each page changed), silent, partial (silent about every
second page) or turning (true, then silent). index-half has a true one on every second host. A reading is a request.`

func newSim() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "sim FILE…|--states STATE,…|--year",
		Short: "Compare rules of revisiting on histories of change",
		Long: `sim reads change histories (one JSON object per line, gzipped or not) or crawl logs. It plays policies through them with the
code that decides in the crawler. Each policy makes the same number of requests: a budget is a multiple of the requests that
Heritrix's rule makes with its defaults, and the policy's one knob is adjusted until it makes that number. The table shows
the share of all versions that was captured with its 95 % confidence interval over the resources, the requests that found
nothing new, and the mean delay from a change to its capture.

A line of a history file has: id, src, kind, host, start and end (seconds since 1970), sampling_s (seconds between two looks of
the recorder), birth (true if it was published at start), dt (seconds from start to the first change, then between changes).
Crawl logs and indexes in CDX or CDXJ work as histories too. Changes that no visit saw are missing in them, so the shares
come out too high, and rules that visit more often gain too little.

With --config, whole configurations are compared. Policies are then played only if --policies names them. With --polite, each host
rests as the configuration says (a fetch counts as 0.3 s), and a frontier orders the URIs that are due. --explain shows
each decision about one resource.

Pages that change often dominate the share of all versions. --report shows the mean over pages and the share of slow pages too,
which change less than weekly. --noise adds pages that show a clock or a token, so that each fetch differs.

Policies: ` + strings.Join(sim.Policies(), ", ") + `.` + indexHelp + `

` + waitsHelp + `

` + yearHelp,
		Example: `  arcrawl sim histories.jsonl.gz
  arcrawl sim --policies stretched,learned --budgets 1 --by kind --per-source histories.jsonl.gz
  arcrawl sim --figures --per-source --budgets 1,2,4 histories.jsonl.gz
  arcrawl sim --report --noise 0.1 --policies stretched,learned-90d histories.jsonl.gz
  arcrawl sim --crowd 4 histories.jsonl.gz
  arcrawl sim --config old.toml --config new.toml --polite crawl.log
  arcrawl sim --explain https://www.news.example/ --config arcrawl.toml crawl.log crawl.log.1.gz
  arcrawl sim --states changed,unchanged,unknown --rule learned --overdue 10m --set min=1h,max=28d
  arcrawl sim --year --hosts 50 --uris 200 --busy 10`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch invents := len(s.waits.states) > 0 || s.year.wanted; {
			case invents == (len(args) > 0):
				return cli.Usage(errors.New("name files of histories, or use --states or --year"))
			case s.year.wanted:
				return s.playYear(cmd.Context(), cmd.OutOrStdout())
			case invents:
				return s.waits.run(cmd.OutOrStdout(), s.asJSON)
			}
			if len(s.configs) > 0 && !cmd.Flags().Changed("policies") {
				s.policies = nil
			}
			return s.run(cmd.OutOrStdout(), args)
		},
	}
	s.flags(cmd.Flags())
	s.waits.flags(cmd.Flags())
	s.year.flags(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("states", "year")
	cli.JSONFlag(cmd, &s.asJSON)
	return cmd
}

// flags adds the flags of sim.
func (s *simulation) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&s.policies, "policies", []string{"stretched", "target", "learned", "clairvoyant"},
		"policies to compare")
	f.Float64SliceVar(&s.budgets, "budgets", []float64{0.5, 1, 2, 4}, "requests, as multiples of what Heritrix's rule makes with its defaults")
	f.StringVar(&s.group, "by", "", "also show the shares by source, kind or host")
	f.BoolVar(&s.perSource, "per-source", false, "also give each source a budget of its own, and show the mean over the sources")
	f.StringVar(&s.plot, "plot", "", "also write a plot to this file: an HTML page with picture and table, or the picture alone if the name ends in .svg")
	f.IntVar(&s.draws, "draws", 200, "number of draws for the confidence interval")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the draws")
	f.Float64Var(&s.crowd, "crowd", 0, "compare orders instead, on hosts that allow N times fewer visits than Heritrix's rule wants, or with --rule learned than the learned rule at its default target")
	f.BoolVar(&s.oneHost, "one-host", false, "with --crowd: put all resources on one host, for its first 60 days")
	f.StringArrayVar(&s.configs, "config", nil, "play this configuration file; may be repeated")
	f.BoolVar(&s.polite, "polite", false, "with --config: hosts rest between visits, and a frontier orders what is due")
	f.BoolVar(&s.summed, "figures", false, "show instead what the learned rule captures at the budgets, with each source left out once, and how well it meets capture targets")
	f.Float64SliceVar(&s.targets, "targets", []float64{0.5, 0.7, 0.8, 0.9, 0.95},
		"with --figures: capture targets, between 0 and 1")
	f.Float64Var(&s.noise, "noise", 0,
		"add pages that differ at each fetch, until they are this share of all pages; every second one has true changes beneath")
	f.BoolVar(&s.unseen, "unseen", false, "with --noise: no reader sees what differs, as with tokens")
	f.StringVar(&s.trouble, "trouble", "none",
		"what goes wrong: late visits, outages, stale answers, clock or blind-clock (40 days ahead on one day of 30)")
	f.IntVar(&s.half, "half", 0, "play only half of the resources, 1 or 2, divided by a hash of their ids (default all)")
	f.StringVar(&s.start, "start", "whole",
		"play only the second half of each history: cold, or after monthly, weekly or daily captures of the first half")
	f.IntVar(&s.days, "days", 0, "play only this many days of each history (default all), or of an invented year")
	f.BoolVar(&s.report, "report", false,
		"show instead the shares of all versions, of the mean page and of slow pages, and what noisy pages took")
	f.StringVar(&s.explained, "explain", "", "show each decision about this resource instead of the summary: its id or URI")
	f.Lookup("budgets").DefValue = "[0.5,1,2,4]" // without six decimals
	f.Lookup("targets").DefValue = "[0.5,0.7,0.8,0.9,0.95]"
}

func (s simulation) run(out io.Writer, files []string) error {
	q := sim.Question{Budgets: s.budgets, PerSource: s.perSource, Draws: s.draws, Seed: s.seed}
	trouble, err := sim.TroubleNamed(s.trouble)
	if err != nil {
		return cli.Usage(fmt.Errorf("--trouble: %w", err))
	}
	for _, name := range s.policies {
		p, err := sim.Named(name)
		if err != nil {
			return cli.Usage(err)
		}
		q.Policies = append(q.Policies, p.InTrouble(trouble))
	}
	groups := map[string]func(sim.History) string{
		"": nil, "source": func(h sim.History) string { return h.Source },
		"kind": func(h sim.History) string { return h.Kind }, "host": func(h sim.History) string { return h.Host },
	}
	group, ok := groups[s.group]
	if !ok {
		return cli.Usage(fmt.Errorf("unknown --by %q; valid groups: source, kind, host", s.group))
	}
	q.Group = group
	if err := s.check(); err != nil {
		return err
	}
	all, err := s.resources(files)
	if err != nil {
		return err
	}
	switch {
	case s.explained != "":
		return s.explain(out, all)
	case s.summed:
		return s.figures(out, all)
	case s.crowd > 0:
		return s.crowded(out, all)
	}
	results := sim.Compare(q, all)
	if len(s.configs) > 0 {
		played, err := s.configured(all, q)
		if err != nil {
			return err
		}
		results = append(results, played...)
	}
	if s.plot != "" {
		if err := plotTo(s.plot, results); err != nil {
			return err
		}
	}
	if s.asJSON {
		return cli.WriteJSON(out, results)
	}
	if s.report {
		return showReport(out, all, results)
	}
	return showResults(out, all, results, s.group, s.perSource)
}

// resources reads the histories to play.
func (s simulation) resources(files []string) ([]sim.History, error) {
	all, err := readHistories(files)
	if err != nil {
		return nil, err
	}
	if s.half > 0 {
		all = sim.Half(all, s.half == 2)
	}
	if all, err = sim.WarmStart(all, s.start); err != nil {
		return nil, cli.Usage(fmt.Errorf("--start: %w", err))
	}
	if s.days < 0 {
		return nil, cli.Usage(fmt.Errorf("--days: %d is below zero; write a number of days, such as 7", s.days))
	}
	if s.days > 0 {
		all = sim.Beginning(all, time.Duration(s.days)*24*time.Hour)
	}
	if len(all) == 0 {
		return nil, errors.New("no history is long enough to be played: it must cover a day, and two visits if it comes from a log")
	}
	if all = sim.WithNoise(all, s.noise, s.seed); s.unseen {
		all = sim.Unseen(all)
	}
	return all, nil
}

// maxNoise is the maximum of --noise: nine noisy pages for each recorded one.
const maxNoise = 0.9

// check refuses numbers out of range.
func (s simulation) check() error {
	for _, target := range s.targets {
		if !(target > 0 && target < 1) {
			return cli.Usage(fmt.Errorf("--targets: %v is not between 0 and 1", target))
		}
	}
	if s.half < 0 || s.half > 2 {
		return cli.Usage(fmt.Errorf("--half: %d is not 1 or 2", s.half))
	}
	if !(s.noise >= 0 && s.noise <= maxNoise) {
		return cli.Usage(fmt.Errorf("--noise: %v is not between 0 and %v", s.noise, maxNoise))
	}
	for _, b := range s.budgets {
		if !(b > 0 && b <= 1000) {
			return cli.Usage(fmt.Errorf("--budgets: %v is not above 0 and up to 1000", b))
		}
	}
	return nil
}

// readHistories reads files of histories or of visits.
func readHistories(files []string) ([]sim.History, error) {
	var all []sim.History
	var visits sim.Sightings
	for _, name := range files {
		histories, err := sim.IsHistories(name)
		if err != nil {
			return nil, err
		}
		if !histories {
			if _, _, err := visits.ReadFiles([]string{name}, nil); err != nil {
				return nil, err
			}
			continue
		}
		more, err := sim.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return append(all, visits.Histories()...), nil
}

func plotTo(name string, results []sim.Result) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("create plot: %w", err)
	}
	draw := sim.Plot
	if strings.EqualFold(filepath.Ext(name), ".svg") {
		draw = sim.Picture
	}
	err = draw(f, "Share of all versions captured, by budget of requests", results)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write plot %s: %w", name, err)
	}
	return nil
}

// inFolder calls play with a folder for the stores of frontiers, which it removes afterwards.
func inFolder(play func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "arcrawl-sim-")
	if err != nil {
		return fmt.Errorf("create a folder for the frontier: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return play(dir)
}

// crowded compares orders on hosts that are over their budget.
func (s simulation) crowded(out io.Writer, all []sim.History) error {
	var hosts []sim.HostOrders
	err := inFolder(func(dir string) (err error) {
		q := sim.OrderQuestion{Times: s.crowd, ByLearned: s.waits.options.Rule == "learned", OneHost: s.oneHost, Dir: dir}
		hosts, err = sim.CompareOrders(q, all)
		return err
	})
	if err != nil {
		return err
	}
	if s.asJSON {
		return cli.WriteJSON(out, hosts)
	}
	return showOrders(out, hosts)
}

// figures shows what the learned rule captures at several budgets and of each source, and how well it meets targets.
func (s simulation) figures(out io.Writer, all []sim.History) error {
	f := sim.Figure(sim.FigureQuestion{Budgets: s.budgets, Targets: s.targets, Sources: s.perSource, Seed: s.seed}, all)
	if s.asJSON {
		return cli.WriteJSON(out, f)
	}
	return showFigures(out, len(all), f, s.perSource)
}
