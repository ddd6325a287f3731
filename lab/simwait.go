package lab

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// waitSteps holds the flags of sim wait.
type waitSteps struct {
	options evaluators.Options
	states  []string
	overdue time.Duration
	born    bool
	asJSON  bool
}

// waitStep is one decision as JSON has it. Durations are in milliseconds.
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
		Short: "Show the waits that one rule decides on in a sequence of visits",
		Long: `wait plays one rule through a sequence of content states and prints each wait and its reason. The first state is the
state of the first capture. Each visit begins when it is due, or later by --overdue. Settings without a flag have the default of the rule.`,
		Example: "  arcrawl sim wait --states changed,unchanged,unchanged,changed,unknown --overdue 5m --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.run(cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	o := &s.options
	f.StringVar(&o.Rule, "rule", "classic", "rule to play: classic, fixed, target or learned")
	f.StringSliceVar(&s.states, "states", []string{"changed", "unchanged", "unchanged", "changed"},
		"content states in order: changed, unchanged or unknown")
	f.DurationVar(&s.overdue, "overdue", 0, "delay of each visit except the first, after it is due")
	f.BoolVar(&s.born, "born", false, "treat the URI as published at the first visit")
	cli.JSONFlag(cmd, &s.asJSON)
	f.DurationVar(&o.Initial, "initial", 0, "wait after the first capture (default 24h, for learned estimated)")
	f.DurationVar(&o.Min, "min", 0, "shortest wait (default 1h, for learned 5m)")
	f.DurationVar(&o.Max, "max", 0, "longest wait (default 672h, for learned 2160h)")
	f.DurationVar(&o.Unknown, "unknown", 72*time.Hour, "wait if the state is unknown and no interval was learned")
	f.Float64Var(&o.ChangedFactor, "changed-factor", 1.5, "divides the wait of a changed URI")
	f.Float64Var(&o.UnchangedFactor, "unchanged-factor", 1.5, "multiplies the wait of an unchanged URI")
	f.BoolVar(&o.UseOverdue, "use-overdue", false, "add --overdue to the wait before dividing or multiplying")
	f.DurationVar(&o.Every, "every", 24*time.Hour, "wait of the rule fixed")
	f.Float64Var(&o.CaptureTarget, "capture-target", 0.8, "share of the versions to capture, between 0 and 1, for target and learned")
	return cmd
}

// check refuses numbers that no configuration may have. The rule would silently replace them by its defaults.
func (s waitSteps) check() error {
	o := s.options
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"overdue", s.overdue},
		{"initial", o.Initial},
		{"min", o.Min},
		{"max", o.Max},
		{"unknown", o.Unknown},
		{"every", o.Every},
	} {
		if d.value < 0 {
			return fmt.Errorf("--%s %v is below 0", d.flag, d.value)
		}
	}
	if o.Max > 0 && o.Min > o.Max {
		return fmt.Errorf("--min %v is more than --max %v; lower --min or raise --max", o.Min, o.Max)
	}
	for _, f := range []struct {
		flag  string
		value float64
	}{{"changed-factor", o.ChangedFactor}, {"unchanged-factor", o.UnchangedFactor}} {
		if !(f.value >= 1) {
			return fmt.Errorf("--%s %v is below 1", f.flag, f.value)
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
		return cli.Usage(fmt.Errorf("--rule: %w", err))
	}
	if err := s.check(); err != nil {
		return cli.Usage(err)
	}
	states, err := parseStates(s.states)
	if err != nil {
		return cli.Usage(err)
	}
	start := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC) // a Monday
	visits := sim.Sequence{Start: start, States: states, Overdue: s.overdue, Born: s.born}
	played := visits.Play(evaluators.Stack{{Name: s.options.Rule, Rule: rule}})
	steps := []waitStep{}
	for i, step := range played {
		overdue := s.overdue
		if i == 0 {
			overdue = 0
		}
		w := step.Wait
		steps = append(steps, waitStep{
			State: step.State.String(), At: step.At.Sub(start).Milliseconds(), Overdue: overdue.Milliseconds(),
			Interval: w.Interval.Milliseconds(), Expected: w.Expected, Missed: w.Missed, PerDay: w.PerDay, Reason: w.Reason,
		})
	}
	if s.asJSON {
		return cli.WriteJSON(out, steps)
	}
	for _, step := range steps {
		at := time.Duration(step.At) * time.Millisecond
		if _, err := fmt.Fprintf(out, "%14s  %s\n", at.Round(time.Second), step.Reason); err != nil {
			return err
		}
	}
	return nil
}

// parseStates reads content states.
func parseStates(names []string) ([]evaluators.State, error) {
	known := map[string]evaluators.State{
		"changed": evaluators.Changed, "unchanged": evaluators.Unchanged, "unknown": evaluators.Unknown,
	}
	var states []evaluators.State
	for _, name := range names {
		state, ok := known[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("unknown state %q in --states; valid states: changed, unchanged, unknown", name)
		}
		states = append(states, state)
	}
	return states, nil
}
