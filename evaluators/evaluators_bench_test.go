package evaluators_test

import (
	"regexp"
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

// BenchmarkDecisionWithForeignPattern measures a pattern that was not compiled by Pattern.
func BenchmarkDecisionWithForeignPattern(b *testing.B) {
	stack := evaluators.Stack{{Name: "text", MIME: regexp.MustCompile(`^text/.*$`)}}
	b.ReportAllocs()
	for b.Loop() {
		stack.Next(evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 90 * hour})
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

// BenchmarkLearnedDecisionAmongRelatives adds the hours of the relatives.
func BenchmarkLearnedDecisionAmongRelatives(b *testing.B) {
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	in := evaluators.WaitInput{
		First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{
			At: january, Kind: 5, Relatives: officeHours(20, 3, true),
		},
	}
	for i := range 100 {
		w := s.Next(in)
		in = evaluators.WaitInput{
			State: evaluators.Unchanged + evaluators.State(i%2), Evidence: evaluators.Evidence{
				At: in.At.Add(w.Interval), Memory: w.Memory, Relatives: in.Relatives,
			},
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Next(in)
	}
}
