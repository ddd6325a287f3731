package feeds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Policy says how sources of a kind are waited for. All durations are more than zero, but for HintsUpTo.
type Policy struct {
	Name        string        // for logs: "feed", "sitemap"
	Initial     time.Duration // after the first reading
	Min, Max    time.Duration // every wait is held between them, that of the slow lane apart
	Between     time.Duration // no wait is shorter: the site's rest between rounds
	HintsUpTo   time.Duration // what a source asks for lengthens a wait up to this; zero heeds nothing
	SilentAfter time.Duration // a source without anything new for so long goes to the slow lane
	SilentWait  time.Duration // the wait there
}

const (
	// itemsPerPoll is how many new items are awaited between two polls. At one half, two of five polls find something and one
	// in ten finds more than one.
	itemsPerPoll = 0.5
	// turnover is the share of the time in which all that a source lists is replaced that a wait may take.
	turnover = 0.5
	// brokenPatience is how many readings in a row that make no sense are taken for a passing trouble.
	brokenPatience = 3
)

// Next is the wait after the visit at now that led to state s. The answer's own wish, see [CacheHint], counts with the
// source's.
func (p Policy) Next(s State, now time.Time, cached time.Duration) evaluators.Wait {
	w := evaluators.Wait{Evaluator: p.Name}
	rate := s.perHour(p.Initial)
	switch {
	case s.Broken > brokenPatience:
		w.Interval = p.SilentWait
		w.Reason = fmt.Sprintf("%s that cannot be read, %d times in a row: slow lane", s.Kind, s.Broken)
		return w
	case s.Broken > 0 && !p.Slow(s, now):
		w.Interval = p.Initial
		w.Reason = fmt.Sprintf("%s that cannot be read, %d times in a row", s.Kind, s.Broken)
	case p.Slow(s, now):
		w.Interval = max(p.SilentWait, p.Between)
		w.Reason = fmt.Sprintf("%s without anything new for %s: slow lane", s.Kind, spell(s.silence(now)))
		return w
	case s.slow.hours == 0:
		w.Interval, w.Reason = p.Initial, "first reading of a "+s.Kind.String()+": initial "+spell(p.Initial)
	default:
		w.Interval = hours(itemsPerPoll / rate)
		w.Reason = fmt.Sprintf("%s with %s new items a day: %s", s.Kind, rounded(24*rate), spell(w.Interval))
		w.PerDay = 24 * rate
	}
	w = p.bounded(w)
	w = p.asked(w, s, cached)
	w = p.kept(w, s, rate)
	if w.Interval < p.Between {
		w.Interval = p.Between
		w.Reason += ", the rest between rounds " + spell(p.Between)
	}
	w.Expected = w.PerDay * w.Interval.Hours() / 24
	w.Missed = evaluators.Missed(w.Expected)
	return w
}

// Slow reports whether a source in this state is on the slow lane.
func (p Policy) Slow(s State, now time.Time) bool {
	return s.Broken > brokenPatience || s.silence(now) >= p.SilentAfter
}

// silence is for how long a source has brought nothing new.
func (s State) silence(now time.Time) time.Duration {
	since := s.Began
	if s.News.After(since) {
		since = s.News
	}
	if since.IsZero() {
		return 0
	}
	return now.Sub(since)
}

// perHour is the rate of new items: the faster of two memories, so that the rush hour is noticed and the night forgotten.
// Before anything is known, half an item in each initial wait is expected.
func (s State) perHour(initial time.Duration) float64 {
	rate := (s.slow.events + itemsPerPoll) / (s.slow.hours + initial.Hours())
	if s.fast.events >= leastFast && s.fast.hours > 0 {
		rate = max(rate, s.fast.events/s.fast.hours)
	}
	return rate
}

func (p Policy) bounded(w evaluators.Wait) evaluators.Wait {
	switch {
	case w.Interval > p.Max:
		w.Interval = p.Max
		w.Reason += " (max " + spell(p.Max) + ")"
	case w.Interval < p.Min:
		w.Interval = p.Min
		w.Reason += " (min " + spell(p.Min) + ")"
	}
	return w
}

// asked lengthens a wait as the source asks for.
func (p Policy) asked(w evaluators.Wait, s State, cached time.Duration) evaluators.Wait {
	if wish := min(max(s.Hints.Every, cached), p.HintsUpTo); wish > w.Interval {
		w.Interval = wish
		w.Reason += ", asked for " + spell(wish)
	}
	at := s.Read.Add(w.Interval)
	if !s.Hints.skipped(at) {
		return w
	}
	until := at
	for s.Hints.skipped(until) && until.Sub(at) < p.HintsUpTo {
		until = until.Truncate(time.Hour).Add(time.Hour)
	}
	if extra := min(until.Sub(at), p.HintsUpTo); extra > 0 {
		w.Interval += extra
		w.Reason += ", not at hours that it skips: " + spell(w.Interval)
	}
	return w
}

// kept shortens a wait in which items would be missed.
func (p Policy) kept(w evaluators.Wait, s State, rate float64) evaluators.Wait {
	if !s.Kind.Brisk() || s.Listed == 0 {
		return w
	}
	if bound := max(hours(turnover*float64(s.Listed)/rate), p.Min); bound < w.Interval {
		w.Interval = bound
		w.Reason += ", lists no more than " + strconv.Itoa(s.Listed) + ": " + spell(bound)
	}
	if bound := max(s.ceiling, p.Min); s.ceiling > 0 && bound < w.Interval {
		w.Interval = bound
		w.Reason += ", so much of it is replaced: " + spell(bound)
	}
	return w
}

func hours(h float64) time.Duration {
	const most = 10 * 365 * 24
	return time.Duration(min(h, most) * float64(time.Hour))
}

func rounded(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// spell writes a duration for people.
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 4*day {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.Round(time.Second).String()
	text = strings.TrimSuffix(text, "m0s") + map[bool]string{true: "m"}[strings.HasSuffix(text, "m0s")]
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
