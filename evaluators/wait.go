package evaluators

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The ancestors' values, which stand in for every setting that is zero.
const (
	defaultInitial = 24 * time.Hour
	defaultMin     = time.Hour
	defaultMax     = 28 * 24 * time.Hour
	defaultUnknown = 72 * time.Hour
	defaultFactor  = 1.5

	learnedMin = 5 * time.Minute
	learnedMax = 90 * 24 * time.Hour
)

// WaitEvaluator is one entry of the stack. As it stands it is the ancestors' rule that divides the interval of what
// changed and multiplies that of what did not; Rule chooses another one.
//
// A duration that is zero or negative, and a factor that is zero, negative or no number, stand for the default of
// their field. If Min exceeds Max, Min wins.
type WaitEvaluator struct {
	Name            string         // for logs and reasons; empty = the pattern
	MIME            *regexp.Regexp // which types it is for, see [Pattern]; nil = all
	Initial         time.Duration  // after the first capture, and where no interval was learned; default 24h
	Min, Max        time.Duration  // every interval is held between them; default 1h and 28d, for [Learned] 5m and 90d
	Unknown         time.Duration  // if the state is unknown and no interval was learned; default 72h
	ChangedFactor   float64        // divides; default 1.5
	UnchangedFactor float64        // multiplies; default 1.5
	UseOverdue      bool           // count from the time that really passed: the overdue time is added before dividing or multiplying

	Rule            Rule          // by which the interval is found; the zero value is the ancestors'
	Every           time.Duration // for [Fixed]: the interval; default 24h
	CaptureTarget   float64       // for [Target] and [Learned]: the share of versions to capture, between 0 and 1; default 0.8
	ExpectedChanges float64       // for [Learned], in place of CaptureTarget: changes expected between visits, as a host's budget allows
}

// Stack is tried from its first entry on; the first whose pattern matches the type decides.
type Stack []WaitEvaluator

// WaitInput is what an interval follows from. The visit must have had an answer: failures follow a [Ladder].
type WaitInput struct {
	MIME     string        // the whole value of the Content-Type header, with parameters; empty if there was none
	State    State         // as judged
	First    bool          // as judged
	Previous time.Duration // the interval learned so far; zero or less = none
	Overdue  time.Duration // how long after its due time the visit began; less than zero counts as zero

	At time.Time // when the visit began; for [Learned]
	// ChangedAt is when the URI last changed, where it says so and is believed; zero if that is not known. Looked at by
	// [Learned] where the state is Changed, as long as it lies between the last visit and this one.
	ChangedAt time.Time
	ChangedBy string // who says so, in a word or two for the reason

	// Silent is until when the one who says so had not said of any change since the last visit; zero if that is not known.
	Silent time.Time

	// Moments are all the times since the last visit at which the URI changed, oldest first, where it says so and is believed.
	// Changes is how many there were, where that is known though not all moments are. Both are looked at by [Learned] where the
	// state is Changed and it is not the first visit, before ChangedAt.
	Moments []time.Time
	Changes int

	// Idle tells that the content is another, but has nothing in it that a visit is made for, as a feed without a new entry: to
	// [Learned] it is Unchanged.
	Idle bool

	Born time.Time // when the URI came into being, if that is known; looked at on the first capture, by [Learned]

	Kind      Kind      // the class of the URI; looked at by [Learned] until it knows one
	Relatives Relatives // what is known on the host of that class, or of that of Memory

	Memory Memory // what [Learned] gave back last time; other rules hand it on

	// Stretch is by how much the waits of the host are stretched, see [Price.Stretch]; for [Learned]. Below 1 counts as 1.
	Stretch float64
}

