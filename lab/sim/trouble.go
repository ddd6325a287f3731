package sim

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Trouble says what goes wrong while a policy is played. Its zero value is nothing.
type Trouble uint8

// The troubles.
const (
	NoTrouble  Trouble = iota
	Late               // each visit is late by a whole wait
	Outages            // each host fails 10 % of the time, in spans of six hours
	Stale              // every tenth answer to a changed page says that it did not change
	Clock              // the clock is 40 days ahead on one day of 30, and the crawler notices the jumps
	BlindClock         // the same, but the crawler was stopped at each jump and does not notice
)

// String returns the name of the trouble.
func (t Trouble) String() string {
	return [...]string{"none", "late", "outages", "stale", "clock", "blind-clock"}[t]
}

// TroubleNamed returns the trouble with a name.
func TroubleNamed(name string) (Trouble, error) {
	var names []string
	for t := NoTrouble; t <= BlindClock; t++ {
		if t.String() == name {
			return t, nil
		}
		names = append(names, t.String())
	}
	return 0, fmt.Errorf("unknown trouble %q; valid troubles: %s", name, strings.Join(names, ", "))
}

const (
	outageSpan   = 6 * time.Hour
	troubleShare = 10 // one in this number of spans or answers
	clockAhead   = 40 * 24 * time.Hour
	clockDay     = 24 * time.Hour
	clockEvery   = 30 // days
)

// chance returns the same number for the same arguments, as if it was drawn at random.
func chance(of string, n int64) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", of, n)
	x := h.Sum32() // its low digits depend too much on the last byte
	return (x ^ x>>15) * 0x85ebca6b >> 8
}

// down reports whether the host fails at a moment.
func (t Trouble) down(host string, at time.Time) bool {
	return t == Outages && chance(host, at.Unix()/int64(outageSpan/time.Second))%troubleShare == 0
}

// stale reports whether an answer says wrongly that a page did not change.
func (t Trouble) stale(id string, at time.Time) bool {
	return t == Stale && chance(id, at.UnixMilli())%troubleShare == 0
}

// ahead returns how far the clock is ahead of the time.
func (t Trouble) ahead(at time.Time) time.Duration {
	if (t == Clock || t == BlindClock) && at.Unix()/int64(clockDay/time.Second)%clockEvery == 0 {
		return clockAhead
	}
	return 0
}

// InTrouble returns the policy in trouble.
func (p Policy) InTrouble(t Trouble) Policy {
	p.trouble = t
	if t != NoTrouble {
		p.Name += ", " + t.String()
	}
	return p
}

// fail makes a visit that the host does not answer, and reports whether another one follows. The policy is not asked.
func (t *track) fail(at time.Time) bool {
	t.failures++
	t.tally.Requests++
	t.plan, t.late = Plan{PerDay: t.plan.PerDay}, 0
	wait := evaluators.Ladder{}.Wait(t.failures)
	t.due = at.Add(wait)
	return t.history.Watched-at.Sub(t.history.Start) >= wait
}
