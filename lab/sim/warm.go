package sim

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// SecondHalf returns the second half of each history, in time. If every is above zero, policies know the first half as
// an archive does that made a capture at this interval, as after arcrawl prime. Halves shorter than a day are skipped.
func SecondHalf(all []History, every time.Duration) []History {
	var halves []History
	for _, h := range all {
		middle := h.Watched / 2
		if middle < minWatched {
			continue
		}
		half := h
		half.Start, half.Watched, half.Born, half.Changes = h.Start.Add(middle), h.Watched-middle, false, nil
		for _, c := range h.Changes {
			if c > middle {
				half.Changes = append(half.Changes, c-middle)
			}
		}
		if every > 0 {
			half.Earlier = capturesOf(h, middle, every)
		}
		halves = append(halves, half)
	}
	return halves
}

// capturesOf returns the visits of a crawl that made a capture at an interval, and one at the end.
func capturesOf(h History, end, every time.Duration) []Sighting {
	var captures []Sighting
	next := 0
	for after := time.Duration(0); ; after = min(after+every, end) {
		v := Sighting{At: h.Start.Add(after), State: evaluators.Unchanged}
		if after == 0 || h.Noise {
			v.State = evaluators.Changed
		}
		for ; next < len(h.Changes) && h.Changes[next] <= after; next++ {
			v.State = evaluators.Changed
		}
		if captures = append(captures, v); after == end {
			return captures
		}
	}
}

// learn plays the visits that were made before the history, the last one at its start. It reports whether another one
// follows.
func (t *track) learn() bool {
	before := t.history.Earlier
	if len(before) == 0 {
		return true
	}
	for i, e := range before {
		v := Visit{At: e.At, First: i == 0, State: e.State, Seen: e.State, Earlier: true}
		if i > 0 {
			v.Elapsed = e.At.Sub(before[i-1].At)
		}
		t.plan = t.play(v)
	}
	wait := max(t.plan.Wait, time.Second)
	t.visited, t.due = true, t.history.Start.Add(wait)
	return t.history.Watched >= wait
}

// WarmStart returns the histories as a named start plays them: whole, or their second halves, after captures of the
// first halves at an interval.
func WarmStart(all []History, name string) ([]History, error) {
	const day = 24 * time.Hour
	switch name {
	case "whole":
		return all, nil
	case "cold":
		return SecondHalf(all, 0), nil
	case "monthly":
		return SecondHalf(all, 30*day), nil
	case "weekly":
		return SecondHalf(all, 7*day), nil
	case "daily":
		return SecondHalf(all, day), nil
	}
	return nil, fmt.Errorf("unknown start %q; valid starts: whole, cold, monthly, weekly, daily", name)
}

// Cold returns the histories without what was known before.
func Cold(all []History) []History {
	cold := append([]History(nil), all...)
	for i := range cold {
		cold[i].Earlier = nil
	}
	return cold
}