// Wait is a decided interval. All but the first three fields are for [Learned], and zero with other rules, but for
// Memory.
type Wait struct {
	Interval  time.Duration // always more than zero; it counts from the end of the visit, or from its claim if Phased
	Evaluator string        // name of the entry that decided
	Reason    string        // such as "unchanged: 12h × 1.5 = 18h"

	Phased   bool      // the rule keeps a phase: [Fixed]
	Memory   Memory    // to be stored with the URI
	Expected float64   // changes expected in the interval; for [Value] while it is overdue, add PerDay for each day
	Missed   float64   // share of the URI's versions expected to be missed in the interval
	PerDay   float64   // changes per day expected in the interval
	Kind     Kind      // to which Lesson is to be added
	Lesson   Relatives // what the visit changes in what is known of that kind on the host; nothing where Kind is zero
	Stretch  float64   // by how much the wait was stretched; 0 if it was not
	Versions float64   // that are thought to have come into being since the last judged visit, of which at most one was seen
}

const patternHead, patternTail = `(?is)\A(?:`, `)\z`

// Pattern compiles a pattern for [WaitEvaluator.MIME]. As with the ancestors it has to match the whole value of the
// Content-Type header, parameters included: "text/html" does not match "text/html; charset=utf-8", "text/html.*" and
// "^text/.*$" do. Other than theirs it takes no notice of case. Expressions compiled elsewhere are read by the same
// rules, but anew for each decision, which takes some microseconds.
func Pattern(expr string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(expr); err != nil { // alone, so that it cannot close our group
		return nil, fmt.Errorf("MIME pattern: %w", err)
	}
	re, err := regexp.Compile(patternHead + expr + patternTail)
	if err != nil {
		return nil, fmt.Errorf("MIME pattern %q: %w", expr, err)
	}
	return re, nil
}

var (
	textTypes  = regexp.MustCompile(patternHead + `^text/.*$` + patternTail)
	imageTypes = regexp.MustCompile(patternHead + `^image/.*$` + patternTail)
	allTypes   = regexp.MustCompile(patternHead + `.*` + patternTail)
)

// Default is the ancestors' stack: "text" (^text/.*$) begins with 12h, "image" (^image/.*$) with 48h, and "plain" (.*)
// with 24h. Each call gives a new slice.
func Default() Stack {
	return Stack{
		plain("text", textTypes, 12*time.Hour),
		plain("image", imageTypes, 48*time.Hour),
		plain("plain", allTypes, defaultInitial),
	}
}

func plain(name string, types *regexp.Regexp, initial time.Duration) WaitEvaluator {
	return WaitEvaluator{
		Name: name, MIME: types, Initial: initial, Min: defaultMin, Max: defaultMax, Unknown: defaultUnknown,
		Every: defaultEvery, CaptureTarget: defaultCapture, ChangedFactor: defaultFactor, UnchangedFactor: defaultFactor,
	}
}

// Next decides how long to wait until the next visit. A first capture gets the initial interval, and so does a URI
// without a learned one. An unknown state keeps the learned interval. If no entry matches, a plain evaluator with the
// defaults decides, and the reason says so.
func (s Stack) Next(in WaitInput) Wait {
	for _, e := range s {
		if e.matches(in.MIME) {
			return e.next(in)
		}
	}
	w := plain("built-in plain", nil, defaultInitial).next(in)
	w.Reason += "; no evaluator is set for this type"
	return w
}

// For is the entry that decides about a type, with its defaults filled in.
func (s Stack) For(mime string) WaitEvaluator {
	for _, e := range s {
		if e.matches(mime) {
			return e.withDefaults()
		}
	}
	return plain("built-in plain", nil, defaultInitial).withDefaults()
}

func (e WaitEvaluator) matches(mime string) bool {
	if e.MIME == nil {
		return true
	}
	re := e.MIME
	if expr := re.String(); !strings.HasPrefix(expr, patternHead) || !strings.HasSuffix(expr, patternTail) {
		whole, err := Pattern(expr)
		if err != nil {
			return false // so deeply nested that one more group is too much
		}
		re = whole
	}
	return re.MatchString(mime)
}

