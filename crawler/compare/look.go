package compare

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Visit holds what a visit says about how its URI differs from fetch to fetch. [Judge] creates it.
type Visit struct {
	State   evaluators.State   // by the comparison that decides about the wait
	Second  bool               // the visit is a second look
	Outcome evaluators.Outcome // of a second look

	look    evaluators.Look // before the visit
	applies bool            // the rule of the URI looks twice
	view    evaluators.View // by which a second look is the same
	sight   digest.Sight
	capture *fetch.Capture
	change  config.Change
	differs bool // by the configured comparison
}

// maxApart is the maximum time between two fetches that differ if that is to say that the page differs at every fetch.
const maxApart = 10 * time.Minute

// IsSecondLook reports whether the next visit of a URI is a second look.
func IsSecondLook(r frontier.Record) bool {
	if r.Look == "" {
		return false
	}
	look, err := evaluators.LookOf(r.Look)
	return err == nil && look.Open > 0
}

// Judge returns what a visit says about how its URI differs. state is the verdict by the configured comparison. failed
// says that the visit was a misfortune. Content is read only for pages that are known to differ at every visit. Feeds
// and sitemaps have no second looks: their entries say what is new.
func Judge(
	ctx context.Context, r frontier.Record, state evaluators.State, failed bool, c *fetch.Capture, s config.Settings,
) (Visit, error) {
	v := Visit{State: state, capture: c, change: s.Change}
	if v.applies = r.Source == "" && s.Change.SecondLook().Applies(s.Wait.For(r.ContentType)); !v.applies {
		return v, nil
	}
	look, err := evaluators.LookOf(r.Look)
	if err != nil {
		look = evaluators.Look{} // it is learned again
	}
	if s.Change.Seen == nil {
		look.View = evaluators.Configured
	}
	v.look, v.Second, v.differs = look, look.Open > 0, state == evaluators.Changed
	if (look.Noisy() || v.Second) && state == evaluators.Changed && !failed {
		if v.sight, err = sight(ctx, c, s.Change); err != nil {
			return v, err
		}
		v.compareSights()
	}
	if v.Second {
		v.Outcome = v.outcome(failed, c.Started.Sub(r.LastVisit))
	}
	return v, nil
}

// compareSights compares what a reader sees with the last visit.
func (v *Visit) compareSights() {
	known := v.look.Rules == v.fingerprint() && v.look.Sums != [2]uint64{}
	switch {
	case v.sight == digest.Sight{}: // the page has too little text now
		v.look.View = evaluators.Configured
		return
	case !known:
		if v.look.Noisy() {
			v.State = evaluators.Unknown // other rules: the new digests are the first
		}
		return
	case v.sight.Exact == v.look.Sums[0]:
		v.view = evaluators.SeenExact
	case v.sight.Masked == v.look.Sums[1]:
		v.view = evaluators.SeenMasked
	}
	if v.look.Noisy() && v.view != evaluators.Configured && v.view <= v.look.View {
		v.State = evaluators.Unchanged
	}
}

// outcome returns what a second look found, some time after the visit before.
func (v *Visit) outcome(failed bool, apart time.Duration) evaluators.Outcome {
	switch {
	case failed || v.State == evaluators.Unknown:
		return evaluators.LookFailed
	case v.State == evaluators.Unchanged:
		return evaluators.LookSame
	case v.view != evaluators.Configured:
		return evaluators.LookNoisy
	case apart > maxApart:
		return evaluators.LookFailed
	}
	return evaluators.LookDiffers
}

// fingerprint identifies the rules of what a reader sees.
func (v *Visit) fingerprint() uint32 {
	if v.change.Seen == nil {
		return 0
	}
	f := v.change.Seen.Fingerprint()
	return uint32(f>>32) ^ uint32(f)
}

// Quiet reports whether the page is noisy and a reader sees nothing new, on a usual visit.
func (v *Visit) Quiet() bool {
	return !v.Second && v.look.Noisy() && v.State == evaluators.Unchanged
}

// Counts reports whether a change found by the visit is a version that somebody may miss: it is not for restless pages,
// and not for second looks.
func (v *Visit) Counts() bool { return !v.Second && v.look.Finding != evaluators.Restless }

// Abandon notes in r that a visit failed, which may have been a second look. It is not repeated.
func Abandon(r *frontier.Record, at time.Time) {
	if look, err := evaluators.LookOf(r.Look); err == nil && look.Open > 0 {
		look, _ = evaluators.SecondLook{}.Closed(look, evaluators.LookFailed, at)
		r.Look, r.Urgent = look.Bytes(), false
	}
}

