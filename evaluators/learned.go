package evaluators

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Learned estimates how often the URI changes, see the package [rate]. It visits when as many changes are expected as
// the capture target allows. It needs [Evidence.At] and [Evidence.Memory].
type Learned struct {
	CaptureTarget   float64       // share of the versions to capture, between 0 and 1; default 0.8
	ExpectedChanges float64       // number of changes expected between two visits; if above zero it replaces CaptureTarget
	Min, Max        time.Duration // bounds of every interval; default 5m and 90d
	Initial         time.Duration // interval after the first capture; zero = estimated from the URI's relatives
	Prefer          string        // [PreferPages] or [PreferVersions]; default pages
}

// The values of [Learned.Prefer].
const (
	// PreferPages visits URIs that change rarely more often than the number of changes says, so that little is lost of
	// any page.
	PreferPages = "pages"
	// PreferVersions waits for the same number of changes at each URI, so that most versions are captured in total.
	PreferVersions = "versions"
)

// Preferences returns the values of [Learned.Prefer].
func Preferences() []string { return []string{PreferPages, PreferVersions} }

// Bounds returns Min and Max.
func (l Learned) Bounds() (shortest, longest time.Duration) {
	return orDefault(l.Min, learnedMin), orDefault(l.Max, learnedMax)
}

func (l Learned) withDefaults() Learned {
	l.CaptureTarget = shareOrDefault(l.CaptureTarget)
	l.Prefer = cmp.Or(l.Prefer, PreferPages)
	l.Min, l.Max = l.Bounds()
	return l
}

// Next returns the interval in which the allowed number of changes is expected.
func (l Learned) Next(in WaitInput) Wait { return l.withDefaults().next(in) }

// Wanted returns the number of changes that the rule waits for.
func (l Learned) Wanted() float64 { return l.withDefaults().expected() }

// expected returns the number of changes that the rule waits for.
func (l Learned) expected() float64 {
	if l.ExpectedChanges > 0 && !math.IsInf(l.ExpectedChanges, 0) {
		return l.ExpectedChanges
	}
	return rate.ExpectedFor(l.CaptureTarget)
}

// stretch returns the factor, 1 or more, by which the host stretches a wait.
func (in *WaitInput) stretch() float64 {
	if !(in.Stretch > 1) || math.IsInf(in.Stretch, 1) {
		return 1
	}
	return in.Stretch
}

// stretched returns a wait that the host stretches: until more changes are expected than the rule asks for, but not
// beyond Max.
func (l Learned) stretched(f rate.Forecast, wanted, by float64) (interval time.Duration, stretch float64) {
	asked := l.until(f, wanted)
	if by == 1 {
		return asked, 0
	}
	interval = max(l.until(f, wanted*by), asked)
	if interval == asked {
		return asked, 0
	}
	return interval, float64(interval) / float64(asked)
}

// until returns the interval in which a number of changes is expected, within the bounds.
func (l Learned) until(f rate.Forecast, wanted float64) time.Duration {
	return clamp(milliseconds(math.Ceil(f.Wait(wanted, l.Max.Seconds())*1e3)), l.Min, l.Max)
}

// maxUnseen is the maximum estimate of the versions that a visit found, beyond the number of changes that the rule
// waited for.
const maxUnseen = 2.0

func (l Learned) next(in WaitInput) Wait {
	var e rate.Estimator
	err := e.Open(in.Memory)
	reason := in.State.String()
	if in.Idle && in.State == Changed && !in.First {
		in.State = Unchanged
		reason += ", nothing new in it"
	}
	switch {
	case err != nil:
		reason += ", memory begun again"
	case in.First:
		reason = "first capture"
	}
	if len(in.Memory) == 0 || err != nil {
		e.Inherit(&in.Relatives)
		begin(&e, in)
	}
	e.Join(in.Kind, &in.Relatives)
	wanted := l.expected() * l.asProbed(&in)
	var found rate.Finding
	if in.State != Unknown {
		found = e.Observe(in.observation())
		reason += dated(found, in)
		if found.Count == 0 && found.Versions > 1 {
			found.Versions = 1 + (math.Min(found.Versions, maxUnseen+wanted*in.stretch())-1)*found.Hidden
		}
	}
	if in.First && in.State == Changed {
		found.Versions = 1
	}
	f := e.Forecast(in.At)
	if l.Prefer == PreferPages {
		wanted *= f.Slow()
	}
	wanted, growth := l.limited(f, wanted, in)
	interval, stretch := l.stretched(f, wanted, in.stretch())
	if in.First && l.Initial > 0 {
		interval, stretch = clamp(l.Initial, l.Min, l.Max), 0
		reason += ": initial " + Interval(l.Initial)
	}
	w := Wait{Interval: interval, Estimate: Estimate{Stretch: stretch}}
	w.Memory = e.Memory()
	probe := l.probe(&in, &w)
	if w.Memory.Probe() > rate.ProbeNext {
		growth = 0 // the rest of a wait is not limited
	}
	w.Versions, w.Odds, w.Again = found.Versions, found.Odds, found.Again
	w.Expected, w.Missed = f.Over(w.Interval)
	w.PerDay = w.Expected / w.Interval.Hours() * 24
	w.Kind, w.Lesson = e.Lesson()
	w.Reason = reason + l.explained(w, growth) + l.factored(&in) + probe
	if e.SharesHours() {
		w.Reason += ", hours and days of " + strconv.Itoa(int(in.Relatives.URIs)) + " similar URIs"
	}
	if w.Stretch > 1 {
		w.Reason += StretchedNote + rounded(w.Stretch) + " as the host cannot carry more"
	}
	return w
}

