// Package slow divides tests into two tiers.
//
// The first tier (go test -short) takes under two minutes. The second tier (make slow) runs the tests that take more
// than about two seconds on an idle machine. Such a test calls [Test], which skips it in the first tier, or asks
// [Reduced] whether to do less. scripts/slow-tests finds the tests of the second tier by these calls. CI runs both
// tiers.
//
// [Linear] checks that the work of a parser grows no faster than its input, [EndAfter] that it can be interrupted.
package slow

import "testing"

// Test skips t in the first tier.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: belongs to the second tier, which runs without -short")
	}
}

// Unraced skips t under the race detector, and says why. CI runs such a test once more without it.
func Unraced(t testing.TB, why string) {
	t.Helper()
	if raced {
		t.Skip(why + "; make test runs this once more, without the race detector")
	}
}

// OneGoroutine is the reason of tests in which the race detector finds nothing. internal/house checks it.
const OneGoroutine = "only one goroutine works"

// Reduced reports whether a test does less, because the first tier runs, or the race detector, which makes it slow and
// finds nothing in it. CI runs such a test once in full, without the race detector.
func Reduced() bool { return testing.Short() || raced }
