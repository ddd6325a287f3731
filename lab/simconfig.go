package lab

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// configured plays the configurations, politely if asked to.
func (s simulation) configured(all []sim.History, q sim.Question) ([]sim.Result, error) {
	base := sim.Base(all)
	var results []sim.Result
	for _, name := range s.configs {
		c, err := config.LoadToRead(name)
		if err != nil {
			return nil, err
		}
		played := sim.Configuration{Name: name, Config: c, Epoch: all[0].Start}
		var tallies []sim.Tally
		if s.polite {
			err = inFolder(func(dir string) (err error) {
				tallies, err = sim.Crowd(played.Polite(played.Policy(), dir), all)
				return err
			})
		} else {
			tallies = sim.Play(played.Policy(), 0, all)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, q.Result(name, tallies, all, base))
	}
	return results, nil
}

// explain shows each decision of a stack about one resource.
func (s simulation) explain(out io.Writer, all []sim.History) error {
	for i, h := range all {
		if h.ID != s.explained {
			continue
		}
		stack := func(_, _ string) evaluators.Stack {
			return evaluators.Stack{{Name: "learned", Rule: evaluators.Learned{}}}
		}
		if len(s.configs) > 0 {
			c, err := config.LoadToRead(s.configs[0])
			if err != nil {
				return err
			}
			stack = sim.Configuration{Name: s.configs[0], Config: c, Epoch: h.Start}.Stack
		}
		steps, relatives := sim.Explain(stack, all, i)
		if s.asJSON {
			return cli.WriteJSON(out, explained(steps))
		}
		if err := showSteps(out, steps); err != nil {
			return err
		}
		if rhythm := sim.RhythmText(relatives.Rhythm); rhythm != "" {
			fmt.Fprintf(out, "\n%.0f of its kind on %s change %s.\n", relatives.URIs, h.Host, rhythm)
		}
		return nil
	}
	return fmt.Errorf("--explain %s: no history has this id or URI, or it covers less than a day", s.explained)
}

// explainedStep is a step as JSON has it. Durations are in milliseconds.
type explainedStep struct {
	At        time.Time `json:"at"`
	State     string    `json:"state"`
	PerDay    float64   `json:"changes_per_day"`
	Missed    float64   `json:"missed_share"`
	Versions  float64   `json:"versions_since"`
	Interval  int64     `json:"interval_ms"`
	Evaluator string    `json:"evaluator"`
	Reason    string    `json:"reason"`
}

func explained(steps []sim.Step) []explainedStep {
	list := make([]explainedStep, len(steps))
	for i, s := range steps {
		list[i] = explainedStep{
			s.At, s.State.String(), s.Wait.PerDay, s.Wait.Missed, s.Wait.Versions, s.Wait.Interval.Milliseconds(),
			s.Wait.Evaluator, s.Wait.Reason,
		}
	}
	return list
}

func showSteps(out io.Writer, steps []sim.Step) error {
	w := cli.NewTable(out)
	fmt.Fprintln(w, "visit\tchanges/day\twill miss\tversions since\tevaluator\treason")
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
	for _, s := range steps {
		fmt.Fprintf(w, "%s\t%s\t%.0f %%\t%s\t%s\t%s\n", s.At.UTC().Format("2006-01-02 15:04:05"),
			number(s.Wait.PerDay), 100*s.Wait.Missed, number(s.Wait.Versions), s.Wait.Evaluator, s.Wait.Reason)
	}
	return w.Flush()
}
