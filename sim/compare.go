package sim

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Result is what one policy made of one budget.
type Result struct {
	Policy    string           `json:"policy"`
	Budget    float64          `json:"budget"` // multiple of what the classic rule spends; of its own spending if the policy has no knob
	Knob      float64          `json:"knob,omitempty"`
	Total     Tally            `json:"total"`
	Share     float64          `json:"share"` // of the versions, captured
	Low       float64          `json:"low"`   // the share lies between Low and High in 95 of 100 draws of the resources
	High      float64          `json:"high"`
	PerSource float64          `json:"mean_over_sources"` // each source with the same budget multiple of its own; NaN if not asked for
	Sources   map[string]Share `json:"sources,omitempty"` // at those budgets
	Groups    map[string]Tally `json:"groups,omitempty"`  // at the one budget for all, as Question.Group names them
}

// Share is what was captured of a source with a budget of its own.
type Share struct {
	Captured float64 `json:"captured"` // share of the versions
	Classic  float64 `json:"classic"`  // the same by the classic rule, stretched to the same requests
}

// Question is what Compare is asked.
type Question struct {
	Policies  []Policy
	Budgets   []float64
	PerSource bool                 // also give each source a budget of its own
	Group     func(History) string // nil: no groups
	Draws     int                  // for the confidence interval; zero: none
	Seed      uint64
}

// Compare answers: one result for each policy and budget, or one for a policy without a knob.
func Compare(q Question, all []History) []Result {
	base := Base(all)
	var results []Result
	for _, p := range q.Policies {
		budgets := q.Budgets
		if !p.Foresight && p.High <= p.Low {
			budgets = []float64{0}
		}
		for _, budget := range budgets {
			knob, tallies := Spend(p, int(budget*float64(base)), all)
			r := q.Result(p.Name, tallies, all, base)
			r.Budget, r.Knob = cmp.Or(budget, r.Budget), knob
			if q.PerSource {
				r.Sources, r.PerSource = perSource(p, budget, all)
			}
			results = append(results, r)
		}
	}
	return results
}

// Base is what the classic rule spends with its defaults: the unit of budgets.
func Base(all []History) int { return Sum(Play(Classic(), 0, all)).Requests }

// Result sums up what came of a policy played without a budget; base is that of [Base].
func (q Question) Result(policy string, tallies []Tally, all []History, base int) Result {
	r := Result{Policy: policy, Total: Sum(tallies)}
	r.Share = r.Total.Share()
	r.Low, r.High = interval(tallies, q.Draws, q.Seed)
	if base > 0 {
		r.Budget = float64(r.Total.Requests) / float64(base)
	}
	if q.Group != nil {
		r.Groups = map[string]Tally{}
		for i, t := range tallies {
			name := q.Group(all[i])
			r.Groups[name] = r.Groups[name].Add(t)
		}
	}
	return r
}

// perSource plays each source with a budget of its own. Sources in which nothing changes have no share.
func perSource(p Policy, budget float64, all []History) (map[string]Share, float64) {
	bySource := map[string][]History{}
	for _, h := range all {
		bySource[h.Source] = append(bySource[h.Source], h)
	}
	shares := map[string]Share{}
	sum := 0.0
	for _, source := range slices.Sorted(maps.Keys(bySource)) { // in order, as sums of floats depend on it
		histories := bySource[source]
		requests := int(budget * float64(Sum(Play(Classic(), 0, histories)).Requests))
		_, tallies := Spend(p, requests, histories)
		if t := Sum(tallies); t.Versions > 0 {
			_, classic := Spend(Stretched(), requests, histories)
			shares[source] = Share{Captured: t.Share(), Classic: Sum(classic).Share()}
			sum += t.Share()
		}
	}
	return shares, sum / math.Max(1, float64(len(shares)))
}

// interval draws the resources anew, with replacement, and gives the share's 2.5th and 97.5th percentile.
func interval(tallies []Tally, draws int, seed uint64) (low, high float64) {
	share := Sum(tallies).Share()
	if draws <= 0 || len(tallies) == 0 {
		return share, share
	}
	random := rand.New(rand.NewPCG(seed, 1))
	shares := make([]float64, draws)
	for i := range shares {
		var sum Tally
		for range tallies {
			sum = sum.Add(tallies[random.IntN(len(tallies))])
		}
		shares[i] = sum.Share()
	}
	slices.SortFunc(shares, cmp.Compare)
	return shares[int(0.025*float64(draws))], shares[min(draws-1, int(0.975*float64(draws)))]
}
