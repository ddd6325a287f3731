package sim

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Result holds what one policy captured with one budget.
type Result struct {
	Policy    string           `json:"policy"`
	Budget    float64          `json:"budget"` // requests, as a multiple of the classic rule's requests
	Knob      float64          `json:"knob,omitempty"`
	Total     Tally            `json:"total"`
	Share     float64          `json:"share"` // of the versions, captured
	Low       float64          `json:"low"`   // the share is between Low and High in 95 of 100 draws of the resources
	High      float64          `json:"high"`
	Report    Report           `json:"report"`
	PerSource float64          `json:"mean_over_sources"` // mean share of sources with budgets of their own
	Sources   map[string]Share `json:"sources,omitempty"` // at those budgets
	Groups    map[string]Tally `json:"groups,omitempty"`  // at the one budget for all, as Question.Group names them
}

// Share holds what was captured of a source with a budget of its own.
type Share struct {
	Captured float64 `json:"captured"` // share of the versions
	Classic  float64 `json:"classic"`  // the same for the classic rule, stretched to the same requests
}

// Question holds the arguments of [Compare].
type Question struct {
	Policies  []Policy
	Budgets   []float64
	PerSource bool                 // also play each source with a budget of its own
	Group     func(History) string // nil: no groups
	Draws     int                  // for the confidence interval; zero: none
	Seed      uint64
}

// Compare returns one result for each policy and budget, and one for a policy without a knob.
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

// Base returns the requests that the classic rule makes with its defaults, if nothing is known before: the unit of
// budgets.
func Base(all []History) int { return Sum(Play(Classic(), 0, Cold(all))).Requests }

// Result sums up the tallies of a policy. base is the result of [Base].
func (q Question) Result(policy string, tallies []Tally, all []History, base int) Result {
	r := Result{Policy: policy, Total: Sum(tallies), Report: NewReport(all, tallies)}
	r.Share = r.Total.Share()
	r.Low, r.High = interval(tallies, q.Draws, q.Seed)
	if base > 0 {
		r.Budget = float64(r.Total.Requests) / float64(base)
	}
	if q.Group != nil {
		r.Groups = sums(all, tallies, q.Group)
	}
	return r
}

// sums adds up the tallies of the histories of each group.
func sums(all []History, tallies []Tally, group func(History) string) map[string]Tally {
	of := map[string]Tally{}
	for i, t := range tallies {
		name := group(all[i])
		of[name] = of[name].Add(t)
	}
	return of
}

// grouped returns the histories of each group in the order of the names, as sums of floats depend on it.
func grouped(all []History, group func(History) string) iter.Seq2[string, []History] {
	of := map[string][]History{}
	for _, h := range all {
		of[group(h)] = append(of[group(h)], h)
	}
	return func(yield func(string, []History) bool) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if !yield(name, of[name]) {
				return
			}
		}
	}
}

func source(h History) string { return h.Source }

func host(h History) string { return h.Host }

// perSource plays each source with a budget of its own, and returns their shares and the mean. Sources in which nothing
// changes have no share.
func perSource(p Policy, budget float64, all []History) (map[string]Share, float64) {
	shares := map[string]Share{}
	sum := 0.0
	for source, histories := range grouped(all, source) {
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

// interval draws the resources again, with replacement, and returns the 2.5th and the 97.5th percentile of the share.
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
