package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/arcrawl/arcrawl/sim"
)

// figures tells at once what the rule learned is worth: at several budgets, by source, and how well it keeps its word.
func (s simulation) figures(out io.Writer, all []sim.History) error {
	f := sim.Figure(all, s.budgets, s.targets, s.perSource, s.seed)
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
