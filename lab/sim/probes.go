package sim

import (
	"maps"
	"math"
	"slices"
)

// probed returns on how many hosts a perfect estimate of the captured share would be within 10 points, if a share of
// all visits at random were followed by another one after the shortest wait, and only these pairs were believed.
//
// Such pairs count changes without a model, however they are distributed. But few of them see a change: their number is
// about the number of pairs times the changes expected in the shortest wait. If n of them do, the estimate is off by
// one part in √n. Changes in bursts are seen together, so that it is off by more.
func probed(share float64, all []History, played []Tally) float64 {
	type host struct {
		tally Tally
		seen  float64 // pairs that see a change
	}
	hosts := map[string]host{}
	for i, t := range played {
		h := hosts[all[i].Host]
		perWait := float64(t.Versions) * MinWait.Hours() / math.Max(all[i].Watched.Hours(), MinWait.Hours())
		h.seen += share * float64(t.Requests) * -math.Expm1(-perWait)
		h.tally = h.tally.Add(t)
		hosts[all[i].Host] = h
	}
	within := 0.0
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		if h := hosts[name]; h.tally.Versions >= minVersions {
			within += math.Erf(honestWithin * math.Sqrt(h.seen) / math.Max(h.tally.Share(), 0.01) / math.Sqrt2)
		}
	}
	return within
}
