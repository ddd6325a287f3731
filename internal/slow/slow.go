// Package slow marks the tests of the second tier.
//
// A test that takes more than about two seconds on an idle machine calls [Test] first. The first tier (go test -short)
// skips it; the second tier (make slow) runs only such tests. CI runs both.
package slow

import "testing"

// Test skips t in the first tier.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: belongs to the second tier, which runs without -short")
	}
}
