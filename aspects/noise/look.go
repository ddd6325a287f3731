package noise

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Visit holds what a visit says about how its URI differs from fetch to fetch. [Fetches.Judge] creates it.
type Visit struct {
	State   evaluators.State   // by the comparison that decides about the wait
	Second  bool               // the visit is a second look
	Outcome evaluators.Outcome // of a second look

	applies bool            // the rule of the URI looks twice
	differs bool            // by the configured comparison
	view    evaluators.View // by which a second look is the same
	known   *known          // nil if the URI did not differ at the last visit
	fetches *Fetches        // of pages that are looked at twice
}

// known holds how a URI differed before a visit, and what a reader sees now.
type known struct {
	look  evaluators.Look
	sight digest.Sight
	rules *digest.Rules // that sight is made under
}

// look returns how the URI differed before the visit.
func (v *Visit) look() evaluators.Look {
	if v.known == nil {
		return evaluators.Look{}
	}
	return v.known.look
}

// The names of the waits of the aspect. They are written in crawl.log.
const (
	WaitSecondLook = "second look"
	WaitRestless   = "restless"
)

// RestlessRate is the rate of change of a restless page, in changes per day, by which its host orders visits. It lets
// all other pages go first.
const RestlessRate = 0.01

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
func (f *Fetches) Judge(
	ctx context.Context, r frontier.Record, state evaluators.State, failed bool, c *fetch.Capture, s *config.Settings,
) (Visit, error) {
	v := Visit{State: state, differs: state == evaluators.Changed, fetches: f}
	v.applies = r.Source == "" && s.Change.SecondLook().Applies(s.Wait.For(r.ContentType))
	if !v.applies || r.Look == "" {
		return v, nil
	}
	look, err := evaluators.LookOf(r.Look)
	if err != nil {
		look = evaluators.Look{} // it is learned again
	}
	if s.Change.Seen == nil {
		look = look.Trusting()
	}
	v.known, v.Second = &known{look: look}, look.Open > 0
	if (look.Noisy() || v.Second) && v.differs && !failed {
		if err = v.known.see(ctx, c, &s.Change); err != nil {
			return v, err
		}
		v.compareSights()
	}
	if v.Second {
		v.Outcome = v.outcome(failed, c.Started.Sub(r.LastVisit))
		err = v.silence(ctx, r, c, s)
	}
	return v, err
}

// see makes the digests of what a reader sees. It forgets rules that leave less than half of a page.
func (k *known) see(ctx context.Context, c *fetch.Capture, s *config.Change) (err error) {
	if k.rules = s.Seen; k.look.View == evaluators.SeenSilenced {
		if k.rules, err = s.Seen.With(digest.ParseSilencer(k.look.Silencer)); err != nil {
			k.look, k.rules = k.look.Trusting(), s.Seen // they are of another version of the program
		}
	}
	if k.sight, err = sight(ctx, c, s, k.rules); err != nil || k.rules == s.Seen {
		return err
	}
	whole, err := sight(ctx, c, s, s.Seen)
	if !k.sight.IsMost(whole) {
		k.look, k.sight, k.rules = k.look.Trusting(), whole, s.Seen
	}
	return err
}

