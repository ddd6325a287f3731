package sim

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Figures say what the rule learned is worth on a set of histories, and whether that rests on a few sources.
type Figures struct {
	Budgets []BudgetFigure `json:"budgets"` // one budget for all
	Sources float64        `json:"mean_over_sources"`
	Worst   SourceFigure   `json:"worst_source"` // against the classic rule, at the same requests
	Targets []TargetFigure `json:"targets"`
}

// BudgetFigure is what was captured at a budget.
type BudgetFigure struct {
	Budget  float64       `json:"budget"`
	Share   float64       `json:"share"`
	Low     float64       `json:"low"` // the share lies between Low and High in 95 of 100 draws of whole sources
	High    float64       `json:"high"`
	Least   SourceFigure  `json:"least"` // the share without the source that helps most
	Most    SourceFigure  `json:"most"`  // the same without the one that hurts most
	Without []SourceShare `json:"without"`
}

// SourceFigure is a figure and the source that it is about.
type SourceFigure struct {
	Source string  `json:"source"`
	Figure float64 `json:"figure"`
}

// SourceShare is the share of all versions that was captured without one source.
type SourceShare struct {
	Source string  `json:"source"`
	Share  float64 `json:"share"`
}

// TargetFigure is what came of a capture target with nothing to limit requests.
type TargetFigure struct {
	Target    float64 `json:"target"`
	Share     float64 `json:"share"`
	Low       float64 `json:"low"` // as in BudgetFigure
	High      float64 `json:"high"`
	Estimated float64 `json:"estimated"` // the share that the rule itself believed in
	Requests  int     `json:"requests"`
	Hosts     int     `json:"hosts"` // with at least so many versions as to judge by
	Honest    int     `json:"honest_hosts"`
	Bias      float64 `json:"bias"`         // of the estimate, mean over hosts
	Without   float64 `json:"worst_honest"` // least share of honest hosts without one source
}

const (
	leastVersions = 100 // of a host, so that its share can be compared with an estimate
	honestWithin  = 0.1
	mostDraws     = 2000
)

// Figure plays what [Figures] tells. Budgets are multiples of [Base]; nil leaves out that part, and so do nil targets.
func Figure(all []History, budgets, targets []float64, sources bool, seed uint64) Figures {
	_, most := evaluators.Learned{}.Bounds()
	p := Learned(most)
	var f Figures
	base := 0
	if len(budgets) > 0 {
		base = Base(all)
	}
	for _, budget := range budgets {
		_, tallies := Spend(p, int(budget*float64(base)), all)
		f.Budgets = append(f.Budgets, budgetFigure(budget, bySource(all, tallies), seed))
	}
	if sources {
		shares, mean := perSource(p, 1, all)
		f.Sources = mean
		for _, name := range slices.Sorted(maps.Keys(shares)) {
			if d := shares[name].Captured - shares[name].Classic; f.Worst.Source == "" || d < f.Worst.Figure {
				f.Worst = SourceFigure{name, d}
			}
		}
	}
	for _, target := range targets {
		stack := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: target, Min: MinWait, Max: most}}}
		f.Targets = append(f.Targets, targetFigure(target, all, Play(Stack("learned", stack), 0, all), seed))
	}
	return f
}

// sourced is the tally of a source.
type sourced struct {
	name  string
	tally Tally
}

func bySource(all []History, tallies []Tally) []sourced {
	sums := map[string]Tally{}
	for i, t := range tallies {
		sums[all[i].Source] = sums[all[i].Source].Add(t)
	}
	var list []sourced
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, sourced{name, sums[name]})
	}
	return list
}

// total sums up the sources but one.
func total(list []sourced, without string) Tally {
	var sum Tally
	for _, s := range list {
		if s.name != without {
			sum = sum.Add(s.tally)
		}
	}
	return sum
}

func budgetFigure(budget float64, list []sourced, seed uint64) BudgetFigure {
	f := BudgetFigure{Budget: budget, Share: total(list, "").Share()}
	f.Low, f.High = interval(tallies(list), mostDraws, seed)
	for _, s := range list {
		f.Without = append(f.Without, SourceShare{s.name, total(list, s.name).Share()})
	}
	if len(f.Without) > 0 {
		byShare := func(a, b SourceShare) int { return cmp.Compare(a.Share, b.Share) }
		least, most := slices.MinFunc(f.Without, byShare), slices.MaxFunc(f.Without, byShare)
		f.Least, f.Most = SourceFigure{least.Source, least.Share}, SourceFigure{most.Source, most.Share}
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
	sum := total(list, "")
	f := TargetFigure{Target: target, Share: sum.Share(), Requests: sum.Requests, Estimated: believed(sum)}
	f.Low, f.High = interval(tallies(list), mostDraws, seed)
	hosts, sourceOf := map[string]Tally{}, map[string]string{}
	for i, t := range played {
		hosts[all[i].Host] = hosts[all[i].Host].Add(t)
		sourceOf[all[i].Host] = all[i].Source
	}
	of, honest := map[string]int{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		t := hosts[name]
		if t.Versions < leastVersions {
			continue
		}
		f.Hosts++
		of[sourceOf[name]]++
		off := believed(t) - t.Share()
		f.Bias += off
		if math.Abs(off) <= honestWithin {
			f.Honest++
			honest[sourceOf[name]]++
		}
	}
	f.Bias /= math.Max(1, float64(f.Hosts))
	f.Without = 1
	for name := range of {
		if rest := f.Hosts - of[name]; rest > 0 {
			f.Without = math.Min(f.Without, float64(f.Honest-honest[name])/float64(rest))
		}
	}
	return f
}

// believed is the share that a policy thinks it has captured.
func believed(t Tally) float64 {
	if t.Expected <= float64(t.Captured) {
		return 1
	}
	return float64(t.Captured) / t.Expected
}