// explained returns what is expected in the interval of a wait, and which bounds hold.
func (l Learned) explained(w Wait, growth float64) string {
	text := ": " + rounded(w.PerDay) + " changes a day, " + rounded(w.Expected) + " expected in " +
		Interval(w.Interval) + atBound(w.Interval, l.Min, l.Max)
	if growth > 0 {
		text += ", " + rounded(growth) + " times the last wait at most"
	}
	return text
}

// limited returns the number of changes to wait for after a visit. After one quiet visit, the wait grows by a limited
// factor. Without this limit, one quiet visit can outweigh many that found a change, because the beliefs in a high rate
// lose nearly all their weight. growth is this factor if it limits the wait, and zero if it does not.
func (l Learned) limited(f rate.Forecast, wanted float64, in WaitInput) (limited, growth float64) {
	if in.State != Unchanged || in.First || in.Previous <= 0 {
		return wanted, 0
	}
	growth = quietGrowth + quietGrowthPerChange*l.expected()
	longest := max(growth*in.Previous.Seconds(), l.Min.Seconds())
	if !(longest < l.Max.Seconds()) || f.Wait(wanted, l.Max.Seconds()) <= longest {
		return wanted, 0
	}
	return f.Wanted(longest), growth
}

// The factor by which a wait grows at most after a quiet visit is quietGrowth, and quietGrowthPerChange more for each
// change that the rule waits for. The wait of a new URI without a change grows by 1 + 1.17·x.
const quietGrowth, quietGrowthPerChange = 2.0, 2.0

// begin initialises the estimator of a URI without a memory from its birth, or from an interval that another rule
// learned. At such an interval about half of the visits found a change.
func begin(e *rate.Estimator, in WaitInput) {
	switch {
	case in.First && !in.Born.IsZero() && !in.At.Before(in.Born):
		e.SetBirth(in.At.Sub(in.Born))
	case !in.First && in.Previous > 0:
		e.SetInterval(in.At.Add(-in.Previous-max(in.Overdue, 0)), in.Previous)
	}
}

// observation returns the visit as the estimator reads it. The dates of a first visit are not read.
func (in *WaitInput) observation() rate.Observation {
	o := rate.Observation{At: in.At, Changed: in.State == Changed, Jumped: in.Jumped}
	if !in.First {
		o.Moments, o.Changes, o.ChangedAt, o.Silent = in.Moments, in.Changes, in.ChangedAt, in.Silent
	}
	return o
}

// dated returns the part of the reason about the dates of changes.
func dated(found rate.Finding, in WaitInput) string {
	text := ""
	switch {
	case found.Count == 1:
		text = " once"
	case found.Count > 1:
		text = " " + strconv.Itoa(found.Count) + " times"
	}
	if found.Count > 0 && !found.Last.IsZero() {
		text += ", the last"
	}
	if !found.Last.IsZero() {
		text += " " + human.About(in.At.Sub(found.Last)) + " ago"
	}
	if text != "" && in.ChangedBy != "" {
		text += " by " + in.ChangedBy
	}
	return text
}

// Traits holds the properties that the kind of a URI follows from. They are read on its first capture and apply from
// then on.
type Traits struct {
	MIME    string // the Content-Type
	Depth   int    // links from the seed; 0 is a seed
	Article bool   // its birth is known
	Size    int64  // bytes of the body
	Dated   bool   // the answer had a Last-Modified
}

const smallBody = 16 << 10

// Kind returns the class of URIs with these traits: by media type (HTML, feed, other data, other), depth (0, 1, more),
// article or not, small or large, and dated or not. There are 97 numbers; zero is no class.
func (t Traits) Kind() rate.Kind {
	mime := strings.ToLower(t.MIME)
	kind := 3
	switch {
	case strings.Contains(mime, "rss"), strings.Contains(mime, "atom"), strings.Contains(mime, "feed+json"):
		kind = 1
	case strings.Contains(mime, "html"):
		kind = 0
	case ClassOf(mime) == ClassText:
		kind = 2
	}
	kind = kind*3 + min(max(t.Depth, 0), 2)
	for _, bit := range []bool{t.Article, t.Size > smallBody, t.Dated} {
		kind *= 2
		if bit {
			kind++
		}
	}
	return rate.Kind(kind + 1)
}