func (e WaitEvaluator) next(in WaitInput) Wait {
	e = e.withDefaults()
	switch e.Rule {
	case Learned:
		w := e.stretched(in.Stretch).learned(in)
		if in.Stretch > 1 {
			w.Stretch = in.Stretch
			w.Reason += ", stretched × " + rounded(in.Stretch) + " as the host cannot carry more"
		}
		return w
	case Fixed:
		w := e.fixed(in)
		w.Memory = in.Memory
		return w
	case Target: // four decimals are enough, and can be read
		e.UnchangedFactor = 1 + math.Ceil(1e4*(UnchangedFactor(e.ChangedFactor, e.CaptureTarget)-1))/1e4
	}
	interval, reason := e.interval(in)
	interval = max(min(interval, e.Max), e.Min)
	reason += spell(interval) + e.bound(interval)
	return Wait{Interval: interval, Evaluator: e.Name, Reason: reason, Memory: in.Memory}
}

// bound says that an interval is at a bound, if it is.
func (e WaitEvaluator) bound(interval time.Duration) string {
	switch interval {
	case e.Min:
		return " (min " + spell(e.Min) + ")"
	case e.Max:
		return " (max " + spell(e.Max) + ")"
	}
	return ""
}

// interval is the wait before it is held between the bounds, and the reason up to where the number belongs.
func (e WaitEvaluator) interval(in WaitInput) (time.Duration, string) {
	learned := in.Previous > 0
	switch {
	case in.State == Unknown && learned:
		return in.Previous, "unknown: kept at "
	case in.State == Unknown:
		return e.Unknown, "unknown, nothing learned: "
	case in.First:
		return e.Initial, "first capture: initial "
	case !learned:
		return e.Initial, in.State.String() + ", nothing learned: initial "
	}
	base := float64(in.Previous.Milliseconds())
	text := spell(in.Previous)
	if e.UseOverdue && in.Overdue > 0 {
		base += float64(in.Overdue.Milliseconds())
		text = "(" + text + " + " + spell(in.Overdue) + " overdue)"
	}
	if in.State == Changed {
		return milliseconds(base / e.ChangedFactor), "changed: " + text + " ÷ " + number(e.ChangedFactor) + " = "
	}
	return milliseconds(base * e.UnchangedFactor), "unchanged: " + text + " × " + number(e.UnchangedFactor) + " = "
}

func (e WaitEvaluator) withDefaults() WaitEvaluator {
	least, most := e.Rule.Bounds()
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&e.Initial, defaultInitial}, {&e.Min, least}, {&e.Max, most}, {&e.Unknown, defaultUnknown}, {&e.Every, defaultEvery}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, f := range []*float64{&e.ChangedFactor, &e.UnchangedFactor} {
		if !(*f > 0) { // also if it is no number
			*f = defaultFactor
		}
	}
	if !(e.CaptureTarget > 0 && e.CaptureTarget < 1) {
		e.CaptureTarget = defaultCapture
	}
	if e.Name == "" {
		e.Name = "any type"
		if e.MIME != nil {
			e.Name = strings.TrimSuffix(strings.TrimPrefix(e.MIME.String(), patternHead), patternTail)
		}
	}
	return e
}

// milliseconds truncates toward zero; what does not fit becomes the longest duration.
func milliseconds(ms float64) time.Duration {
	const longest = math.MaxInt64 / int64(time.Millisecond)
	if !(ms < float64(longest)) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// spell writes a duration for people: "1h30m", "54h", "5d1h30m", "28d". Days are used from the fourth on.
func spell(d time.Duration) string {
	d = d.Round(time.Millisecond)
	if d == 0 {
		return "0s"
	}
	const day = 24 * time.Hour
	days := ""
	if d >= 4*day {
		days = strconv.FormatInt(int64(d/day), 10) + "d"
		if d %= day; d == 0 {
			return days
		}
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return days + s
}
