package evaluators_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
)

// BenchmarkDecision measures judging a visit and finding its next interval. It should be negligible next to the fetch.
func BenchmarkDecision(b *testing.B) {
	stack := evaluators.Default()
	before := evaluators.Before{Known: true, Status: 200, Comparison: sum("a")}
	seen := evaluators.Seen{Status: 200, Comparison: sum("b"), Complete: true}
	b.ReportAllocs()
	for b.Loop() {
		v := evaluators.ChangeEvaluator{}.Judge(before, seen)
		stack.Next(evaluators.WaitInput{MIME: "application/pdf", State: v.State, First: v.First, Previous: 90 * hour})
	}
}

// BenchmarkLearnedDecision measures a learned decision. It should be negligible next to the fetch: 20 µs at most.
func BenchmarkLearnedDecision(b *testing.B) {
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	in := evaluators.WaitInput{
		First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january, Born: january},
	}
	for i := range 100 {
		w := s.Next(in)
		in = evaluators.WaitInput{
			State: evaluators.Unchanged + evaluators.State(i%2), Evidence: evaluators.Evidence{
				At: in.At.Add(w.Interval), Memory: w.Memory,
			},
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Next(in)
	}
}
