package evaluators

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// WaitEvaluator is one entry of the stack: the types of content that it decides about, and by which rule.
type WaitEvaluator struct {
	Name string         // for logs and reasons; empty = the pattern
	MIME *regexp.Regexp // matches the types of content, as [digest.TypePattern] compiles it; nil = all types
	Rule Rule           // decides; nil = [Classic] with its defaults
}

// Stack is tried from its first entry on. The first entry whose pattern matches the type decides.
type Stack []WaitEvaluator

// WaitInput holds what a wait follows from. The visit must have had an answer: failures follow a [Ladder].
type WaitInput struct {
	MIME     string        // the whole value of the Content-Type header, with parameters; empty if there was none
	State    State         // as judged
	First    bool          // as judged
	Previous time.Duration // the interval learned so far; zero or less = none
	Overdue  time.Duration // how long after its due time the visit began; less than zero counts as zero

	Evidence // read by [Learned] only
}

// Evidence holds the facts about a visit that only the rule [Learned] reads.
type Evidence struct {
	At   time.Time // when the visit began
	Born time.Time // when the URI was published, if that is known; read on the first capture

	// Jumped is how far the clock has jumped since the last visit, below zero if backward.
	Jumped time.Duration

	// Idle marks content that differs in nothing that matters, such as a feed without a new entry. It counts as
	// Unchanged.
	Idle bool

	// ChangedAt is when the URI last changed, if it says so and is believed; zero if that is not known. It is read if the
	// state is Changed, and as long as it is between the last visit and this one.
	ChangedAt time.Time
	ChangedBy string // the source of this date, in a word or two for the reason

	// Silent is the time up to which that source had reported no change since the last visit; zero if that is not known.
	Silent time.Time

	// Moments holds all times since the last visit at which the URI changed, oldest first, if it says so and is believed.
	// Changes is the number of changes, if that is known though not all moments are. Both are read if the state is
	// Changed and this is not the first visit. They take precedence over ChangedAt.
	Moments []time.Time
	Changes int

	Kind      rate.Kind      // the class of the URI; read until Memory holds one
	Relatives rate.Relatives // what the host's URIs of that class, or of the class in Memory, have in common
	Memory    rate.Memory    // memory that the rule returned last time; other rules return it unchanged

	// Probes counts the probes of the crawl. If it is nil, no wait is cut for a probe, and none follows from probes.
	Probes *rate.Probes

	// Stretch is the factor by which the waits of the host are stretched, see [capacity.Budget.Stretch]. Below 1 counts
	// as 1.
	Stretch float64
}

// Wait is a decided interval.
type Wait struct {
	Interval  time.Duration // more than zero; it counts from the end of the visit, or from its claim if Phased
	Evaluator string        // name of the entry that decided
	Reason    string        // such as "unchanged: 12h × 1.5 = 18h"
	Phased    bool          // the rule keeps a phase, as [Fixed] does

	Estimate
	Lessons
}

// Why returns the text about a wait that is stored with the due time.
func (w Wait) Why() string {
	if strings.HasPrefix(w.Reason, w.Evaluator+", ") {
		return w.Reason // which says it already
	}
	return w.Evaluator + ": " + w.Reason
}

// Estimate holds what a rule expects of a URI. It is zero if the rule estimates nothing.
type Estimate struct {
	Expected float64 // number of changes expected in the interval
	Missed   float64 // share of the URI's versions that will probably be missed in the interval
	PerDay   float64 // changes per day expected in the interval
	Versions float64 // versions that probably appeared since the last judged visit, of which at most one was seen
	Stretch  float64 // factor by which the wait was stretched; 0 if it was not

	Odds  float64 // probability that this visit finds a change, as expected before it; 0 if nothing was expected
	Again bool    // this visit and the judged visit before both found a change
}

// Lessons holds what the rule [Learned] returns to be stored. For other rules it holds only Memory, unchanged.
type Lessons struct {
	Memory rate.Memory    // to be stored with the URI
	Kind   rate.Kind      // the class that Lesson belongs to; zero = there is no lesson
	Lesson rate.Relatives // to be added to what is stored for that class of the host
	Probes rate.Probes    // to be added to the probes of the crawl
}

// SetExpected sets what is expected in the interval, and missed, of a URI that changes PerDay times a day at random.
func (w *Wait) SetExpected() {
	w.Expected = w.PerDay * w.Interval.Hours() / 24
	w.Missed = rate.Missed(w.Expected)
}

// Forget makes the lesson one that removes a URI with this memory from its class.
func (l *Lessons) Forget(memory string) { l.Kind, l.Lesson = rate.Memory(memory).Leave() }

