package evaluators

import (
	"math"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Learned estimates how often the URI changes, and visits when so many changes are expected that the capture target is
// met. It needs [Evidence.At] and [Evidence.Memory].
type Learned struct {
	CaptureTarget   float64       // share of the versions to capture, between 0 and 1; default 0.8
	ExpectedChanges float64       // number of changes expected between two visits; if above zero it replaces CaptureTarget
	Min, Max        time.Duration // bounds of every interval; default 5m and 90d
}

// Bounds returns Min and Max.
func (l Learned) Bounds() (shortest, longest time.Duration) {
	return orDefault(l.Min, learnedMin), orDefault(l.Max, learnedMax)
}

func (l Learned) withDefaults() Learned {
	l.CaptureTarget = shareOrDefault(l.CaptureTarget)
	l.Min, l.Max = l.Bounds()
	return l
}

// Next returns the interval in which the wanted number of changes is expected.
func (l Learned) Next(in WaitInput) Wait {
	l = l.withDefaults()
	w := l.stretched(in.Stretch).next(in)
	if in.Stretch > 1 {
		w.Stretch = in.Stretch
		w.Reason += ", stretched × " + rounded(in.Stretch) + " as the host cannot carry more"
	}
	return w
}

// expected returns the number of changes that the rule waits for.
func (l Learned) expected() float64 {
	if l.ExpectedChanges > 0 && !math.IsInf(l.ExpectedChanges, 0) {
		return l.ExpectedChanges
	}
	return rate.ExpectedFor(l.CaptureTarget)
}

// maxStretchedWait bounds the longest wait after stretching.
const maxStretchedWait = 365 * 24 * time.Hour

// stretched returns the rule with the number of changes that it waits for multiplied by a factor.
func (l Learned) stretched(by float64) Learned {
	if !(by > 1) || math.IsInf(by, 1) {
		return l
	}
	l.ExpectedChanges = l.expected() * by
	if longest := by * float64(l.Max); longest < float64(maxStretchedWait) {
		l.Max = time.Duration(longest)
	} else {
		l.Max = max(maxStretchedWait, l.Max)
	}
	return l
}

func (l Learned) next(in WaitInput) Wait {
	var r remembered
	err := r.open(in.Memory)
	reason := in.State.String()
	if in.Idle && in.State == Changed && !in.First {
		in.State = Unchanged
		reason += ", nothing new in it"
	}
	switch {
	case err != nil:
		reason += ", memory begun anew"
	case in.First:
		reason = "first capture"
	}
	var lesson Relatives
	if len(in.Memory) == 0 || err != nil {
		r.inherit(in.Relatives)
		r.begin(in)
	}
	if r.kind == 0 {
		r.kind = in.Kind
	} else {
		lesson = r.share(-1)
	}
	r.clock.usual = in.Relatives.usual()
	wanted, versions := l.expected(), 0.0
	if in.State != Unknown {
		reason += r.date(in)
		versions = r.learn(in.At, in.State == Changed)
		if r.counted == 0 {
			versions = math.Min(versions, unseenAtMost+wanted)
		}
	}
	if in.First && in.State == Changed {
		versions = 1
	}
	if r.kind != 0 {
		lesson = lesson.Plus(r.share(1))
		lesson.Rhythm = r.told
	}
	f := r.forecast(in.At)
	crowding := r.crowding()
	wait, _ := f.until(wanted*math.Pow(crowding, -crowdingPower), l.Max.Seconds())
	interval := max(min(milliseconds(math.Ceil(wait*1e3)), l.Max), l.Min)
	f.perDay = r.likely(f.profile.exposure(f.from, f.from+interval.Seconds()))
	x := f.within(interval.Seconds())
	w := Wait{
		Interval: interval,
		Estimate: Estimate{Expected: x, Missed: 1 - capturedOf(x, crowding), PerDay: x / interval.Hours() * 24, Versions: versions},
		Lessons:  Lessons{Memory: r.pack(), Kind: r.kind, Lesson: lesson},
	}
	w.Reason = reason + ": " + rounded(w.PerDay) + " changes a day, " + rounded(x) + " expected in " + spell(interval) + atBound(interval, l.Min, l.Max)
	if r.clock.usual.tells() {
		w.Reason += ", hours and days as those of " + strconv.Itoa(int(in.Relatives.URIs)) + " like it"
	}
	return w
}

// capturedOf is the share of versions captured where so many changes are expected between visits; see crowding.
func capturedOf(x, crowding float64) float64 { return 1 / (1 + crowding*(1/rate.Captured(x)-1)) }
