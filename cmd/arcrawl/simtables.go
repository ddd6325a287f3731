package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/sim"
)

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
		q := sim.OrderQuestion{Times: s.crowd, ByLearned: s.demand, OneHost: s.oneHost, Dir: dir}
		hosts, err = sim.CompareOrders(q, all)
		return err
	})
	if err != nil {
		return err
	}
	if s.asJSON {
		return writeJSON(out, hosts)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "host\tURIs\tone visit per\tversions\trequests\tclassic, most overdue first\t")
	fmt.Fprint(w, "learned, most overdue first\tlearned, most valuable first\tratio to classic\tto learned\t")
	fmt.Fprintln(w, "ratio if every request found one\t")
	for _, h := range hosts {
		overdue, late := float64(max(h.Overdue.Captured, 1)), float64(max(h.Late.Captured, 1))
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t\n",
			h.Host, h.URIs, h.Delay.Round(time.Second), h.Overdue.Versions, h.Value.Requests,
			h.Overdue.Captured, h.Late.Captured, h.Value.Captured, float64(h.Value.Captured)/overdue,
			float64(h.Value.Captured)/late, float64(max(h.Value.Requests, h.Overdue.Requests))/overdue)
	}
	return w.Flush()
}

// figures shows what the learned rule captures at several budgets and of each source, and how well it meets targets.
func (s simulation) figures(out io.Writer, all []sim.History) error {
	f := sim.Figure(sim.FigureQuestion{Budgets: s.budgets, Targets: s.targets, Sources: s.perSource, Seed: s.seed}, all)
	if s.asJSON {
		return writeJSON(out, f)
	}
	fmt.Fprintf(out, "rule learned, %d resources; intervals over draws of whole sources\n\n", len(all))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "budget\tcaptured\t95 %\tlowest without one source\thighest without one\t")
	for _, b := range f.Budgets {
		fmt.Fprintf(w, "%g×\t%.3f\t%.2f–%.2f\t%.3f (%s)\t%.3f (%s)\t\n",
			b.Budget, b.Share, b.Low, b.High, b.Lowest.Figure, b.Lowest.Source, b.Highest.Figure, b.Highest.Source)
	}
	fmt.Fprint(w, "\ncapture target\tcaptured\t95 %\tits own estimate\trequests\thosts within 10 points\tmean error\t")
	fmt.Fprintln(w, "lowest without one source\t")
	for _, t := range f.Targets {
		fmt.Fprintf(w, "%g\t%.3f\t%.2f–%.2f\t%.3f\t%d\t%d of %d\t%+.3f\t%.0f %%\t\n",
			t.Target, t.Share, t.Low, t.High, t.Estimated, t.Requests, t.Honest, t.Hosts, t.Bias, 100*t.Without)
	}
	if err := w.Flush(); err != nil || !s.perSource {
		return err
	}
	_, err := fmt.Fprintf(out, "\na budget of its own for each source, 1×: %.3f in the mean; compared with the classic rule at worst %+.3f (%s)\n",
		f.Sources, f.Worst.Figure, f.Worst.Source)
	return err
}