// StretchedNote is part of the reason of a wait that was stretched.
const StretchedNote = ", stretched × "

// Asked returns the wait that the capture target asks for, before stretching.
func (w Wait) Asked() time.Duration {
	if w.Stretch > 1 {
		return max(time.Duration(float64(w.Interval)/w.Stretch), 1)
	}
	return w.Interval
}

// Next returns how long to wait until the next visit. If no entry matches, [Classic] with its defaults decides, and the
// reason says so.
func (s Stack) Next(in WaitInput) Wait {
	if i := s.find(in.MIME); i >= 0 {
		return s[i].next(in)
	}
	w := builtIn.next(in)
	w.Reason += "; no evaluator is set for this type"
	return w
}

// For returns the entry that decides about a type.
func (s Stack) For(mime string) WaitEvaluator {
	if i := s.find(mime); i >= 0 {
		return s[i]
	}
	return builtIn
}

// find returns the index of the first entry that matches a type, -1 if there is none.
func (s Stack) find(mime string) int {
	return slices.IndexFunc(s, func(e WaitEvaluator) bool { return e.MIME == nil || e.MIME.MatchString(mime) })
}

// builtIn decides about types that no entry matches.
var builtIn = WaitEvaluator{Name: "built-in plain", Rule: Classic{}}

func (e WaitEvaluator) next(in WaitInput) Wait {
	rule := e.Rule
	if rule == nil {
		rule = Classic{}
	}
	w := rule.Next(in)
	w.Evaluator = e.name()
	if w.Memory == nil {
		w.Memory = in.Memory
	}
	return w
}

func (e WaitEvaluator) name() string {
	switch {
	case e.Name != "":
		return e.Name
	case e.MIME != nil:
		return digest.TypeExpression(e.MIME)
	}
	return "any type"
}

// CaptureTarget returns the share of versions that the entry's rule is to capture. ok is false if the rule has no
// target.
func (e WaitEvaluator) CaptureTarget() (share float64, ok bool) {
	switch r := e.Rule.(type) {
	case Target:
		return r.withDefaults().CaptureTarget, true
	case Learned:
		return r.withDefaults().CaptureTarget, true
	}
	return 0, false
}

// Initial returns the wait after the first capture, or 24h if the entry sets none.
func (e WaitEvaluator) Initial() time.Duration {
	switch r := e.Rule.(type) {
	case Classic:
		return r.withDefaults().Initial
	case Target:
		return r.withDefaults().Initial
	case Learned:
		return orDefault(r.Initial, defaultInitial)
	}
	return defaultInitial
}

// allTypes matches every type, as [digest.TypePattern] compiles it.
var allTypes = regexp.MustCompile(`(?is)\A(?:.*)\z`)

// Default returns the stack of a configuration that has no entry: [Learned] with its defaults decides about all types.
// Each call returns a new slice.
func Default() Stack {
	return Stack{{Name: "built-in", MIME: allTypes, Rule: Learned{}.withDefaults()}}
}

// Notes returns what the rule expects of the URI, as annotations of crawl.log; none if it expects nothing.
func (w Wait) Notes() []string {
	if !(w.PerDay > 0) {
		return nil
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
	notes := []string{"chg:" + number(w.PerDay), "miss:" + number(w.Missed)}
	if w.Versions > 0 {
		notes = append(notes, "new:"+number(w.Versions))
	}
	if w.Odds > 0 {
		notes = append(notes, "odds:"+number(w.Odds))
	}
	if w.Again {
		notes = append(notes, "again")
	}
	return notes
}

// Ladder describes the waits after failures in a row. The first wait is First, and each next one Factor times as long,
// up to Max. Every wait is finite, so no failure excludes a URI forever. None changes the interval learned from
// answers.
//
// First defaults to 1m and Max to 28d if zero or negative. A Factor that is zero or not a number counts as 2, one
// below 1 as 1.
type Ladder struct {
	First, Max time.Duration
	Factor     float64
}

// Wait returns the wait after a number of failures in a row, rounded to milliseconds and never more than Max. A number
// below one counts as one.
func (l Ladder) Wait(failures int) time.Duration {
	first, longest, factor := l.First, l.Max, l.Factor
	if first <= 0 {
		first = time.Minute
	}
	if longest <= 0 {
		longest = defaultMax
	}
	if factor == 0 || math.IsNaN(factor) {
		factor = 2
	}
	if failures <= 1 || first >= longest {
		return min(first, longest)
	}
	ms := first.Seconds() * 1000 * math.Pow(max(factor, 1), float64(failures-1))
	if !(ms < longest.Seconds()*1000) {
		return longest
	}
	return max(first, min(longest, milliseconds(math.Round(ms))))
}
