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

// hostMet says whether a host has ever answered. It is stored.
type hostMet int

const (
	metNever hostMet = iota + 1 // nothing at the name ever answered a request
	metAnswered
)

// RestWhenDown returns how long a host rests after it could not be reached the given number of times in a row: one
// minute, doubled each time. A host that has answered before is expected back and rests at most an hour. For a host
// that never answered, the rests grow up to four weeks: it may never have existed.
func RestWhenDown(failures int, answered bool) time.Duration {
	if answered {
		return downLadder.Wait(failures)
	}
	return neverMetLadder.Wait(failures)
}

var (
	downLadder     = evaluators.Ladder{First: time.Minute, Max: time.Hour, Factor: 2}
	neverMetLadder = evaluators.Ladder{First: time.Minute, Max: 28 * 24 * time.Hour, Factor: 2}
)

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
	if rest <= f.o.RestAfterCrash {
		return 0
	}
	return rest.Milliseconds()
}

// MaxLoneRest bounds the rest of a whole host that only one of its URIs asks for. One page in maintenance must not
// silence a site for a day. A host whose other URIs ask for a rest too gets it.
const MaxLoneRest = time.Hour

// settleRest updates the rests of the whole host after a settlement of a URI, and the number of times in a row that the
// host was down. A second visit that fails while the host rests belongs to the same outage, so it is not counted.
func (s *state) settleRest(fp fingerprint, o Settlement) {
	s.rest = max(s.rest, millis(earliest(o.Rest, o.Finished.Add(maxRest))))
	if o.RetryAfter.After(o.Finished) {
		longest := maxRest
		if s.asker == (fingerprint{}) {
			s.asker = fp
		}
		if s.asker == fp {
			longest = MaxLoneRest
		}
		asked := millis(earliest(o.RetryAfter, o.Finished.Add(longest)))
		s.asked, s.rest = max(s.asked, asked), max(s.rest, asked)
	}
	switch {
	case o.NoRequest:
	case o.HostDown:
		if s.failures == 0 || millis(o.Finished) >= s.rest {
			s.failures++
		}
		s.rest = max(s.rest, millis(o.Finished.Add(RestWhenDown(s.failures, s.met == metAnswered))))
	case o.NoAnswer:
		s.failures = 0
	default:
		s.failures, s.met = 0, metAnswered
		if !o.RetryAfter.After(o.Finished) {
			s.asker = fingerprint{}
		}
	}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