// compareSights compares what a reader sees with the last visit.
func (v *Visit) compareSights() {
	look, sight, rules := &v.known.look, v.known.sight, fingerprint(v.known.rules)
	switch {
	case sight == digest.Sight{}: // the page has too little text now
		*look = look.Trusting()
		return
	case look.Rules != rules || look.Sums == [2]uint64{}:
		if look.Noisy() {
			v.State = evaluators.Unknown // other rules: the new digests are the first
		}
		return
	case sight.Exact == look.Sums[0]:
		v.view = evaluators.SeenExact
	case sight.Masked == look.Sums[1]:
		v.view = evaluators.SeenMasked
	}
	if look.Noisy() && v.view != evaluators.Configured && v.view <= look.View {
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
func fingerprint(rules *digest.Rules) uint32 {
	if rules == nil {
		return 0
	}
	f := rules.Fingerprint()
	return uint32(f>>32) ^ uint32(f)
}

// Quiet reports whether the page is noisy and a reader sees nothing new, on a usual visit. It returns false where only
// rules say so that nobody accepted: they decide about the wait alone.
func (v *Visit) Quiet() bool { return v.nothingNew() && v.known.look.View != evaluators.SeenSilenced }

// nothingNew reports whether the page is noisy, and a usual visit found it the same by the comparison for its wait.
func (v *Visit) nothingNew() bool {
	return v.known != nil && !v.Second && v.known.look.Noisy() && v.State == evaluators.Unchanged
}

// Counts reports whether a change found by the visit is a version that somebody may miss: it is not for restless pages,
// and not for second looks.
func (v *Visit) Counts() bool {
	return v.known == nil || !v.Second && v.known.look.Finding != evaluators.Restless
}

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
	r *frontier.Record, c *fetch.Capture, s *config.Settings, stretch float64, finished time.Time,
) (w evaluators.Wait, ok bool) {
	switch {
	case !v.applies:
		if r.Restless {
			forget(r)
		}
		r.Look, r.Restless = "", false
		return w, false
	case v.Second:
		return v.closeLook(r, c, s, stretch, finished), true
	case v.look().Finding != evaluators.Restless:
		return w, false
	}
	w = restless(r, s, stretch)
	look, again := s.Change.SecondLook().Due(v.known.look, v.State, w, finished)
	if look.Finding != evaluators.Restless { // it is visited like all others again
		v.known.look = look
		r.Restless = false
		forget(r)
		return w, false
	}
	if again {
		w = secondLook(w)
		r.Urgent = true
		v.fetches.keep(r.URI, c, s)
	}
	v.remember(&look)
	r.Look = look.Bytes()
	return w, true
}

// Then changes the record of a URI after its rule decided about the wait, and returns the wait: until a second look, or
// the given one. The caller has stored what the rule learned.
func (v *Visit) Then(
	ctx context.Context, r *frontier.Record, w evaluators.Wait, c *fetch.Capture, s *config.Settings, finished time.Time,
) (evaluators.Wait, error) {
	if !v.applies || r.Versions <= 1 || v.known == nil && v.State != evaluators.Changed {
		return w, nil
	}
	look, again := s.Change.SecondLook().Due(v.look(), v.State, w, finished)
	if again {
		if v.known == nil {
			v.known = new(known)
		}
		if v.known.sight == (digest.Sight{}) {
			if err := v.known.see(ctx, c, &s.Change); err != nil {
				return w, err
			}
		}
		w = secondLook(w)
		r.Urgent = true
		v.fetches.keep(r.URI, c, s)
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
	case v.known != nil && v.known.sight != digest.Sight{}:
		look.Sums, look.Rules = [2]uint64{v.known.sight.Exact, v.known.sight.Masked}, fingerprint(v.known.rules)
	}
}

// secondLook returns the wait until a second look, instead of w. The host rests before it as before any visit.
func secondLook(w evaluators.Wait) evaluators.Wait {
	w.Reason += "; it differed at many visits in a row, so it is fetched again when the host has rested"
	w.Interval, w.Evaluator = time.Second, WaitSecondLook
	return w
}

// restless returns the wait of a restless page.
func restless(r *frontier.Record, s *config.Settings, stretch float64) evaluators.Wait {
	w := s.Change.SecondLook().RestlessWait(s.Wait.For(r.ContentType), stretch)
	w.Evaluator = WaitRestless
	return w
}

// forget removes from r what its rule learned.
func forget(r *frontier.Record) { r.Memory, r.Wait, r.Rate = "", 0, 0 }

// closeLook changes the record of a URI after a second look, and returns the wait.
func (v *Visit) closeLook(
	r *frontier.Record, c *fetch.Capture, s *config.Settings, stretch float64, finished time.Time,
) evaluators.Wait {
	was := v.known.look.Finding
	second := s.Change.SecondLook()
	if v.Outcome == evaluators.LookSame && !v.known.look.IsForClock() && v.fetches.showsTime(c, s) {
		second.Clock = evaluators.ClockLook
	}
	look, again := second.Closed(v.known.look, v.Outcome, finished)
	w := evaluators.Wait{Evaluator: WaitSecondLook, Interval: look.UntilPlanned(finished)}
	switch {
	case again && look.IsForClock():
		w.Interval, r.Urgent = second.Clock, true
		w.Reason = "the same as a moment before; it shows the time, so it is fetched once more in " + human.Interval(w.Interval)
		v.fetches.keep(r.URI, c, s)
	case again:
		w.Interval, r.Urgent = time.Second, true
		w.Reason = "differs again; it is fetched once more when the host has rested"
		v.fetches.keep(r.URI, c, s)
	case v.Outcome == evaluators.LookDiffers: // a minute later
		w.Reason = "more than the time differs a minute later; visited as planned, in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookFailed:
		w.Reason = "nothing to compare; visited as planned, in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookSame:
		w.Reason = "the same as a moment before; visited as planned, in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookNoisy && look.View == evaluators.SeenSilenced:
		w.Reason = "a reader sees the same as a moment before without what proposed rules match; from now on that " +
			"decides about the wait, first in " + human.Interval(w.Interval)
	case v.Outcome == evaluators.LookNoisy:
		look.View = max(look.View, v.view)
		w.Reason = "a reader sees the same as a moment before; from now on that decides about the wait, first in " +
			human.Interval(w.Interval)
	}
	restlessNow := look.Finding == evaluators.Restless
	if restlessNow {
		w, look = restless(r, s, stretch), look.Trusting()
	}
	switch {
	case restlessNow && was != evaluators.Restless || v.Outcome == evaluators.LookNoisy:
		w.Kind, w.Lesson = rate.Memory(r.Memory).Leave() // what it learned was noise
		forget(r)
		r.Wait = evaluators.NoisyBegin
	case !restlessNow && was == evaluators.Restless:
		forget(r)
	}
	if r.Restless = restlessNow; restlessNow {
		r.Wait, r.Rate = w.Asked(), RestlessRate
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
	case v.nothingNew() && v.differs:
		return []string{crawllog.Noise}
	}
	return nil
}
