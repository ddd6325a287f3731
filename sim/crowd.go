package sim

import (
	"container/heap"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Order says which of the URIs that are due is visited first where a host cannot carry all.
type Order uint8

// The orders.
const (
	ByDue   Order = iota // the one that has been due longest
	ByValue              // the one of the largest [evaluators.Value]; what was never visited comes first
)

// Crowd plays a policy through histories where politeness allows each host one visit per delay. The first visit of a URI
// needs its place like any other, but is not counted as a request if it comes at once.
func Crowd(p Policy, knob float64, all []History, delay time.Duration, order Order) []Tally {
	result := make([]Tally, len(all))
	for _, host := range hosts(all) {
		players := p.Host(knob)
		var waiting tracks
		for _, i := range host {
			h := &all[i]
			result[i].Versions = len(h.Changes)
			waiting = append(waiting, &track{history: h, play: players(*h), due: h.Start, tally: &result[i]})
		}
		heap.Init(&waiting)
		crowdHost(waiting, delay, order)
	}
	return result
}

// crowdHost plays one host until all its histories have ended.
func crowdHost(waiting tracks, delay time.Duration, order Order) {
	var due []*track
	var now time.Time
	for len(waiting) > 0 || len(due) > 0 {
		if len(due) == 0 && now.Before(waiting[0].due) {
			now = waiting[0].due
		}
		for len(waiting) > 0 && !waiting[0].due.After(now) {
			due = append(due, heap.Pop(&waiting).(*track))
		}
		best, most := -1, 0.0
		for i := 0; i < len(due); i++ {
			t := due[i]
			if now.After(t.history.Start.Add(t.history.Watched)) { // its history has ended
				due[i] = due[len(due)-1]
				due = due[:len(due)-1]
				i--
				continue
			}
			if urgency := order.urgency(t, now); best < 0 || urgency > most {
				best, most = i, urgency
			}
		}
		if best < 0 {
			continue
		}
		t := due[best]
		due[best] = due[len(due)-1]
		due = due[:len(due)-1]
		if t.visit(now) {
			heap.Push(&waiting, t)
		}
		now = now.Add(delay)
	}
}

// urgency is larger for what is to be visited sooner.
func (o Order) urgency(t *track, now time.Time) float64 {
	late := now.Sub(t.due)
	switch {
	case o == ByDue:
		return late.Seconds()
	case !t.visited:
		return 2
	}
	return evaluators.Value(t.plan.Expected + t.plan.PerDay*late.Hours()/24)
}
