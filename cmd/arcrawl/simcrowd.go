package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/sim"
)

// crowdedHost is what one host's visits captured in one order.
type crowdedHost struct {
	Host    string        `json:"host"`
	URIs    int           `json:"uris"`
	Delay   time.Duration `json:"delay_ns"`
	Overdue sim.Tally     `json:"classic_most_overdue_first"`
	Late    sim.Tally     `json:"learned_most_overdue_first"`
	Value   sim.Tally     `json:"largest_value_first"`
}

// crowded compares orders on hosts that are over their budget, in the frontier that a crawl has.
func (s simulation) crowded(out io.Writer, all []sim.History) (err error) {
	dir, err := os.MkdirTemp("", "arcrawl-sim-")
	if err != nil {
		return fmt.Errorf("make a folder for the frontier: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	byHost := map[string][]sim.History{}
	if s.oneHost {
		all = sim.OneHost(all, oneHostFor)
	}
	for _, h := range all {
		byHost[h.Host] = append(byHost[h.Host], h)
	}
	var hosts []crowdedHost
	for _, name := range sortedNames(byHost) {
		c := crowdedHost{Host: name, URIs: len(byHost[name]), Delay: s.quota(byHost[name])}
		if c.URIs < fewest || c.Delay > longestRest {
			continue
		}
		if c, err = c.play(byHost[name], dir); err != nil {
			return err
		}
		hosts = append(hosts, c)
	}
	if s.asJSON {
		return writeJSON(out, hosts)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "host\tURIs\tone visit per\tversions\trequests\tclassic, most overdue first\tlearned, most overdue first\tlearned, most valuable first\tratio to classic\tto learned\tratio if every request found one\t")
	for _, c := range hosts {
		overdue, late := float64(max(c.Overdue.Captured, 1)), float64(max(c.Late.Captured, 1))
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t\n", c.Host, c.URIs, c.Delay.Round(time.Second), c.Overdue.Versions, c.Value.Requests,
			c.Overdue.Captured, c.Late.Captured, c.Value.Captured, float64(c.Value.Captured)/overdue, float64(c.Value.Captured)/late, float64(max(c.Value.Requests, c.Overdue.Requests))/overdue)
	}
	return w.Flush()
}

const (
	fewest      = 10                  // URIs from which on a host has an order worth comparing
	longestRest = 24 * time.Hour      // that a frontier gives a host
	oneHostFor  = 60 * 24 * time.Hour // played with --one-host
)

// quota is the rest at which politeness carries so much less than is wanted: by Heritrix's rule, or by the rule learned.
func (s simulation) quota(host []sim.History) time.Duration {
	if s.demand {
		return sim.Quota(sim.Learned(learnedMost()), rate.Expected(0), host, s.crowd)
	}
	return sim.Quota(sim.Classic(), 0, host, s.crowd)
}

// play plays classic in the order of due times, and learned in both orders.
func (c crowdedHost) play(histories []sim.History, dir string) (crowdedHost, error) {
	for _, run := range []struct {
		question sim.Crowding
		result   *sim.Tally
	}{
		{sim.Crowding{Policy: sim.Classic(), Order: frontier.ByDue}, &c.Overdue},
		{sim.Crowding{Policy: sim.Learned(learnedMost()), Knob: rate.Expected(0), Order: frontier.ByDue}, &c.Late},
		{sim.Crowding{Policy: sim.Learned(learnedMost()), Knob: rate.Expected(0), Order: frontier.ByValue}, &c.Value},
	} {
		folder, err := os.MkdirTemp(dir, "")
		if err != nil {
			return c, fmt.Errorf("make a folder for the frontier: %w", err)
		}
		run.question.Delay, run.question.Dir = c.Delay, folder
		tallies, err := sim.Crowd(run.question, histories)
		if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
			return c, err
		}
		*run.result = sim.Sum(tallies)
	}
	return c, nil
}

// learnedMost is the longest wait of the rule learned.
func learnedMost() time.Duration {
	_, most := evaluators.Learned{}.Bounds()
	return most
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
