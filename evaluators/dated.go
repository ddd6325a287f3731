package evaluators

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// mostCounted is how many changes between two visits are counted; more would say no more.
const mostCounted = 1000

// date takes from a visit when the URI changed, or for how long it has not, as far as that is known, and gives what is to be
// said of it in the reason.
func (r *remembered) date(in WaitInput) (reason string) {
	if in.State != Changed || in.First || r.last.IsZero() {
		return ""
	}
	within := func(t time.Time) bool { return t.After(r.last) && t.Before(in.At) }
	for _, t := range in.Moments {
		if within(t) && len(r.moments) < mostCounted {
			r.moments = append(r.moments, t)
		}
	}
	switch {
	case len(r.moments) > 0:
		r.counted = min(max(len(r.moments), in.Changes), mostCounted)
		return " " + times(r.counted) + ", the last " + brief(in.At.Sub(slices.MaxFunc(r.moments, time.Time.Compare))) + " ago" + by(in.ChangedBy)
	case in.Changes > 0:
		r.counted = min(in.Changes, mostCounted)
		return " " + times(r.counted) + by(in.ChangedBy)
	case within(in.ChangedAt):
		w := r.habits()
		r.quiet = w.exposure(unix(in.ChangedAt), unix(in.At))
		if in.Silent.After(r.last) && in.Silent.Before(in.ChangedAt) {
			r.quiet += w.exposure(unix(r.last), unix(in.Silent))
		}
		r.quiet = max(r.quiet, leastBelief)
		return " " + brief(in.At.Sub(in.ChangedAt)) + " ago" + by(in.ChangedBy)
	}
	return ""
}

func by(whom string) string {
	if whom == "" {
		return ""
	}
	return " by " + whom
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// counted is the belief after so many changes over an exposure, which is exact, and the logarithm of the probability that it
// had given to that: a Gamma belief makes counts negative binomial.
func (b belief) counted(exposure, changes float64) (belief, float64) {
	longer := b.exposure + exposure
	to, _ := math.Lgamma(b.shape + changes)
	from, _ := math.Lgamma(b.shape)
	ways, _ := math.Lgamma(changes + 1)
	likely := to - from - ways + b.shape*math.Log(b.exposure/longer) + changes*math.Log(exposure/longer)
	return belief{b.shape + changes, longer}.bounded(), max(likely, -likeliestLeast)
}

// likeliestLeast is how much a count can speak against a memory, as a logarithm: what is beyond is as good as impossible.
const likeliestLeast = 60.0

// mark takes in changes whose moments are known; fine says that the minutes of the hour are learned too.
func (c *clock) mark(moments []time.Time, fine bool) {
	for _, t := range moments {
		hour, end := hourOf(unix(t))
		c.cells[hour%hoursOfDay].shape++
		c.cells[hoursOfDay+hour/hoursOfDay].shape++
		if fine {
			second := unix(t) - (end - secondsPerHour)
			c.parts[min(max(int(second/partLength), 0), hourParts-1)].shape++
		}
	}
}
