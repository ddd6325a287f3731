package admin_test

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
)

// TestTheNumberOfLabelsIsBounded counts far more labels than are counted by name.
func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	t.Parallel()
	var c admin.LabelCounts
	for i := range 10 * admin.MaxLabels {
		c.Visit([]string{fmt.Sprintf("label-%04d", i), "label-0000"}, 1)
	}
	rows := c.Rows()
	if len(rows) != admin.MaxLabels+1 {
		t.Fatalf("%d labels are counted, want %d and %q", len(rows), admin.MaxLabels, admin.OtherLabel)
	}
	if r := rows[0]; r.Label != "label-0000" || r.Visits != 10*admin.MaxLabels+1 || r.Versions != r.Visits {
		t.Errorf("the first label has %+v; want every visit, and the first one twice", r)
	}
	if r := rows[len(rows)-1]; r.Label != admin.OtherLabel || r.Visits != 9*admin.MaxLabels {
		t.Errorf("the other labels have %+v; want %d visits", r, 9*admin.MaxLabels)
	}
}
