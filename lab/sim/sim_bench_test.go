package sim_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/lab/sim"
)

// BenchmarkPlayLearned measures simulated visits per second. A year of a million URIs should take minutes.
func BenchmarkPlayLearned(b *testing.B) {
	all := corpus(b)
	requests := 0
	for b.Loop() {
		requests += sim.Sum(sim.Play(sim.Learned(sim.MaxWait), 0.46, all)).Requests
	}
	b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "visits/s")
}
