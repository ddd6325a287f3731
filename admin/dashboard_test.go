package admin

import (
	"testing"

	"github.com/arcrawl/arcrawl/internal/windowtest"
)

// TestTheDashboardLoadsNothingFromElsewhere reads all embedded files.
func TestTheDashboardLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	windowtest.LoadsNothing(t, files, "dashboard")
}
