package rate

import (
	"math"
	"sync"
)

// DefaultTarget is the capture target that stands for one that is not between 0 and 1.
const DefaultTarget = 0.8

// Captured returns the share of versions that are captured if a URI is always visited when this number of changes is
// expected since the last visit. Changes come at random, and a visit captures the version that is then current. The
// share is (1 − e^−x) ÷ x.
func Captured(expected float64) float64 {
	if !(expected > 1e-9) {
		return 1
	}
	return -math.Expm1(-expected) / expected
}

// Missed returns the share of versions that are missed, 1 − [Captured].
func Missed(expected float64) float64 { return 1 - Captured(expected) }

// Expected returns the number of changes to expect between two visits so that a share of the versions is captured. It
// is the inverse of [Captured]. A share that is not between 0 and 1 stands for [DefaultTarget].
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

// ExpectedFor returns the number of changes to expect between two visits so that a capture target is met. Other than
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

// planned returns the share to plan for so that a share is captured. If few versions are to be missed, most of the
// missed ones are current for much less time than is usual for their URI. Their number falls more slowly than the
// number of expected changes does: on recorded histories with at most its power of 0.7.
func planned(share float64) float64 {
	if !(share > plainShare && share < 1) {
		return share
	}
	missed, plain := 1-share, 1-plainShare
	return 1 - missed*math.Pow(missed/plain, shortLived)
}

const (
	plainShare = 0.8 // targets up to this one are planned for as they are
	shortLived = 0.415
)

// UnchangedFactor returns the factor a that multiplies the interval of an unchanged URI, if the interval of a changed
// one is divided by the factor b and a share of the versions is to be captured.
//
// The logarithm of the interval comes to rest where a visit finds a change with probability p = ln a ÷ (ln a + ln b).
// A URI that changes at random is then visited at x = −ln(1 − p) expected changes. Solved for a this is b^(p ÷ (1−p))
// with p = 1 − e^−x. A factor b of 1 or less, or that is not a number, stands for 1.5.
func UnchangedFactor(changed, share float64) float64 {
	if !(changed > 1) {
		changed = 1.5
	}
	return math.Pow(changed, math.Expm1(Expected(share)))
}

// VersionsFound returns how many versions probably appeared between two visits of which the later one found a change,
// if nothing else estimates it. It goes by how many of the judged visits after the first found a change. With a share
// p of them that is x ÷ (1 − e^−x) for x = −ln(1 − p), as if changes came at random and visits at even intervals. Half
// a visit of each kind is added, as Cho and Garcia-Molina (2003) do.
func VersionsFound(visits, changes int) float64 {
	visits = max(visits, changes, 1)
	x := -math.Log((float64(visits-max(changes, 0)) + 0.5) / (float64(visits) + 0.5))
	return 1 / Captured(x)
}
