package feeds

import (
	"fmt"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
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

// waits returns the waits for a kind of source, and the name of the evaluator for the log.
func (p Policy) waits(k Kind) (w Waits, evaluator string) {
	if k.ListsNewest() {
		return p.Feed, "feed"
	}
	return p.Sitemap, "sitemap"
}

const (
	// itemsPerVisit is how many new items are expected between two visits. At one half, two of five visits find
	// something new, and one of ten finds more than one item.
	itemsPerVisit = 0.5
	// maxTurnover is the maximum wait, as a share of the time in which the source replaces its whole list.
	maxTurnover = 0.5
	// maxBroken is the number of unreadable visits in a row that count as a temporary failure.
	maxBroken = 3
)

// Next returns the wait after the visit at now that led to state s. cached is how long the answer stays fresh, see
// [CacheHint]. It counts as a hint of the source; the longest hint applies.
func (p Policy) Next(s State, now time.Time, cached time.Duration) evaluators.Wait {
	bounds, evaluator := p.waits(s.Kind)
	w := evaluators.Wait{Evaluator: evaluator}
	perHour := s.perHour(bounds.Initial)
	switch {
	case s.Broken > maxBroken:
		w.Interval = p.SilentWait
		w.Reason = fmt.Sprintf("%s that cannot be read, %s in a row: slow lane", s.Kind, human.Count(s.Broken, "time"))
		return w
	case s.Broken > 0 && !p.Slow(s, now):
		w.Interval = bounds.Initial
		w.Reason = fmt.Sprintf("%s that cannot be read, %s in a row", s.Kind, human.Count(s.Broken, "time"))
	case p.Slow(s, now):
		w.Interval = max(p.SilentWait, p.MinWait)
		w.Reason = fmt.Sprintf("%s without anything new for %s: slow lane", s.Kind, spell(s.silence(now)))
		return w
	case s.slow.hours == 0:
		w.Interval = bounds.Initial
		w.Reason = "first reading of a " + s.Kind.String() + ": initial " + spell(bounds.Initial)
	default:
		w.Interval = hours(itemsPerVisit / perHour)
		w.Reason = fmt.Sprintf("%s with %s new items a day: %s", s.Kind, rounded(24*perHour), spell(w.Interval))
		w.PerDay = 24 * perHour
	}
	w = bounds.clamp(w)
	w = p.obeyHints(w, s, cached)
	w = bounds.keepUp(w, s, perHour)
	if w.Interval < p.MinWait {
		w.Interval = p.MinWait
		w.Reason += ", minimum between visits " + spell(p.MinWait)
	}
	w.SetExpected()
	return w
}

// Slow reports whether a source in this state is on the slow lane.
func (p Policy) Slow(s State, now time.Time) bool {
	return s.Broken > maxBroken || s.silence(now) >= p.SilentAfter
}

// silence returns how long a source has listed nothing new.
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

// perHour returns the rate of new items: the larger of a fast and a slow average. So a busy hour counts at once, and a
// quiet night does not slow the next day down. Before anything is known, it is half an item in each initial wait.
func (s State) perHour(initial time.Duration) float64 {
	rate := (s.slow.events + itemsPerVisit) / (s.slow.hours + initial.Hours())
	if s.fast.events >= minFast && s.fast.hours > 0 {
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

// obeyHints lengthens a wait to what the source asks for, by HintsUpTo at most.
func (p Policy) obeyHints(w evaluators.Wait, s State, cached time.Duration) evaluators.Wait {
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

// keepUp shortens a wait in which items would be missed.
func (b Waits) keepUp(w evaluators.Wait, s State, rate float64) evaluators.Wait {
	if !s.Kind.ListsNewest() || s.Listed == 0 {
		return w
	}
	if bound := max(hours(maxTurnover*float64(s.Listed)/rate), b.Min); bound < w.Interval {
		w.Interval = bound
		w.Reason += ", lists no more than " + strconv.Itoa(s.Listed) + ": " + spell(bound)
	}
	if bound := max(s.ceiling, b.Min); s.ceiling > 0 && bound < w.Interval {
		w.Interval = bound
		w.Reason += ", most of it is replaced: " + spell(bound)
	}
	return w
}

// hours returns h hours as a duration, at most ten years.
func hours(h float64) time.Duration {
	const tenYears = 10 * 365 * 24
	return time.Duration(min(h, tenYears) * float64(time.Hour))
}

// rounded writes a number with two digits, or without a fraction from 10 on.
func rounded(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// spell writes a duration for people: to the second, and to the day from the fourth day on.
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 4*day {
		return evaluators.Interval(d.Truncate(day))
	}
	return evaluators.Interval(d.Round(time.Second))
}

// Options say how feeds and sitemaps are found and followed. Those that the files name are in the configuration.
type Options struct {
	URIs           []uri.URI   // feeds that a file names; they are seeds too
	Sitemaps       []uri.URI   // the same
	Policy                     // applies only with ByPolicy
	Wait           WaitBy      // which rule decides when they are visited
	Bounds         Bounds      // of one feed or sitemap
	Discover       bool        // follow feeds that pages name as their alternate
	RobotsSitemaps bool        // follow sitemaps that robots.txt names
	UsualSitemap   bool        // look for /sitemap.xml if it names none
	Implied        []uri.URI   // pages that become due when any feed of the host has a new entry
	ImpliedBy      []ImpliedBy // replaces Implied for single feeds
}

// WaitBy says which rule decides when feeds and sitemaps are visited.
type WaitBy string

// The rules.
const (
	ByPolicy WaitBy = "own"   // [Policy]
	ByStack  WaitBy = "stack" // the [[wait]] entry that matches the type
)

// ImpliedBy names the pages that become due when a feed has a new entry.
type ImpliedBy struct {
	Feed  uri.URI
	Pages []uri.URI
}

// ImpliedPages returns the pages that become due when a feed has a new entry.
func (f Options) ImpliedPages(feed uri.URI) []uri.URI {
	for _, by := range f.ImpliedBy {
		if by.Feed == feed {
			return by.Pages
		}
	}
	return f.Implied
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	return Options{
		Policy: DefaultPolicy(), Wait: ByPolicy, Bounds: Bounds{MaxItems: DefaultMaxItems},
		Discover: true, RobotsSitemaps: true, UsualSitemap: true,
	}
}
