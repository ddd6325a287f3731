package admin_test

import (
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/arcrawl/arcrawl/admin"
)

// TestAnUnknownNumberIsNoMetric gathers the number of due URIs before and after they were counted.
func TestAnUnknownNumberIsNoMetric(t *testing.T) {
	t.Parallel()
	for due, want := range map[int64]int{-1: 0, 0: 1, 7: 1} {
		r := prometheus.NewRegistry()
		r.MustRegister(admin.MetricCollector{Snapshot: func() (s admin.MetricSnapshot) { s.URIs.Due = due; return s }})
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

// TestMetricsOfShardsAreNotCountedTwice gathers the metrics of two shards of a node. Each has the number of its shard,
// and what the shards have in common is there once.
func TestMetricsOfShardsAreNotCountedTwice(t *testing.T) {
	t.Parallel()
	var all prometheus.Gatherers
	for n := 2; n > 0; n-- {
		shard, node := admin.MetricRegistries(func() admin.MetricSnapshot { return admin.MetricSnapshot{} }, admin.NewVisitSeconds(), "press",
			map[string]string{"shard": strconv.Itoa(n)})
		if all = append(all, shard); n == 1 {
			all = append(all, node)
		}
	}
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, m := range families {
		for _, metric := range m.GetMetric() {
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["crawl"] != "press" {
				t.Errorf("%s has no name of the crawl: %v", m.GetName(), labels)
			}
			found[m.GetName()+" "+labels["shard"]]++
		}
	}
	for _, m := range admin.AllMetrics() {
		one, node := found[m.Name+" 1"], found[m.Name+" "]
		if one != found[m.Name+" 2"] || one > 0 && node > 0 || admin.OfMachine(m) != (one == 0 && node > 0) && m.Label == "" && m.Name != "arcrawl_uris_due" {
			t.Errorf("%s: %d of shard 1, %d of shard 2, %d of the node", m.Name, one, found[m.Name+" 2"], node)
		}
	}
	if found["arcrawl_uris 1"] != 1 || found["arcrawl_disk_free_bytes "] != 1 || found["go_goroutines "] != 1 {
		t.Errorf("found %v", found)
	}
}
