package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/evaluators"
)

// waitSteps is what the flags of sim wait say.
type waitSteps struct {
	options evaluators.Options
	states  []string
	overdue time.Duration
	born    bool
	asJSON  bool
}

// waitStep is one decision, as it is written. Durations are in milliseconds.
type waitStep struct {
	State    string  `json:"state"`
	At       int64   `json:"at_ms"` // since the first visit
	Overdue  int64   `json:"overdue_ms"`
	Interval int64   `json:"interval_ms"`
	Expected float64 `json:"expected_changes,omitempty"`
	Missed   float64 `json:"missed_share,omitempty"`
	PerDay   float64 `json:"changes_per_day,omitempty"`
	Reason   string  `json:"reason"`
}

func newSimWait() *cobra.Command {
	var s waitSteps
	cmd := &cobra.Command{
		Use:   "wait",
		Short: "Play one wait evaluator through a given sequence of visits",
		Long: `wait shows what one evaluator makes of a sequence of content states. The first is the first capture. Each visit begins when
it is due, or later by what --overdue says. With --json, durations are in milliseconds. What no flag says is the default of the rule.`,
		Example: "  arcrawl sim wait --states changed,unchanged,unchanged,changed,unknown --overdue 5m --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.run(cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	o := &s.options
	f.StringVar(&o.Rule, "rule", "classic", "classic, fixed, target or learned")
	f.StringSliceVar(&s.states, "states", []string{"changed", "unchanged", "unchanged", "changed"}, "changed, unchanged or unknown, in order")
	f.DurationVar(&s.overdue, "overdue", 0, "how late each visit but the first is")
	f.BoolVar(&s.born, "born", false, "the URI came into being at the first visit")
	f.BoolVar(&s.asJSON, "json", false, "write JSON, durations in milliseconds")
	f.DurationVar(&o.Initial, "initial", 24*time.Hour, "wait after the first capture")
	f.DurationVar(&o.Min, "min", 0, "shortest wait (default 1h, for learned 5m)")
	f.DurationVar(&o.Max, "max", 0, "longest wait (default 672h, for learned 2160h)")
	f.DurationVar(&o.Unknown, "unknown", 72*time.Hour, "wait if the state is unknown and nothing was learned")
	f.Float64Var(&o.ChangedFactor, "changed-factor", 1.5, "divides")
	f.Float64Var(&o.UnchangedFactor, "unchanged-factor", 1.5, "multiplies")
	f.BoolVar(&o.UseOverdue, "use-overdue", false, "count from the time that really passed")
	f.DurationVar(&o.Every, "every", 24*time.Hour, "interval of the rule fixed")
	f.Float64Var(&o.CaptureTarget, "capture-target", 0.8, "share of the versions to capture, for target and learned")
	return cmd
}

// check refuses numbers that no configuration may have, of which the evaluator would take its default without a word.
func (s waitSteps) check() error {
	o := s.options
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"overdue", s.overdue}, {"initial", o.Initial}, {"min", o.Min}, {"max", o.Max}, {"unknown", o.Unknown}, {"every", o.Every}} {
		if d.value < 0 {
			return fmt.Errorf("--%s %v is below 0", d.flag, d.value)
		}
	}
	if o.Max > 0 && o.Min > o.Max {
		return fmt.Errorf("--min %v is more than --max %v", o.Min, o.Max)
	}
	for _, f := range []struct {
		flag  string
		value float64
	}{{"changed-factor", o.ChangedFactor}, {"unchanged-factor", o.UnchangedFactor}} {
		if !(f.value >= 1) {
			return fmt.Errorf("--%s %v is not at least 1", f.flag, f.value)
		}
	}
	if !(o.CaptureTarget > 0 && o.CaptureTarget < 1) {
		return fmt.Errorf("--capture-target %v is not between 0 and 1", o.CaptureTarget)
	}
	return nil
}

func (s waitSteps) run(out io.Writer) error {
	rule, err := s.options.New()
	if err != nil {
		return usageError{fmt.Errorf("--rule: %w", err)}
	}
	states := map[string]evaluators.State{"changed": evaluators.Changed, "unchanged": evaluators.Unchanged, "unknown": evaluators.Unknown}
	if err := s.check(); err != nil {
		return usageError{err}
	}
	stack := evaluators.Stack{{Name: s.options.Rule, Rule: rule}}
	start := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC) // a Monday
	in := evaluators.WaitInput{First: true, Evidence: evaluators.Evidence{At: start}}
	if s.born {
		in.Born = start
	}
	steps := []waitStep{}
	for i, name := range s.states {
		state, ok := states[strings.TrimSpace(name)]
		if !ok {
			return usageError{fmt.Errorf("--states: %q is none of changed, unchanged, unknown", name)}
		}
		in.State = state
		if i > 0 {
			in.First, in.Overdue = false, s.overdue
			in.At = in.At.Add(in.Previous + in.Overdue)
		}
		w := stack.Next(in)
		in.Previous, in.Memory = w.Interval, w.Memory
		steps = append(steps, waitStep{
			State: state.String(), At: in.At.Sub(start).Milliseconds(), Overdue: in.Overdue.Milliseconds(),
			Interval: w.Interval.Milliseconds(), Expected: w.Expected, Missed: w.Missed, PerDay: w.PerDay, Reason: w.Reason,
		})
	}
	if s.asJSON {
		return writeJSON(out, steps)
	}
	for _, step := range steps {
		at := time.Duration(step.At) * time.Millisecond
		if _, err := fmt.Fprintf(out, "%14s  %s\n", at.Round(time.Second), step.Reason); err != nil {
			return err
		}
	}
	return nil
}
