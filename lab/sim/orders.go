package sim

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
)

// OrderQuestion holds the arguments of [CompareOrders].
type OrderQuestion struct {
	Times     float64 // politeness allows this many times fewer visits than are wanted
	ByLearned bool    // wanted by the learned rule at its default target; else by the classic rule
	OneHost   bool    // put all histories on one host, for its first 60 days
	Dir       string  // an existing folder for the stores of the frontier, which are not removed
}

// HostOrders holds what was captured of one host by each rule in each order. Earliest due is [frontier.ByDue], most
// overdue in proportion to the wait [frontier.ByOverdue], and largest value [frontier.ByValue].
type HostOrders struct {
	Host           string        `json:"host"`
	URIs           int           `json:"uris"`
	Delay          time.Duration `json:"delay_ns"`
	ClassicDue     Tally         `json:"classic_earliest_due_first"`
	ClassicOverdue Tally         `json:"classic_most_overdue_first"`
	LearnedDue     Tally         `json:"learned_earliest_due_first"`
	LearnedOverdue Tally         `json:"learned_most_overdue_first"`
	LearnedValue   Tally         `json:"learned_largest_value_first"`
}

const (
	minCrowd   = 10                  // a host with fewer URIs has no order worth comparing
	maxRest    = 24 * time.Hour      // that a frontier allows a host
	oneHostFor = 60 * 24 * time.Hour // how long everything on one host is played
)

// CompareOrders plays hosts over their budget in each order, with the frontier of the crawler. It skips hosts of fewer
// than ten URIs, and those that would rest for more than a day.
func CompareOrders(q OrderQuestion, all []History) ([]HostOrders, error) {
	if q.OneHost {
		all = OneHost(all, oneHostFor)
	}
	var list []HostOrders
	for name, histories := range grouped(all, host) {
		h := HostOrders{Host: name, URIs: len(histories), Delay: q.delay(histories)}
		if h.URIs < minCrowd || h.Delay > maxRest {
			continue
		}
		if err := h.play(histories, filepath.Join(q.Dir, strconv.Itoa(len(list)))); err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

// delay returns the delay at which politeness allows too few visits.
func (q OrderQuestion) delay(host []History) time.Duration {
	if q.ByLearned {
		return Quota(learned(), rate.Expected(rate.DefaultTarget), host, q.Times)
	}
	return Quota(Classic(), 0, host, q.Times)
}

// learned returns the learned rule with its default bounds.
func learned() Policy {
	_, longest := evaluators.Learned{}.Bounds()
	return Learned(longest)
}

// play plays classic in the orders that need no estimate, and learned in all orders.
func (h *HostOrders) play(histories []History, dir string) error {
	knob := rate.Expected(rate.DefaultTarget)
	for _, run := range []struct {
		question CrowdOptions
		folder   string
		result   *Tally
	}{
		{CrowdOptions{Policy: Classic(), Order: frontier.ByDue}, "classic-due", &h.ClassicDue},
		{CrowdOptions{Policy: Classic(), Order: frontier.ByOverdue}, "classic-overdue", &h.ClassicOverdue},
		{CrowdOptions{Policy: learned(), Knob: knob, Order: frontier.ByDue}, "due", &h.LearnedDue},
		{CrowdOptions{Policy: learned(), Knob: knob, Order: frontier.ByOverdue}, "overdue", &h.LearnedOverdue},
		{CrowdOptions{Policy: learned(), Knob: knob, Order: frontier.ByValue}, "value", &h.LearnedValue},
	} {
		run.question.Delay, run.question.Dir = h.Delay, filepath.Join(dir, run.folder)
		tallies, err := Crowd(run.question, histories)
		if err != nil {
			return fmt.Errorf("compare orders on %s: %w", h.Host, err)
		}
		*run.result = Sum(tallies)
	}
	return nil
}
