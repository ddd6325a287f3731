package evaluators

import (
	"math"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Classic is the rule of Heritrix. It divides the interval of a URI that changed and multiplies the interval of one
// that did not. Intervals are in milliseconds, truncated toward zero.
//
// The default of a field is used if a duration is zero or negative, or a factor is zero, negative or not a number. If
// Min exceeds Max, Min wins.
type Classic struct {
	Initial         time.Duration // after the first capture, and if no interval was learned; default 24h
	Unknown         time.Duration // if the state is unknown and no interval was learned; default 72h
	Min, Max        time.Duration // bounds of every interval; default 1h and 28d
	ChangedFactor   float64       // divides; default 1.5
	UnchangedFactor float64       // multiplies; default 1.5
	UseOverdue      bool          // add the overdue time to the interval before dividing or multiplying
}

// Bounds returns Min and Max.
func (c Classic) Bounds() (shortest, longest time.Duration) {
	return orDefault(c.Min, defaultMin), orDefault(c.Max, defaultMax)
}

// Next returns the divided or multiplied interval. A first capture gets the initial interval, and so does a URI without
// a learned one. An unknown state keeps the learned interval.
func (c Classic) Next(in WaitInput) Wait {
	c = c.withDefaults()
	interval, reason := c.interval(in)
	interval = clamp(interval, c.Min, c.Max)
	return Wait{Interval: interval, Reason: reason + Interval(interval) + atBound(interval, c.Min, c.Max)}
}

func (c Classic) withDefaults() Classic {
	c.Initial, c.Unknown = orDefault(c.Initial, defaultInitial), orDefault(c.Unknown, defaultUnknown)
	c.Min, c.Max = c.Bounds()
	c.ChangedFactor, c.UnchangedFactor = factorOrDefault(c.ChangedFactor), factorOrDefault(c.UnchangedFactor)
	return c
}

// interval returns the wait before it is limited to the bounds, and the beginning of the reason, up to the wait.
func (c Classic) interval(in WaitInput) (time.Duration, string) {
	learned := in.Previous > 0
	switch {
	case in.State == Unknown && learned:
		return in.Previous, "unknown: kept at "
	case in.State == Unknown:
		return c.Unknown, "unknown, nothing learned: "
	case in.First:
		return c.Initial, "first capture: initial "
	case !learned:
		return c.Initial, in.State.String() + ", nothing learned: initial "
	}
	base := float64(in.Previous.Milliseconds())
	text := Interval(in.Previous)
	if c.UseOverdue && in.Overdue > 0 {
		base += float64(in.Overdue.Milliseconds())
		text = "(" + text + " + " + Interval(in.Overdue) + " overdue)"
	}
	if in.State == Changed {
		return milliseconds(base / c.ChangedFactor), "changed: " + text + " ÷ " + number(c.ChangedFactor) + " = "
	}
	return milliseconds(base * c.UnchangedFactor), "unchanged: " + text + " × " + number(c.UnchangedFactor) + " = "
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Target is [Classic] with an unchanged factor that follows from a capture target, by [rate.UnchangedFactor]. It
// ignores Classic.UnchangedFactor.
type Target struct {
	Classic
	CaptureTarget float64 // share of the versions to capture, between 0 and 1; default 0.8
}

// Next returns the divided or multiplied interval, as [Classic.Next] does.
func (t Target) Next(in WaitInput) Wait {
	t = t.withDefaults()
	factor := rate.UnchangedFactor(t.ChangedFactor, t.CaptureTarget)
	t.UnchangedFactor = 1 + math.Ceil(1e4*(factor-1))/1e4 // four decimals can be read in the reason
	return t.Classic.Next(in)
}

func (t Target) withDefaults() Target {
	t.Classic, t.CaptureTarget = t.Classic.withDefaults(), shareOrDefault(t.CaptureTarget)
	return t
}

// Fixed visits at one interval, in a phase that does not drift. A late visit does not move later visits. Visits that
// became due before a late visit are skipped.
type Fixed struct {
	Every time.Duration // default 24h
}

// Bounds returns the interval twice.
func (f Fixed) Bounds() (shortest, longest time.Duration) {
	every := f.withDefaults().Every
	return every, every
}

// Next returns the time that is left until the next multiple of the interval after the visit was due.
func (f Fixed) Next(in WaitInput) Wait {
	every := f.withDefaults().Every
	late := max(in.Overdue, 0) % every
	reason := "every " + Interval(every)
	if late > 0 {
		reason += ", less " + Interval(late) + " overdue"
	}
	return Wait{Interval: every - late, Reason: reason, Phased: true}
}

func (f Fixed) withDefaults() Fixed { return Fixed{Every: orDefault(f.Every, defaultEvery)} }
