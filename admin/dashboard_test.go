package admin

import (
	"testing"

	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestTheDashboardLoadsNothingFromElsewhere reads all embedded files.
func TestTheDashboardLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	testcrawl.LoadsNothing(t, files, "dashboard")
}
