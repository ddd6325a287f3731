package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/sim"
	"github.com/arcrawl/arcrawl/uri"
)

// played is a configuration as the simulator plays it.
type played struct {
	name  string
	file  *config.Config
	epoch time.Time
}

// stack is the one for a host and media type.
func (p played) stack(host, mime string) evaluators.Stack {
	return p.settings(host, mime).Wait
}

func (p played) settings(host, mime string) config.Settings {
	u, err := uri.Parse("http://" + host + "/")
	if err != nil { // a history's host may be the name of a service, of which no file speaks
		u = uri.FromCanonical("http://history.invalid/")
	}
	return p.file.For(config.About{URI: u, ContentType: mime, Now: p.epoch})
}

// rest is how long a host rests after a visit that took as long as fetches usually do.
func (p played) rest(host string) time.Duration {
	s := p.settings(host, "").Politeness
	rest := max(min(time.Duration(s.DelayFactor*float64(usualFetch)), s.MaxDelay), s.MinDelay)
	return (rest + usualFetch) / time.Duration(max(s.Valence, 1))
}

// usualFetch stands for the duration of a fetch, which histories do not tell.
const usualFetch = 300 * time.Millisecond

// configured plays the configurations, politely if asked to.
func (s simulation) configured(all []sim.History, q sim.Question, base int) ([]sim.Result, error) {
	var results []sim.Result
	for _, name := range s.configs {
		c, err := config.Load(name)
		if err != nil {
			return nil, err
		}
		p := played{name, c, all[0].Start}
		policy := sim.Configured(name, p.stack)
		tallies := []sim.Tally(nil)
		if s.polite {
			tallies, err = inFrontier(sim.Crowding{Policy: policy, Rest: p.rest, Order: c.Crawl.Order}, all)
		} else {
			tallies = sim.Play(policy, 0, all)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, q.Result(name, tallies, all, base))
	}
	return results, nil
}

// inFrontier plays a crowd with a store that is removed afterwards.
func inFrontier(c sim.Crowding, all []sim.History) (tallies []sim.Tally, err error) {
	dir, err := os.MkdirTemp("", "arcrawl-sim-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the frontier: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c.Dir = dir
	return sim.Crowd(c, all)
}

// explain shows what a stack made of each visit to one resource.
func (s simulation) explain(out io.Writer, all []sim.History) error {
	for i, h := range all {
		if h.ID != s.explained {
			continue
		}
		of := func(_, _ string) evaluators.Stack {
			return evaluators.Stack{{Name: "learned", Rule: evaluators.Learned{}}}
		}
		if len(s.configs) > 0 {
			c, err := config.Load(s.configs[0])
			if err != nil {
				return err
			}
			of = played{s.configs[0], c, h.Start}.stack
		}
		steps, like := sim.Explain(of, all, i)
		if s.asJSON {
			return writeJSON(out, explained(steps))
		}
		if err := tellSteps(out, steps); err != nil {
			return err
		}
		if told := like.Rhythm.String(); told != "" {
			fmt.Fprintf(out, "\n%.0f of its kind on %s change %s.\n", like.URIs, h.Host, told)
		}
		return nil
	}
	return fmt.Errorf("--explain %s: there is no such resource in the histories, or it was watched for less than a day", s.explained)
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
			s.At, s.State.String(), s.Wait.PerDay, s.Wait.Missed, s.Wait.Versions, s.Wait.Interval.Milliseconds(), s.Wait.Evaluator, s.Wait.Reason,
		}
	}
	return list
}

func tellSteps(out io.Writer, steps []sim.Step) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "visit\tchanges/day\twill miss\tversions since\tevaluator\treason")
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
	for _, s := range steps {
		fmt.Fprintf(w, "%s\t%s\t%.0f %%\t%s\t%s\t%s\n", s.At.UTC().Format("2006-01-02 15:04:05"), number(s.Wait.PerDay), 100*s.Wait.Missed,
			number(s.Wait.Versions), s.Wait.Evaluator, s.Wait.Reason)
	}
	return w.Flush()
}
