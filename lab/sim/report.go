package sim

import "time"

// Report says what was captured in three ways, because a rule can gain by one of them what it loses by another. Only
// Requests, Noise, Beneath and Looks include noisy pages.
type Report struct {
	Pooled   float64 `json:"pooled"`          // share of all versions
	PerPage  float64 `json:"mean_over_pages"` // mean share of the pages with a version
	Slow     float64 `json:"slow_pages"`      // share of the versions of pages that change less than weekly
	Requests int     `json:"requests"`        // all requests
	Noise    float64 `json:"noise_requests"`  // share of the requests that went to noisy pages
	Beneath  float64 `json:"beneath_noise"`   // share of the true versions of noisy pages
	Looks    float64 `json:"second_looks"`    // share of the requests that were second looks
}

// slowGap is the mean time between two changes above which a page is slow.
const slowGap = 7 * 24 * time.Hour

// Slow reports whether a resource changes, but less than weekly.
func (h History) Slow() bool {
	return len(h.Changes) > 0 && h.Watched > time.Duration(len(h.Changes))*slowGap
}

// NewReport sums up the tallies of a play.
func NewReport(all []History, tallies []Tally) Report {
	var real, slow, noise Tally
	pages, shares := 0, 0.0
	for i, t := range tallies {
		if all[i].Noise {
			noise = noise.Add(t)
			continue
		}
		real = real.Add(t)
		if t.Versions > 0 {
			pages++
			shares += t.Share()
		}
		if all[i].Slow() {
			slow = slow.Add(t)
		}
	}
	r := Report{Pooled: real.Share(), Slow: slow.Share(), Requests: real.Requests + noise.Requests, Beneath: noise.Share()}
	r.PerPage = shares / float64(max(pages, 1))
	r.Noise = float64(noise.Requests) / float64(max(r.Requests, 1))
	r.Looks = float64(real.Looks+noise.Looks) / float64(max(r.Requests, 1))
	return r
}
