package sim

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Figures say what the learned rule captures on a set of histories, and whether that depends on a few sources.
type Figures struct {
	Budgets []BudgetFigure `json:"budgets"` // one budget for all
	Sources float64        `json:"mean_over_sources"`
	Worst   SourceFigure   `json:"worst_source"` // compared with the classic rule, at the same requests
	Targets []TargetFigure `json:"targets"`
}

// BudgetFigure holds what was captured at a budget.
type BudgetFigure struct {
	Budget  float64       `json:"budget"`
	Share   float64       `json:"share"`
	Low     float64       `json:"low"` // the share is between Low and High in 95 of 100 draws of whole sources
	High    float64       `json:"high"`
	Lowest  SourceFigure  `json:"least"` // the share without the source that helps most
	Highest SourceFigure  `json:"most"`  // the share without the source that hurts most
	Without []SourceShare `json:"without"`
}

// SourceFigure is a figure of one source.
type SourceFigure struct {
	Source string  `json:"source"`
	Figure float64 `json:"figure"`
}

// SourceShare is the share of all versions that was captured without one source.
type SourceShare struct {
	Source string  `json:"source"`
	Share  float64 `json:"share"`
}

// TargetFigure holds what was captured with a capture target and no limit on requests.
type TargetFigure struct {
	Target    float64 `json:"target"`
	Share     float64 `json:"share"`
	Low       float64 `json:"low"` // as in BudgetFigure
	High      float64 `json:"high"`
	Estimated float64 `json:"estimated"` // the share that the rule itself estimated
	Requests  int     `json:"requests"`
	Hosts     int     `json:"hosts"`        // with 100 versions or more
	Honest    int     `json:"honest_hosts"` // whose estimate is within 10 points
	Told      int     `json:"hosts_told"`   // whose share is known
	Within    int     `json:"hosts_within"` // whose true share is within the bounds that the estimate has
	Probed    float64 `json:"hosts_probed"` // within 10 points if only random second visits were believed, see probed
	Bias      float64 `json:"bias"`         // mean error of the estimate over hosts
	Without   float64 `json:"worst_honest"` // lowest share of honest hosts without one source

	// Longer holds the same of the hosts that are visited mostly after longer waits than the shortest one.
	Longer HostsFigure `json:"longer_waits"`
}

// HostsFigure says how well the share that the rule estimated of some hosts agrees with the captured one.
type HostsFigure struct {
	Share     float64 `json:"share"`
	Estimated float64 `json:"estimated"`
	Hosts     int     `json:"hosts"` // with 100 versions or more
	Honest    int     `json:"honest_hosts"`
}

const (
	minVersions  = 100 // of a host, so that its share can be compared with an estimate
	honestWithin = 0.1
	figureDraws  = 2000
	probes       = 0.05 // share of the visits that are followed by another one, see probed
)

// FigureQuestion holds the arguments of [Figure].
type FigureQuestion struct {
	Budgets []float64 // multiples of [Base]
	Targets []float64 // capture targets
	Sources bool      // also give each source a budget of its own
	Seed    uint64    // of the draws for intervals
}

// Figure plays the learned rule for the [Figures], on all processors: each budget, each target and the sources for
// themselves.
func Figure(q FigureQuestion, all []History) Figures {
	parts := []FigureQuestion{{Sources: q.Sources, Seed: q.Seed}}
	for i := range q.Budgets {
		parts = append(parts, FigureQuestion{Budgets: q.Budgets[i : i+1], Seed: q.Seed})
	}
	for i := range q.Targets {
		parts = append(parts, FigureQuestion{Targets: q.Targets[i : i+1], Seed: q.Seed})
	}
	results := make([]Figures, len(parts))
	inParallel(context.Background(), len(parts), func(_, i int) {
		i = len(parts) - 1 - i // the last part usually takes longest
		results[i] = parts[i].play(all)
	})
	f := results[0]
	for _, r := range results[1:] {
		f.Budgets, f.Targets = append(f.Budgets, r.Budgets...), append(f.Targets, r.Targets...)
	}
	return f
}

