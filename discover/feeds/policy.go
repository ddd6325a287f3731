package feeds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Policy is the visiting policy of feeds and sitemaps. Every duration must be positive, except HintsUpTo, where zero
// means that hints are ignored. [DefaultPolicy] returns a usable one.
type Policy struct {
	Feed    Waits // of feeds and news sitemaps
	Sitemap Waits // of other sitemaps and sitemap indexes

	MinWait     time.Duration // minimum between two visits of a source or of an implied page; applies after Waits.Min
	HintsUpTo   time.Duration // maximum to which a source's own hints lengthen a wait; 0 = ignore hints
	SilentAfter time.Duration // a source that lists nothing new for this long moves to the slow lane
	SilentWait  time.Duration // wait on the slow lane
}

// Waits are the waits between visits of one kind of source.
type Waits struct {
	Initial  time.Duration // after the first reading
	Min, Max time.Duration // bounds of every wait outside the slow lane
}

// DefaultPolicy returns the policy that applies where the configuration says nothing else.
func DefaultPolicy() Policy {
	const day = 24 * time.Hour
	return Policy{
		Feed:        Waits{Initial: 30 * time.Minute, Min: 5 * time.Minute, Max: 6 * time.Hour},
		Sitemap:     Waits{Initial: 6 * time.Hour, Min: time.Hour, Max: 7 * day},
		MinWait:     time.Minute,
		HintsUpTo:   time.Hour,
		SilentAfter: 60 * day,
		SilentWait:  7 * day,
	}
}

// of returns the waits for a kind of source, and the name under which their evaluator is logged.
func (p Policy) of(k Kind) (w Waits, name string) {
	if k.ListsNewest() {
		return p.Feed, "feed"
	}
	return p.Sitemap, "sitemap"
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

// Next returns the wait after the visit at now that led to state s. cached is the freshness that the answer itself asks
// for, see [CacheHint]; the longer of it and the source's own hints counts.
func (p Policy) Next(s State, now time.Time, cached time.Duration) evaluators.Wait {
	bounds, name := p.of(s.Kind)
	w := evaluators.Wait{Evaluator: name}
	rate := s.perHour(bounds.Initial)
	switch {
	case s.Broken > brokenPatience:
		w.Interval = p.SilentWait
		w.Reason = fmt.Sprintf("%s that cannot be read, %d times in a row: slow lane", s.Kind, s.Broken)
		return w
	case s.Broken > 0 && !p.Slow(s, now):
		w.Interval = bounds.Initial
		w.Reason = fmt.Sprintf("%s that cannot be read, %d times in a row", s.Kind, s.Broken)
	case p.Slow(s, now):
		w.Interval = max(p.SilentWait, p.MinWait)
		w.Reason = fmt.Sprintf("%s without anything new for %s: slow lane", s.Kind, spell(s.silence(now)))
		return w
	case s.slow.hours == 0:
		w.Interval = bounds.Initial
		w.Reason = "first reading of a " + s.Kind.String() + ": initial " + spell(bounds.Initial)
	default:
		w.Interval = hours(itemsPerPoll / rate)
		w.Reason = fmt.Sprintf("%s with %s new items a day: %s", s.Kind, rounded(24*rate), spell(w.Interval))
		w.PerDay = 24 * rate
	}
	w = bounds.clamp(w)
	w = p.asked(w, s, cached)
	w = bounds.kept(w, s, rate)
	if w.Interval < p.MinWait {
		w.Interval = p.MinWait
		w.Reason += ", the rest between rounds " + spell(p.MinWait)
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

// clamp holds a wait between Min and Max.
func (b Waits) clamp(w evaluators.Wait) evaluators.Wait {
	switch {
	case w.Interval > b.Max:
		w.Interval = b.Max
		w.Reason += " (max " + spell(b.Max) + ")"
	case w.Interval < b.Min:
		w.Interval = b.Min
		w.Reason += " (min " + spell(b.Min) + ")"
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
func (b Waits) kept(w evaluators.Wait, s State, rate float64) evaluators.Wait {
	if !s.Kind.ListsNewest() || s.Listed == 0 {
		return w
	}
	if bound := max(hours(turnover*float64(s.Listed)/rate), b.Min); bound < w.Interval {
		w.Interval = bound
		w.Reason += ", lists no more than " + strconv.Itoa(s.Listed) + ": " + spell(bound)
	}
	if bound := max(s.ceiling, b.Min); s.ceiling > 0 && bound < w.Interval {
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
