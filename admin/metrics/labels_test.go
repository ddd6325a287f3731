package metrics_test

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/admin/metrics"
)

// TestTheNumberOfLabelsIsBounded counts far more labels than are counted by name.
func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	t.Parallel()
	var c metrics.Labels
	for i := range 10 * metrics.MaxLabels {
		c.Visit([]string{fmt.Sprintf("label-%04d", i), "label-0000"}, 1)
	}
	rows := c.Rows()
	if len(rows) != metrics.MaxLabels+1 {
		t.Fatalf("%d labels are counted, want %d and %q", len(rows), metrics.MaxLabels, metrics.OtherLabel)
	}
	if r := rows[0]; r.Label != "label-0000" || r.Visits != 10*metrics.MaxLabels+1 || r.Versions != r.Visits {
		t.Errorf("the first label has %+v; want every visit, and the first one twice", r)
	}
	if r := rows[len(rows)-1]; r.Label != metrics.OtherLabel || r.Visits != 9*metrics.MaxLabels {
		t.Errorf("the other labels have %+v; want %d visits", r, 9*metrics.MaxLabels)
	}
}
