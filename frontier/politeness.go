package frontier

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Politeness says how long a slot sleeps after a visit: DelayFactor times the duration of the visit, cut to MaxDelay,
// then raised to MinDelay and to CrawlDelay; never longer than 24 hours. The zero value is no delay.
type Politeness struct {
	DelayFactor        float64
	MinDelay, MaxDelay time.Duration
	CrawlDelay         time.Duration // what robots.txt asks for, bounded by the caller; zero is nothing
}

// maxRest bounds every rest of a slot or host, whoever asks for it: a host that says "come back in a year" is asked
// again the next day.
const maxRest = 24 * time.Hour

// RestWhenDown is how long a host rests when it could not be reached so many times in a row: from one minute, doubled
// each time, to one hour.
func RestWhenDown(failures int) time.Duration { return downLadder.Wait(failures) }

// downLadder is the ladder of [RestWhenDown].
var downLadder = evaluators.Ladder{First: time.Minute, Max: time.Hour, Factor: 2}

// Rest is how long a slot sleeps after a visit that took so long.
func (p Politeness) Rest(took time.Duration) time.Duration { return restAfter(p, took) }

// restAfter is how long a slot sleeps after a visit that took so long. MinDelay wins over a MaxDelay below it, so that
// no slip in a configuration makes arcrawl impolite.
func restAfter(p Politeness, took time.Duration) time.Duration {
	var d time.Duration
	if scaled := p.DelayFactor * float64(took); scaled > 0 { // false for NaN too
		d = time.Duration(min(scaled, float64(maxRest)))
	}
	d = max(min(d, p.MaxDelay), p.MinDelay, p.CrawlDelay, 0)
	return min(d, maxRest)
}

// unusual is a rest in ms, 0 if that of all hosts after a crash is as long.
func (f *Frontier) usualRest(rest time.Duration) int64 {
	if rest <= f.afterCrash {
		return 0
	}
	return rest.Milliseconds()
}

// askedRest is the end, in ms, of the rest that the server itself asks for with a settlement.
func askedRest(asked int64, o Settlement) int64 {
	if o.RetryAfter.After(o.Finished) {
		asked = max(asked, millis(earliest(o.RetryAfter, o.Finished.Add(maxRest))))
	}
	return asked
}

// hostRest is the end, in ms, of the rest that a settlement imposes on a whole host, and how often in a row the host
// was down with it. A second visit that fails while the host rests already tells nothing new: it is from the same
// outage, so the ladder is not climbed twice.
func hostRest(rest int64, failures int, o Settlement) (until int64, inARow int) {
	rest = max(rest, askedRest(0, o))
	if !o.HostDown {
		if o.NoRequest {
			return rest, failures
		}
		return rest, 0
	}
	if failures == 0 || millis(o.Finished) >= rest {
		failures++
	}
	return max(rest, millis(o.Finished.Add(downLadder.Wait(failures)))), failures
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
