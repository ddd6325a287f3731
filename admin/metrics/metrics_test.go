package metrics_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/arcrawl/arcrawl/admin/metrics"
)

// TestAnUnknownNumberIsNoMetric gathers the number of due URIs before and after they were counted.
func TestAnUnknownNumberIsNoMetric(t *testing.T) {
	t.Parallel()
	for due, want := range map[int64]int{-1: 0, 0: 1, 7: 1} {
		r := prometheus.NewRegistry()
		r.MustRegister(metrics.Gatherer(func() (s metrics.Snapshot) { s.URIs.Due = due; return s }))
		all, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range all {
			if m.GetName() == "arcrawl_uris_due" {
				found++
				if v := m.GetMetric()[0].GetGauge().GetValue(); v != float64(due) {
					t.Errorf("the metric is %v, want %d", v, due)
				}
			}
		}
		if found != want {
			t.Errorf("with %d due URIs the metric occurs %d times, want %d", due, found, want)
		}
	}
}
