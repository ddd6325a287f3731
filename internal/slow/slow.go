// Package slow divides tests into two tiers.
//
// The first tier (go test -short) takes under two minutes. The second tier (make slow) runs the tests that take more
// than about two seconds on an idle machine. Such a test calls [Test], which skips it in the first tier, or asks
// [FirstTier] to do less there. scripts/slow-tests finds the tests of the second tier by these calls. CI runs both
// tiers.
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

// FirstTier reports whether the first tier runs. A test that does less then runs in both tiers.
func FirstTier() bool { return testing.Short() }
