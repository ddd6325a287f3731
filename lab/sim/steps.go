package sim

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Step is one visit and the wait that a stack decided on.
type Step struct {
	At    time.Time
	State evaluators.State
	Wait  evaluators.Wait
}

// Sequence is a number of visits with known outcomes. Each visit is made when the wait before it says.
type Sequence struct {
	Start   time.Time
	States  []evaluators.State // of the visits, the first of which is the first capture
	Overdue time.Duration      // how late each visit except the first is
	Born    bool               // the URI was published at Start
}

// Play returns the decisions of a stack.
func (q Sequence) Play(s evaluators.Stack) []Step {
	in := evaluators.WaitInput{First: true, Evidence: evaluators.Evidence{At: q.Start}}
	if q.Born {
		in.Born = q.Start
	}
	var steps []Step
	for i, state := range q.States {
		in.State = state
		if i > 0 {
			in.First, in.Overdue = false, q.Overdue
			in.At = in.At.Add(in.Previous + in.Overdue)
		}
		w := s.Next(in)
		in.Previous, in.Memory = w.Interval, w.Memory
		steps = append(steps, Step{in.At, state, w})
	}
	return steps
}

// Replay returns the decisions of a stack about visits that others made.
func Replay(s evaluators.Stack, of *Sighted) []Step {
	in := evaluators.WaitInput{MIME: of.MIME, First: true}
	steps := make([]Step, 0, len(of.Visits))
	for _, v := range of.Visits {
		in.State, in.At = v.State, v.At
		if in.First {
			in.State = evaluators.Changed
		}
		w := s.Next(in)
		steps = append(steps, Step{v.At, in.State, w})
		in.First, in.Previous, in.Memory = false, w.Interval, w.Memory
	}
	return steps
}
