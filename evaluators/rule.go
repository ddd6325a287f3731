package evaluators

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Rule decides how long to wait until the next visit of a URI. The rules are [Classic], [Fixed], [Target] and
// [Learned].
type Rule interface {
	// Next returns the wait that follows from a visit. The visit must have had an answer: failures follow a [Ladder].
	Next(in WaitInput) Wait
	// Bounds returns the shortest and the longest interval of Next.
	Bounds() (shortest, longest time.Duration)
}

// The names of the rules in configurations.
const (
	ruleClassic = "classic"
	ruleFixed   = "fixed"
	ruleTarget  = "target"
	ruleLearned = "learned"
)

// RuleNames returns the names of the rules in configurations.
func RuleNames() []string { return []string{ruleClassic, ruleFixed, ruleTarget, ruleLearned} }

// Options are the settings of all rules, as one [[wait]] entry of a configuration holds them. A rule ignores the
// settings of the others. Zero stands for the default of a field.
type Options struct {
	Rule            string        // "classic", "fixed", "target" or "learned"; empty = "learned"
	Initial         time.Duration // see [Classic] and [Learned]
	Min, Max        time.Duration // see [Classic] and [Learned]
	Unknown         time.Duration // see [Classic]
	ChangedFactor   float64       // see [Classic]
	UnchangedFactor float64       // see [Classic]
	UseOverdue      bool          // see [Classic]
	Every           time.Duration // see [Fixed]
	CaptureTarget   float64       // see [Target] and [Learned]
	Prefer          string        // see [Learned]
}

// DefaultOptions returns the options of an entry that sets nothing.
func DefaultOptions() Options {
	return Options{
		Rule: ruleLearned, Initial: defaultInitial, Min: defaultMin, Max: defaultMax, Unknown: defaultUnknown,
		ChangedFactor: defaultFactor, UnchangedFactor: defaultFactor, Every: defaultEvery, CaptureTarget: rate.DefaultTarget,
		Prefer: PreferPages,
	}
}

// New returns the rule that the options describe.
func (o Options) New() (Rule, error) {
	steps := Classic{
		Initial: o.Initial, Unknown: o.Unknown, Min: o.Min, Max: o.Max,
		ChangedFactor: o.ChangedFactor, UnchangedFactor: o.UnchangedFactor, UseOverdue: o.UseOverdue,
	}
	switch o.Rule {
	case ruleClassic:
		return steps.withDefaults(), nil
	case ruleFixed:
		return Fixed{Every: o.Every}.withDefaults(), nil
	case ruleTarget:
		return Target{Classic: steps, CaptureTarget: o.CaptureTarget}.withDefaults(), nil
	case "", ruleLearned:
		return Learned{
			CaptureTarget: o.CaptureTarget, Initial: o.Initial, Min: o.Min, Max: o.Max, Prefer: o.Prefer,
		}.withDefaults(), nil
	}
	return nil, fmt.Errorf("unknown rule %q; valid rules: %s", o.Rule, strings.Join(RuleNames(), ", "))
}

// DefaultBounds returns the shortest and the longest wait of an entry that sets none. The learned rule may wait for
// both shorter and longer than the others.
func DefaultBounds(rule string) (shortest, longest time.Duration) {
	if rule == ruleLearned {
		return learnedMin, learnedMax
	}
	return defaultMin, defaultMax
}

// The default of each setting. Heritrix has the same defaults; it has no learned rule.
const (
	defaultInitial = 24 * time.Hour
	defaultMin     = time.Hour
	defaultMax     = 28 * 24 * time.Hour
	defaultUnknown = 72 * time.Hour
	defaultFactor  = 1.5
	defaultEvery   = 24 * time.Hour

	learnedMin = 5 * time.Minute
	learnedMax = 90 * 24 * time.Hour
)

// orDefault returns d, or the default value if d is zero or negative.
func orDefault(d, value time.Duration) time.Duration {
	if d <= 0 {
		return value
	}
	return d
}

// factorOrDefault returns f, or the default factor if f is zero, negative or not a number.
func factorOrDefault(f float64) float64 {
	if !(f > 0) {
		return defaultFactor
	}
	return f
}

// shareOrDefault returns a capture target, or the default one if it is not between 0 and 1.
func shareOrDefault(share float64) float64 {
	if !(share > 0 && share < 1) {
		return rate.DefaultTarget
	}
	return share
}

// clamp holds an interval between two bounds. If min exceeds max, min wins.
func clamp(interval, shortest, longest time.Duration) time.Duration {
	return max(min(interval, longest), shortest)
}

// atBound returns a note for the reason that an interval is equal to one of its bounds, or an empty text.
func atBound(interval, shortest, longest time.Duration) string {
	switch interval {
	case shortest:
		return " (min " + Interval(shortest) + ")"
	case longest:
		return " (max " + Interval(longest) + ")"
	}
	return ""
}

// Interval writes the interval between two visits exactly, rounded to milliseconds, with days only from the fourth
// on: "36h", "54h", "5d1h30m". So the arithmetic in the reason of a wait can be followed: 36h × 1.5 = 54h.
func Interval(d time.Duration) string {
	const aDay = 24 * time.Hour
	d = d.Round(time.Millisecond)
	days := ""
	if d >= 4*aDay {
		days = strconv.FormatInt(int64(d/aDay), 10) + "d"
		if d %= aDay; d == 0 {
			return days
		}
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}

// milliseconds returns a duration truncated toward zero. A number that does not fit becomes the longest duration.
func milliseconds(ms float64) time.Duration {
	const longest = math.MaxInt64 / int64(time.Millisecond)
	if !(ms < float64(longest)) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// rounded writes a number with two digits.
func rounded(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}
