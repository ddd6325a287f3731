package evaluators_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

func TestNearDuplicatesAreUnchangedWithinTheTolerance(t *testing.T) {
	t.Parallel()
	before := evaluators.Before{
		Known: true, Status: 200, Comparison: digest.Comparison{Sum: digest.Of([]byte("a")), Rules: 7, Sketch: 0b1111},
	}
	seen := func(sketch, rules uint64) evaluators.Seen {
		return evaluators.Seen{
			Status: 200, Complete: true, Comparison: digest.Comparison{
				Sum: digest.Of([]byte("b")), Rules: rules, Sketch: sketch,
			},
		}
	}
	for _, row := range []struct {
		name      string
		tolerance int
		seen      evaluators.Seen
		state     evaluators.State
		near      bool
	}{
		{"two bits of three that are forgiven", 3, seen(0b1100, 7), evaluators.Unchanged, true},
		{"four bits of three that are forgiven", 3, seen(0b110000<<4|0b1100, 7), evaluators.Changed, false},
		{"no tolerance forgives nothing", 0, seen(0b1111, 7), evaluators.Changed, false},
		{"no sketch is near to nothing", 16, seen(0, 7), evaluators.Changed, false},
		{"other rules are re-based all the same", 3, seen(0b1111, 8), evaluators.Unknown, false},
	} {
		v := evaluators.ChangeEvaluator{Tolerance: row.tolerance}.Judge(before, row.seen)
		if v.State != row.state || v.Near != row.near {
			t.Errorf("%s: %+v", row.name, v)
		}
	}
}