func (q FigureQuestion) play(all []History) Figures {
	p := learned()
	_, longest := evaluators.Learned{}.Bounds()
	var f Figures
	base := 0
	if len(q.Budgets) > 0 {
		base = Base(all)
	}
	for _, budget := range q.Budgets {
		_, tallies := Spend(p, int(budget*float64(base)), all)
		f.Budgets = append(f.Budgets, budgetFigure(budget, bySource(all, tallies), q.Seed))
	}
	if q.Sources {
		shares, mean := perSource(p, 1, all)
		f.Sources = mean
		for _, name := range slices.Sorted(maps.Keys(shares)) {
			if d := shares[name].Captured - shares[name].Classic; f.Worst.Source == "" || d < f.Worst.Figure {
				f.Worst = SourceFigure{name, d}
			}
		}
	}
	for _, target := range q.Targets {
		stack := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: target, Min: MinWait, Max: longest}}}
		f.Targets = append(f.Targets, targetFigure(target, all, Play(Stack("learned", stack), 0, all), q.Seed))
	}
	return f
}

// sourced is a source and its tally.
type sourced struct {
	name  string
	tally Tally
}

func bySource(all []History, tallies []Tally) []sourced {
	of := sums(all, tallies, source)
	var list []sourced
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, sourced{name, of[name]})
	}
	return list
}

// total sums up all sources.
func total(list []sourced) Tally { return Sum(tallies(list)) }

// totalWithout sums up all sources except one.
func totalWithout(list []sourced, name string) Tally {
	return total(slices.DeleteFunc(slices.Clone(list), func(s sourced) bool { return s.name == name }))
}

func budgetFigure(budget float64, list []sourced, seed uint64) BudgetFigure {
	f := BudgetFigure{Budget: budget, Share: total(list).Share()}
	f.Low, f.High = interval(tallies(list), figureDraws, seed)
	for _, s := range list {
		f.Without = append(f.Without, SourceShare{s.name, totalWithout(list, s.name).Share()})
	}
	if len(f.Without) > 0 {
		byShare := func(a, b SourceShare) int { return cmp.Compare(a.Share, b.Share) }
		lowest, highest := slices.MinFunc(f.Without, byShare), slices.MaxFunc(f.Without, byShare)
		f.Lowest, f.Highest = SourceFigure{lowest.Source, lowest.Share}, SourceFigure{highest.Source, highest.Share}
	}
	return f
}

func tallies(list []sourced) []Tally {
	sums := make([]Tally, len(list))
	for i, s := range list {
		sums[i] = s.tally
	}
	return sums
}

func targetFigure(target float64, all []History, played []Tally, seed uint64) TargetFigure {
	list := bySource(all, played)
	sum := total(list)
	f := TargetFigure{Target: target, Share: sum.Share(), Requests: sum.Requests}
	f.Low, f.High = interval(tallies(list), figureDraws, seed)
	hosts, sourceOf := sums(all, played, host), map[string]string{}
	for _, h := range all {
		sourceOf[h.Host] = h.Source
	}
	of, honest := map[string]int{}, map[string]int{}
	var together, longer evaluators.Captured
	var longerTruth Tally
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		t := hosts[name]
		estimate := t.estimate()
		together = together.Plus(estimate)
		hasLonger := 2*t.Shortest < t.Requests
		if hasLonger {
			longer, longerTruth = longer.Plus(estimate), longerTruth.Add(t)
		}
		if t.Versions < minVersions {
			continue
		}
		f.Hosts++
		if hasLonger {
			f.Longer.Hosts++
		}
		of[sourceOf[name]]++
		if !estimate.Known() {
			continue
		}
		f.Told++
		if low, high := estimate.Range(); low <= t.Share() && t.Share() <= high {
			f.Within++
		}
		off := estimate.Share() - t.Share()
		f.Bias += off
		if math.Abs(off) <= honestWithin {
			f.Honest++
			honest[sourceOf[name]]++
			if hasLonger {
				f.Longer.Honest++
			}
		}
	}
	f.Longer.Share, f.Longer.Estimated = longerTruth.Share(), longer.Share()
	f.Estimated = together.Share()
	f.Probed = probed(probes, all, played)
	f.Bias /= math.Max(1, float64(f.Told))
	f.Without = 1
	for name := range of {
		if rest := f.Hosts - of[name]; rest > 0 {
			f.Without = math.Min(f.Without, float64(f.Honest-honest[name])/float64(rest))
		}
	}
	return f
}

// estimate returns what a policy estimates to have captured of a host.
func (t Tally) estimate() evaluators.Captured {
	d := evaluators.Day{Requests: t.Requests, Seen: t.Captured, Versions: t.Expected, Spread: t.Spread, Young: t.Young}
	return d.Captured()
}
