package frontier

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Politeness says how long a slot sleeps after a visit: DelayFactor times the duration of the visit, at most
// MaxDelay, then at least MinDelay and CrawlDelay, and never longer than 24 hours. The zero value means no delay.
type Politeness struct {
	DelayFactor        float64
	MinDelay, MaxDelay time.Duration
	CrawlDelay         time.Duration // the delay that robots.txt asks for, bounded by the caller; zero means none
}

// maxRest bounds every rest of a slot or host. A host that asks to be left alone for a year is visited again the next
// day.
const maxRest = 24 * time.Hour

// RestWhenDown returns how long a host rests after it could not be reached the given number of times in a row: one
// minute, doubled each time, up to one hour.
func RestWhenDown(failures int) time.Duration { return downLadder.Wait(failures) }

// downLadder holds the rests that [RestWhenDown] returns.
var downLadder = evaluators.Ladder{First: time.Minute, Max: time.Hour, Factor: 2}

// Rest returns how long a slot sleeps after a visit of the given duration. A MinDelay above MaxDelay takes precedence,
// so that no mistake in a configuration makes the crawler impolite.
func (p Politeness) Rest(took time.Duration) time.Duration {
	var d time.Duration
	if scaled := p.DelayFactor * float64(took); scaled > 0 { // false for NaN too
		d = time.Duration(min(scaled, float64(maxRest)))
	}
	d = max(min(d, p.MaxDelay), p.MinDelay, p.CrawlDelay, 0)
	return min(d, maxRest)
}

// usualRest returns a rest in ms, or 0 if every host rests at least as long after a crash.
func (f *Frontier) usualRest(rest time.Duration) int64 {
	if rest <= f.afterCrash {
		return 0
	}
	return rest.Milliseconds()
}

// askedRest returns the end, in ms, of the rest that the server itself asked for. asked is the end before the
// settlement.
func askedRest(asked int64, o Settlement) int64 {
	if o.RetryAfter.After(o.Finished) {
		asked = max(asked, millis(earliest(o.RetryAfter, o.Finished.Add(maxRest))))
	}
	return asked
}

// hostRest returns the end, in ms, of the rest of the whole host after a settlement, and the number of times in a row
// that the host was down. A second visit that fails while the host rests belongs to the same outage, so it is not
// counted.
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
