package lab

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// waitSteps holds the flags of sim that play one rule.
type waitSteps struct {
	options evaluators.Options
	states  []string
	overdue time.Duration
	born    bool
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

const waitsHelp = `With --states it plays one rule through a sequence of content states and prints each wait and its reason. The first state is
the state of the first capture. Each visit begins when it is due, or later by --overdue. Settings are named as in [[wait]]; without
--set they have the default of the rule.`

// flags adds the flags that play one rule.
func (s *waitSteps) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&s.states, "states", nil, "play one rule through these content states: changed, unchanged or unknown")
	f.StringVar(&s.options.Rule, "rule", "", "rule to play: classic, fixed, target or learned (default classic, with --year learned)")
	settings := s.settings()
	usage := "set `KEY=VALUE,…` of the rule, as in [[wait]]: " + strings.Join(flagNames(settings), ", ")
	f.Func("set", usage, func(list string) error {
		for _, pair := range strings.Split(list, ",") {
			key, value, _ := strings.Cut(pair, "=")
			if settings.Lookup(key) == nil {
				return fmt.Errorf("unknown key %q", key)
			}
			if err := settings.Set(key, value); err != nil {
				return err
			}
		}
		return nil
	})
	f.DurationVar(&s.overdue, "overdue", 0, "with --states: delay of each visit except the first, after it is due")
	f.BoolVar(&s.born, "born", false, "with --states: treat the URI as published at the first visit")
}

// settings returns the settings of a rule, which are set like flags, by their names in the configuration.
func (s *waitSteps) settings() *pflag.FlagSet {
	o, f := &s.options, pflag.NewFlagSet("settings", pflag.ContinueOnError)
	o.Unknown, o.Every = 72*time.Hour, 24*time.Hour
	for _, d := range s.durations() {
		f.Func(d.key, "", func(text string) (err error) {
			*d.value, err = human.ParseDuration(text)
			return err
		})
	}
	f.Float64Var(&o.ChangedFactor, "changed_factor", 1.5, "")
	f.Float64Var(&o.UnchangedFactor, "unchanged_factor", 1.5, "")
	f.BoolVar(&o.UseOverdue, "use_overdue", false, "")
	f.Float64Var(&o.CaptureTarget, "capture_target", 0.8, "")
	return f
}

// setDuration is a setting of a rule that is a duration.
type setDuration struct {
	key   string
	value *time.Duration
}

func (s *waitSteps) durations() []setDuration {
	o := &s.options
	return []setDuration{
		{"initial", &o.Initial}, {"min", &o.Min}, {"max", &o.Max}, {"unknown", &o.Unknown}, {"every", &o.Every},
	}
}

// flagNames returns the names of the flags of a set.
func flagNames(f *pflag.FlagSet) (names []string) {
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// check refuses numbers that no configuration may have. The rule would silently replace them by its defaults.
func (s waitSteps) check() error {
	o := s.options
	for _, d := range append([]setDuration{{"--overdue", &s.overdue}}, s.durations()...) {
		if *d.value < 0 {
			return fmt.Errorf("%s = %v is below 0", d.key, *d.value)
		}
	}
	if o.Max > 0 && o.Min > o.Max {
		return fmt.Errorf("min = %v is more than max = %v; lower min or raise max", o.Min, o.Max)
	}
	if !(o.ChangedFactor >= 1 && o.UnchangedFactor >= 1) {
		return fmt.Errorf("changed_factor = %v or unchanged_factor = %v is below 1", o.ChangedFactor, o.UnchangedFactor)
	}
	if !(o.CaptureTarget > 0 && o.CaptureTarget < 1) {
		return fmt.Errorf("capture_target = %v is not between 0 and 1", o.CaptureTarget)
	}
	return nil
}

func (s waitSteps) run(out io.Writer, asJSON bool) error {
	s.options.Rule = cmp.Or(s.options.Rule, "classic")
	rule, err := s.options.New()
	if err != nil {
		return cli.Usage(fmt.Errorf("--rule: %w", err))
	}
	if err := s.check(); err != nil {
		return cli.Usage(fmt.Errorf("--set: %w", err))
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
	if asJSON {
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
