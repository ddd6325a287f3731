package rate

import (
	"math"
	"sync"
)

// DefaultTarget is used instead of a capture target that is not between 0 and 1.
const DefaultTarget = 0.8

// Captured returns the share of versions that are captured if each visit is made when this number x of changes is
// expected since the last one. Changes come at random, and a visit captures the version that is current then. The
// share is (1 − e^−x) ÷ x.
func Captured(expected float64) float64 {
	if !(expected > 1e-9) {
		return 1
	}
	return -math.Expm1(-expected) / expected
}

// Missed returns the share of versions that are missed, 1 − [Captured].
func Missed(expected float64) float64 { return 1 - Captured(expected) }

// Expected returns the number of changes to expect between two visits so that the given share of the versions is
// captured. It is the inverse of [Captured]. For a share that is not between 0 and 1 it uses [DefaultTarget].
func Expected(share float64) float64 {
	if !(share > 0 && share < 1) {
		share = DefaultTarget
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

// ExpectedFor returns the number of changes to expect between two visits so that a capture target is met. Unlike
// [Expected] it allows for versions that are current for a short time only, see [planned].
func ExpectedFor(target float64) float64 {
	// Each decision asks for a target, and the search for it takes 60 exponentials. Whole percents are looked up.
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

// planned returns the share to plan for so that the given share is captured. If the share is high, most missed
// versions are current for much less time than is usual for their URI. The number of missed versions then falls more
// slowly than the number of expected changes: on recorded histories at most with its power of 0.7.
func planned(share float64) float64 {
	if !(share > plainShare && share < 1) {
		return share
	}
	missed, plain := 1-share, 1-plainShare
	return 1 - missed*math.Pow(missed/plain, shortLived)
}

const (
	plainShare = 0.8 // targets up to this one are planned for unchanged
	shortLived = 0.415
)

// UnchangedFactor returns the factor a for the interval of an unchanged URI. The interval of a changed URI is divided
// by the factor b, and the given share of the versions is to be captured.
//
// The logarithm of the interval settles where a visit finds a change with probability p = ln a ÷ (ln a + ln b).
// A URI that changes at random is then visited at x = −ln(1 − p) expected changes. Solved for a this is b^(p ÷ (1−p))
// with p = 1 − e^−x. If b is 1 or less, or not a number, 1.5 is used instead.
func UnchangedFactor(changed, share float64) float64 {
	if !(changed > 1) {
		changed = 1.5
	}
	return math.Pow(changed, math.Expm1(Expected(share)))
}
