package lab

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// showResults writes a table with a line for each policy and budget. perSource adds a table of sources, each with a
// budget of its own. Otherwise a group that is not empty adds a table of its values.
func showResults(out io.Writer, all []sim.History, results []sim.Result, group string, perSource bool) error {
	fmt.Fprintf(out, "%d resources, %d versions\n\n", len(all), results[0].Total.Versions)
	w := cli.NumberTable(out)
	fmt.Fprint(w, "budget\tcaptured\t95 %\t requests\twasted\tmean delay\tmean overdue\tknob\t")
	if perSource {
		fmt.Fprint(w, "mean of sources\t")
	}
	fmt.Fprintln(w, " policy")
	for _, r := range results {
		t := r.Total
		fmt.Fprintf(w, "%.2f×\t%.3f\t%.3f–%.3f\t%d\t%d\t%s\t%s\t%s\t", r.Budget, r.Share, r.Low, r.High,
			t.Requests, t.Wasted(), t.MeanDelay(), t.MeanLate(), knob(r))
		if perSource {
			fmt.Fprintf(w, "%.3f\t", r.PerSource)
		}
		fmt.Fprintf(w, " %s\n", r.Policy)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(h sim.History) bool { return h.Sighted }) {
		fmt.Fprintln(out, "\nThese histories come from visits. Changes that no visit saw are missing, "+
			"so shares are too high, and the gain of more visits is too low.")
	}
	if perSource {
		return bySource(out, results)
	}
	if group != "" {
		return byGroup(out, group, results)
	}
	return nil
}

// knob returns the position of a policy's knob as text, or a dash if it has none.
func knob(r sim.Result) string {
	if r.Knob == 0 {
		return "–"
	}
	return strconv.FormatFloat(r.Knob, 'g', 3, 64)
}

// showReport writes a table with a line for each policy and budget: what was captured of all versions, of the mean
// page and of slow pages, and what noisy pages took.
func showReport(out io.Writer, all []sim.History, results []sim.Result) error {
	noisy := 0
	for _, h := range all {
		if h.Noise {
			noisy++
		}
	}
	fmt.Fprintf(out, "%d resources, and %d that differ at each fetch\n\n", len(all)-noisy, noisy)
	w := cli.NumberTable(out)
	fmt.Fprintln(w, "budget\trequests\tall versions\tmean over pages\tslow pages\trequests on noise\tversions beneath noise\tsecond looks\t policy")
	for _, r := range results {
		p := r.Report
		fmt.Fprintf(w, "%.2f×\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.4f\t %s\n",
			r.Budget, p.Requests, p.Pooled, p.PerPage, p.Slow, p.Noise, p.Beneath, p.Looks, r.Policy)
	}
	return w.Flush()
}

// bySource writes the captured share of each source that has a budget of its own.
func bySource(out io.Writer, results []sim.Result) error {
	w := cli.NumberTable(out)
	fmt.Fprintln(w, "\nsource, budget of its own\tbudget\tclassic\tcaptured\t policy")
	for _, r := range results {
		for _, name := range slices.Sorted(maps.Keys(r.Sources)) {
			fmt.Fprintf(w, "%s\t%.2f×\t%.3f\t%.3f\t %s\n", name, r.Budget,
				r.Sources[name].Classic, r.Sources[name].Captured, r.Policy)
		}
	}
	return w.Flush()
}

// byGroup writes the captured share of each group with one budget for all.
func byGroup(out io.Writer, group string, results []sim.Result) error {
	w := cli.NumberTable(out)
	fmt.Fprintf(w, "\n%s, one budget for all\tbudget\tversions\trequests\tcaptured\t policy\n", group)
	for _, r := range results {
		for _, name := range slices.Sorted(maps.Keys(r.Groups)) {
			t := r.Groups[name]
			fmt.Fprintf(w, "%s\t%.2f×\t%d\t%d\t%.3f\t %s\n", name, r.Budget, t.Versions, t.Requests, t.Share(), r.Policy)
		}
	}
	return w.Flush()
}

