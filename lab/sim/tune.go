package sim

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Tuning tries wait settings on the history of a host.
type Tuning struct {
	Configuration Configuration
	Histories     []History
	Dir           string // an existing folder for the stores of the frontier, which are not removed
}

// Setting is a wait setting and what it would have captured.
type Setting struct {
	Name string
	TOML string // the lines below [[wait]]; empty for the present settings
	Tally

	stack evaluators.Stack // nil for the present settings
}

// settings returns the present settings, and those to try.
func settings() []Setting {
	list := []Setting{
		{Name: "as it is"},
		{Name: "classic", TOML: `rule = "classic"`, stack: evaluators.Stack{{Name: "classic"}}},
	}
	for _, name := range []string{"target", "learned"} {
		for _, percent := range []int{30, 40, 50, 60, 70, 80, 90, 95} {
			share := float64(percent) / 100
			target := strconv.FormatFloat(share, 'g', -1, 64)
			rule := evaluators.Rule(evaluators.Learned{CaptureTarget: share})
			if name == "target" {
				rule = evaluators.Target{CaptureTarget: share}
			}
			list = append(list, Setting{
				Name:  name + " " + target,
				TOML:  fmt.Sprintf("rule = %q\ncapture_target = %s", name, target),
				stack: evaluators.Stack{{Name: name, Rule: rule}},
			})
		}
	}
	return list
}

// Try plays the present settings, which come first, and a choice of others with the politeness and the order of the
// configuration.
func (t Tuning) Try() ([]Setting, error) {
	list := settings()
	for i := range list {
		s := &list[i]
		policy := Configured(s.Name, func(host, mime string) evaluators.Stack {
			if s.stack == nil {
				return t.Configuration.Stack(host, mime)
			}
			return s.stack
		})
		dir := filepath.Join(t.Dir, strconv.Itoa(i))
		tallies, err := Crowd(t.Configuration.Polite(policy, dir), t.Histories)
		if err != nil {
			return nil, fmt.Errorf("try the settings %s: %w", s.Name, err)
		}
		s.Tally = Sum(tallies)
	}
	return list, nil
}

// Best returns the index of the setting that captures most for cost times the requests of the first one. Of two that
// capture the same it takes the one with fewer requests.
func Best(list []Setting, cost float64) int {
	best := 0
	for i, s := range list {
		affordable := float64(s.Requests) <= cost*float64(max(list[0].Requests, 1))
		if b := list[best]; affordable && (s.Captured > b.Captured || s.Captured == b.Captured && s.Requests < b.Requests) {
			best = i
		}
	}
	return best
}

// Span returns when the first of some histories starts and the last one ends. There is at least one.
func Span(all []History) (from, to time.Time) {
	from, to = all[0].Start, all[0].Start
	for _, h := range all {
		if h.Start.Before(from) {
			from = h.Start
		}
		if end := h.Start.Add(h.Watched); end.After(to) {
			to = end
		}
	}
	return from, to
}
