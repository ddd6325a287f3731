package evaluators

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"
)

// Rule says how an entry of the stack finds its interval. The numbers are stored and only ever added to.
type Rule uint8

// The rules.
const (
	// Classic divides the interval of what changed and multiplies that of what did not: the ancestors' rule.
	Classic Rule = iota
	// Fixed visits at [WaitEvaluator.Every], in a phase that does not drift: a visit that comes late moves none of those
	// after it, and where it comes so late that others were due meanwhile, these are left out. Bounds do not apply.
	Fixed
	// Target is Classic with an unchanged factor that follows from [WaitEvaluator.CaptureTarget] and the changed factor,
	// by [UnchangedFactor].
	Target
	// Learned estimates how often the URI changes, and visits when so many changes are expected that
	// [WaitEvaluator.CaptureTarget] is met. It needs [WaitInput.At] and [WaitInput.Memory].
	Learned
)

var ruleNames = [...]string{Classic: "classic", Fixed: "fixed", Target: "target", Learned: "learned"}

// String is "classic", "fixed", "target" or "learned".
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return "rule " + strconv.Itoa(int(r))
}

// ParseRule reads the names that [Rule.String] writes.
func ParseRule(s string) (Rule, error) {
	for r, name := range ruleNames {
		if s == name {
			return Rule(r), nil
		}
	}
	return 0, fmt.Errorf("rule %q is none of classic, fixed, target, learned", s)
}

// Bounds are the shortest and the longest wait of an entry that sets none. What is learned of a URI allows for more of
// both than a rule that feels its way.
func (r Rule) Bounds() (least, most time.Duration) {
	if r == Learned {
		return learnedMin, learnedMax
	}
	return defaultMin, defaultMax
}

// MarshalText writes what [Rule.String] gives; the error is always nil.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what [ParseRule] takes.
func (r *Rule) UnmarshalText(text []byte) error {
	parsed, err := ParseRule(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

// Captured is the share of versions that are captured if a URI that changes at random is always visited when so many
// changes are expected since the last visit: (1 − e^−x) ÷ x, as each visit captures the version that then stands.
func Captured(expected float64) float64 {
	if !(expected > 1e-9) {
		return 1
	}
	return -math.Expm1(-expected) / expected
}

// Missed is the share of versions that are missed: 1 − [Captured].
func Missed(expected float64) float64 { return 1 - Captured(expected) }

// Expected is the number of changes to be expected between two visits if a share of the versions is to be captured:
// the inverse of [Captured]. A share that is not between 0 and 1 counts as the default, 0.8.
func Expected(share float64) float64 {
	if !(share > 0 && share < 1) {
		share = defaultCapture
	}
	low, high := 0.0, 1/share // as Captured(x) < 1/x
	for range 60 {
		if mid := (low + high) / 2; Captured(mid) > share {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Value is what a visit is worth now, from 0 to 1, if so many changes are expected since the last one: 1 − (1+x)·e^−x.
// Where a host cannot carry all visits, the one of the largest value comes first: then the same number of changes is
// expected at each visit, which captures most versions. To favour fresh copies over complete series, divide by
// [Wait.PerDay].
func Value(expected float64) float64 {
	if !(expected > 0) {
		return 0
	}
	return 1 - (1+expected)*math.Exp(-expected)
}

// UnchangedFactor is the factor by which the interval of an unchanged URI has to be multiplied if that of a changed one
// is divided by the given factor and a share of the versions is to be captured. The logarithm of the interval stays
// where it is if a visit finds a change with probability p = ln a ÷ (ln a + ln b), a being the factor for unchanged
// and b the one for changed; a URI that changes at random is then visited at x = −ln(1 − p) expected changes. Solved
// for a this is b^(p ÷ (1−p)) with p = 1 − e^−x.
func UnchangedFactor(changed, share float64) float64 {
	if !(changed > 1) {
		changed = defaultFactor
	}
	return math.Pow(changed, math.Expm1(Expected(share)))
}

const (
	defaultEvery   = 24 * time.Hour
	defaultCapture = 0.8

	plainShare = 0.8 // up to which a target is planned for as it is
	shortLived = 0.415
)

// fixed counts from when the visit was due.
func (e WaitEvaluator) fixed(in WaitInput) Wait {
	late := max(in.Overdue, 0) % e.Every
	reason := "every " + spell(e.Every)
	if late > 0 {
		reason += ", less " + spell(late) + " overdue"
	}
	return Wait{Interval: e.Every - late, Evaluator: e.Name, Reason: reason, Phased: true}
}

// expected is the number of changes that the rule Learned waits for.
func (e WaitEvaluator) expected() float64 {
	if e.ExpectedChanges > 0 && !math.IsInf(e.ExpectedChanges, 0) {
		return e.ExpectedChanges
	}
	return expectedFor(e.CaptureTarget)
}

// expectedFor is the number of changes to be expected between two visits so that a capture target is met. Whole percents are
// looked up, as each decision asks for one and the search for it takes 60 exponentials.
func expectedFor(target float64) float64 {
	if n := math.Round(100 * target); n/100 == target && n > 0 && n < 100 {
		return expectedForPercent()[int(n)]
	}
	return Expected(planned(target))
}

var expectedForPercent = sync.OnceValue(func() (all [100]float64) {
	for n := range all {
		all[n] = Expected(planned(float64(n) / 100))
	}
	return all
})

// planned is the share that has to be planned for so that a share is captured. Where few are to be missed, most of these are
// versions that stand for much less time than is usual for their URI: those missed get fewer more slowly than the number of
// expected changes does. On recorded histories their share falls with no more than its power of 0.7.
func planned(share float64) float64 {
	if !(share > plainShare && share < 1) {
		return share
	}
	missed, plain := 1-share, 1-plainShare
	return 1 - missed*math.Pow(missed/plain, shortLived)
}

// rounded writes a number with two digits.
func rounded(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}
