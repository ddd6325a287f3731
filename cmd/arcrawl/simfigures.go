package main

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"text/tabwriter"

	"github.com/arcrawl/arcrawl/sim"
)

// figures tells at once what the rule learned is worth: at several budgets, by source, and how well it keeps its word.
func (s simulation) figures(out io.Writer, all []sim.History) error {
	f := s.played(all)
	if s.asJSON {
		return writeJSON(out, f)
	}
	fmt.Fprintf(out, "rule learned, %d resources; intervals over draws of whole sources\n\n", len(all))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "budget\tcaptured\t95 %\tleast without one source\tmost without one\t")
	for _, b := range f.Budgets {
		fmt.Fprintf(w, "%g×\t%.3f\t%.2f–%.2f\t%.3f (%s)\t%.3f (%s)\t\n", b.Budget, b.Share, b.Low, b.High, b.Least.Figure, b.Least.Source, b.Most.Figure, b.Most.Source)
	}
	fmt.Fprintf(w, "\ncapture target\tcaptured\t95 %%\tits own estimate\trequests\thosts within 10 points\tmean error\tleast without one source\t\n")
	for _, t := range f.Targets {
		fmt.Fprintf(w, "%g\t%.3f\t%.2f–%.2f\t%.3f\t%d\t%d of %d\t%+.3f\t%.0f %%\t\n",
			t.Target, t.Share, t.Low, t.High, t.Estimated, t.Requests, t.Honest, t.Hosts, t.Bias, 100*t.Without)
	}
	if err := w.Flush(); err != nil || !s.perSource {
		return err
	}
	_, err := fmt.Fprintf(out, "\na budget of its own for each source, 1×: %.3f in the mean; beside the classic rule at worst %+.3f (%s)\n", f.Sources, f.Worst.Figure, f.Worst.Source)
	return err
}

// played is what the figures are, each budget, each target and the sources played for themselves, on all processors.
func (s simulation) played(all []sim.History) sim.Figures {
	type part struct {
		budgets, targets []float64
		sources          bool
	}
	parts := []part{{sources: s.perSource}}
	for i := range s.budgets {
		parts = append(parts, part{budgets: s.budgets[i : i+1]})
	}
	for i := range s.targets {
		parts = append(parts, part{targets: s.targets[i : i+1]})
	}
	results := make([]sim.Figures, len(parts))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var playing sync.WaitGroup
	for i := len(parts) - 1; i >= 0; i-- { // what takes longest usually stands last
		places <- struct{}{}
		playing.Go(func() {
			results[i] = sim.Figure(all, parts[i].budgets, parts[i].targets, parts[i].sources, s.seed)
			<-places
		})
	}
	playing.Wait()
	f := results[0]
	for _, r := range results[1:] {
		f.Budgets, f.Targets = append(f.Budgets, r.Budgets...), append(f.Targets, r.Targets...)
	}
	return f
}