// showOrders writes a table with a line for each host: the versions captured by each rule and order of visits, and the
// ratios of the largest value first to the other orders.
func showOrders(out io.Writer, hosts []sim.HostOrders) error {
	w := cli.NumberTable(out)
	fmt.Fprint(w, "\t\t\t\t\tclassic\tclassic\tlearned\tlearned\tlearned\tvalue to\tvalue to\tvalue to\t\t\n")
	fmt.Fprint(w, "\t\t\t\t\tearliest due\tmost overdue\tearliest due\tmost overdue\tlargest value\tclassic\tclassic\tlearned\t")
	fmt.Fprint(w, "if every\t\nhost\tURIs\tone visit per\tversions\trequests\tfirst\tfirst\tfirst\tfirst\tfirst\tearliest due\t")
	fmt.Fprintln(w, "most overdue\tmost overdue\trequest found one\t")
	for _, h := range hosts {
		value := h.LearnedValue
		ratio := func(captured int, to sim.Tally) float64 { return float64(captured) / float64(max(to.Captured, 1)) }
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n",
			h.Host, h.URIs, h.Delay.Round(time.Second), value.Versions, value.Requests,
			h.ClassicDue.Captured, h.ClassicOverdue.Captured, h.LearnedDue.Captured, h.LearnedOverdue.Captured,
			value.Captured, ratio(value.Captured, h.ClassicDue), ratio(value.Captured, h.ClassicOverdue),
			ratio(value.Captured, h.LearnedOverdue), ratio(max(value.Requests, h.ClassicOverdue.Requests), h.ClassicOverdue))
	}
	return w.Flush()
}

// showFigures writes what the learned rule captures of a number of resources: by budget, by capture target, and, with
// perSource, with a budget of its own for each source.
func showFigures(out io.Writer, resources int, f sim.Figures, perSource bool) error {
	fmt.Fprintf(out, "rule learned, %d resources; intervals over draws of whole sources\n\n", resources)
	w := cli.NumberTable(out)
	fmt.Fprintln(w, "budget\tcaptured\t95 %\tlowest without one source\thighest without one\t")
	for _, b := range f.Budgets {
		fmt.Fprintf(w, "%g×\t%.3f\t%.2f–%.2f\t%.3f (%s)\t%.3f (%s)\t\n",
			b.Budget, b.Share, b.Low, b.High, b.Lowest.Figure, b.Lowest.Source, b.Highest.Figure, b.Highest.Source)
	}
	fmt.Fprint(w, "\ncapture target\tcaptured\t95 %\tits own estimate\trequests\thosts within 10 points\twithin its bounds\tby 5 % random visits\tmean error\t")
	fmt.Fprintln(w, "lowest without one source\t")
	for _, t := range f.Targets {
		fmt.Fprintf(w, "%g\t%.3f\t%.2f–%.2f\t%.3f\t%d\t%d of %d\t%d of %d\t%.0f\t%+.3f\t%.0f %%\t\n",
			t.Target, t.Share, t.Low, t.High, t.Estimated, t.Requests, t.Honest, t.Hosts, t.Within, t.Told, t.Probed, t.Bias,
			100*t.Without)
	}
	fmt.Fprintln(w, "\nhosts visited mostly after longer waits than the shortest\tcaptured\ttheir own estimate\twithin 10 points\t")
	for _, t := range f.Targets {
		fmt.Fprintf(w, "%g\t%.3f\t%.3f\t%d of %d\t\n",
			t.Target, t.Longer.Share, t.Longer.Estimated, t.Longer.Honest, t.Longer.Hosts)
	}
	if err := w.Flush(); err != nil || !perSource {
		return err
	}
	_, err := fmt.Fprintf(out, "\na budget of its own for each source, 1×: %.3f in the mean; "+
		"compared with the classic rule at worst %+.3f (%s)\n", f.Sources, f.Worst.Figure, f.Worst.Source)
	return err
}