// Decide changes the record of a URI after a second look, or after a visit of a restless page, and returns the wait.
// The rule of the URI learns nothing from such visits. It returns false for all others: the rule decides, and then
// [Visit.Then].
func (v *Visit) Decide(
	r *frontier.Record, entry evaluators.WaitEvaluator, stretch float64, finished time.Time,
) (w evaluators.Wait, ok bool) {
	second := v.change.SecondLook()
	switch {
	case !v.applies:
		if r.Restless {
			forget(r)
		}
		r.Look, r.Restless = "", false
		return w, false
	case v.Second:
		return v.closeLook(r, entry, stretch, finished), true
	case v.look.Finding != evaluators.Restless:
		return w, false
	}
	w = v.restless(entry, stretch)
	look, again := second.Due(v.look, v.State, w, finished)
	if look.Finding != evaluators.Restless { // it is visited like all others again
		v.look = look
		r.Restless = false
		forget(r)
		return w, false
	}
	if again {
		w = secondLook(w)
		r.Urgent = true
	}
	v.remember(&look)
	r.Look = look.Bytes()
	return w, true
}

// Then changes the record of a URI after its rule decided about the wait, and returns the wait: until a second look, or
// the given one. The caller has stored what the rule learned.
func (v *Visit) Then(
	ctx context.Context, r *frontier.Record, w evaluators.Wait, finished time.Time,
) (evaluators.Wait, error) {
	if !v.applies || r.Versions <= 1 {
		return w, nil
	}
	look, again := v.change.SecondLook().Due(v.look, v.State, w, finished)
	if again {
		if v.sight == (digest.Sight{}) {
			var err error
			if v.sight, err = sight(ctx, v.capture, v.change); err != nil {
				return w, err
			}
		}
		w = secondLook(w)
		r.Urgent = true
	}
	v.remember(&look)
	r.Look = look.Bytes()
	return w, nil
}

// remember stores what a reader saw at this visit, if that is needed later.
func (v *Visit) remember(look *evaluators.Look) {
	switch {
	case look.Open == 0 && !look.Noisy():
		look.Sums, look.Rules = [2]uint64{}, 0
	case v.sight != digest.Sight{}:
		look.Sums, look.Rules = [2]uint64{v.sight.Exact, v.sight.Masked}, v.fingerprint()
	}
}

// secondLook returns the wait until a second look, instead of w. The host rests before it as before any visit.
func secondLook(w evaluators.Wait) evaluators.Wait {
	w.Reason += "; it differed at many visits in a row, so it is fetched again when the host has rested"
	w.Interval, w.Evaluator = time.Second, history.WaitSecondLook
	return w
}

// restless returns the wait of a restless page.
func (v *Visit) restless(entry evaluators.WaitEvaluator, stretch float64) evaluators.Wait {
	w := v.change.SecondLook().RestlessWait(entry, stretch)
	w.Evaluator = history.WaitRestless
	return w
}

// forget removes from r what its rule learned.
func forget(r *frontier.Record) { r.Memory, r.Wait, r.Rate = "", 0, 0 }

// closeLook changes the record of a URI after a second look, and returns the wait.
func (v *Visit) closeLook(
	r *frontier.Record, entry evaluators.WaitEvaluator, stretch float64, finished time.Time,
) evaluators.Wait {
	second := v.change.SecondLook()
	was := v.look.Finding
	look, again := second.Closed(v.look, v.Outcome, finished)
	w := evaluators.Wait{Evaluator: history.WaitSecondLook, Interval: look.UntilPlanned(finished)}
	switch {
	case again:
		w.Interval, r.Urgent = time.Second, true
		w.Reason = "differs again; it is fetched once more when the host has rested"
	case v.Outcome == evaluators.LookFailed:
		w.Reason = "nothing to compare; visited as planned, in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookSame:
		w.Reason = "the same as a moment before; visited as planned, in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookNoisy:
		look.View = max(look.View, v.view)
		w.Reason = "a reader sees the same as a moment before; from now on that decides about the wait, first in " +
			human.Interval(w.Interval)
	}
	gone := was == evaluators.Restless && look.Finding != evaluators.Restless
	if look.Finding == evaluators.Restless {
		w = v.restless(entry, stretch)
	}
	if look.Finding == evaluators.Restless && was != look.Finding || v.Outcome == evaluators.LookNoisy {
		w.Kind, w.Lesson = rate.Memory(r.Memory).Leave() // what it learned was noise
		forget(r)
	}
	if r.Restless = look.Finding == evaluators.Restless; r.Restless {
		r.Wait, r.Rate = w.Asked(), history.RestlessRate
	} else if gone {
		forget(r)
	}
	v.remember(&look)
	r.Look = look.Bytes()
	return w
}

// Notes returns the annotations of a visit in crawl.log that say how its URI differs. before is its record before the
// visit.
func (v *Visit) Notes(before frontier.Record) []string {
	switch {
	case IsSecondLook(before):
		return []string{crawllog.Look + v.Outcome.String()}
	case !v.Counts():
		return []string{crawllog.Restless}
	case v.Quiet() && v.differs:
		return []string{crawllog.Noise}
	}
	return nil
}
