package evaluators

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// ProbeNote is part of the reason of a wait before or after a probe, see [rate.Probes].
const ProbeNote = " a probe"

// probed reports whether waits follow the probes of the crawl, see [rate.Probes].
func (l Learned) probed(in *WaitInput) bool {
	return in.Probes != nil && !(l.ExpectedChanges > 0) && in.State != Unknown && !in.First
}

// asProbed returns the factor of the changes to wait for, as the probes of the crawl found it.
func (l Learned) asProbed(in *WaitInput) float64 {
	if in.Probes == nil || l.ExpectedChanges > 0 {
		return 1
	}
	return in.Probes.Factor()
}

// factored returns the note about a factor that matters.
func (l Learned) factored(in *WaitInput) string {
	by := l.asProbed(in)
	if 0.9 < by && by < 1.1 {
		return ""
	}
	return ", for " + rounded(by) + " × the changes of the target, as the probes of the crawl found"
}

// probe changes the wait after a visit that is a probe, or that one follows. It counts the pair that a visit ends.
func (l Learned) probe(in *WaitInput, w *Wait) (note string) {
	if !l.probed(in) {
		return ""
	}
	switch now := in.Memory.Probe(); {
	case now == rate.NoProbe || !in.inTime():
	case now == rate.ProbeNext:
		whole := min(rate.Whole(in.Memory, in.Previous, l.Min), l.Max)
		if rest := whole - in.passed(); rest >= l.Min {
			next := rate.After(in.State == Changed, 1-float64(rest)/float64(whole))
			w.Interval, w.Stretch, w.Memory = rest, 0, w.Memory.Marked(next)
			return "," + ProbeNote + ": the rest of a wait of " + Interval(whole.Round(time.Second))
		}
	default:
		w.Probes = in.Probes.Pair(l.CaptureTarget, now, in.State == Changed)
	}
	if w.Stretch > 1 || in.stretch() > 1 {
		return ""
	}
	if cut, ok := in.Probes.Cut(w.Memory, w.Interval, l.Min); ok {
		note = ", cut from " + Interval(w.Interval) + " for" + ProbeNote
		w.Interval, w.Memory = milliseconds(cut.Seconds()*1e3), w.Memory.Marked(rate.ProbeNext)
	}
	return note
}

// passed returns the time since the last judged visit.
func (in *WaitInput) passed() time.Duration { return in.Memory.Passed(in.At) - in.Jumped }

// inTime reports whether the visit came when its wait had ended: nobody had announced a change, and it was hardly late.
func (in *WaitInput) inTime() bool {
	const exchange = time.Minute
	passed := in.passed()
	return passed >= in.Previous-2*time.Second && passed <= in.Previous+in.Previous/4+exchange
}
