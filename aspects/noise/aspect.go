// Package noise compares the content of a visit with what is remembered of its URI, as the [Options] in [change] say.
//
// [Digest] makes the digest that decides whether a page changed. Some pages differ at every fetch: they show a clock,
// or hold a token. The [Aspect] looks twice at pages that differed at many visits in a row, as [evaluators.SecondLook]
// says. It lets what a reader sees decide about the wait where that stays the same. Pages of one template differ in the
// same, so the rules that silence a page are tried on the other pages of its host, earlier and before their own.
package noise

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// Aspect looks twice at pages that differ at each fetch.
type Aspect struct {
	Options aspects.Options[Options]
	// Rule returns the wait rule of a visit for a type of content.
	Rule func(v *aspects.Visit, contentType string) evaluators.WaitEvaluator
	// Stretch returns the factor by which the waits of the visit's host are stretched.
	Stretch func(*aspects.Visit) float64

	fetches Fetches // of pages that are looked at twice
}

// Use lets a finder search for rules that silence noisy pages; nil = none are found.
func (a *Aspect) Use(f Finder) { a.fetches.Finder = f }

// Bytes returns how much memory the pages take that wait for their second look.
func (a *Aspect) Bytes() int64 { return a.fetches.Bytes() }

// judgement says how the URI of a visit differs from fetch to fetch.
type judgement struct {
	second  bool               // the visit is a second look
	outcome evaluators.Outcome // of a second look
	applies bool               // the rule of the URI looks twice
	differs bool               // by the configured comparison
	view    evaluators.View    // by which a second look is the same
	known   *known             // nil if the URI did not differ at the last visit
}

// known holds how a URI differed before a visit, and what a reader sees now.
type known struct {
	look  evaluators.Look
	sight digest.Sight
	rules *digest.Rules // that sight is made under
}

// look returns how the URI differed before the visit.
func (j *judgement) look() evaluators.Look {
	if j.known == nil {
		return evaluators.Look{}
	}
	return j.known.look
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

// Why returns why a page seems to differ at each fetch without being new, and the rules that silence it, which nobody
// has accepted yet. The reason is empty if the page does not, or if a second look found that it is live.
func Why(r frontier.Record) (reason string, silencer digest.Silencer) {
	look, err := evaluators.LookOf(r.Look)
	if err != nil {
		look = evaluators.Look{}
	}
	return look.Noise(r.Recent), digest.ParseSilencer(look.Silencer)
}

// Ask reads the body at a second look, whatever the headers say.
func (*Aspect) Ask(v *aspects.Visit) error {
	v.Request.Whole = v.Request.Whole || IsSecondLook(*v.Record())
	return nil
}

// Judge notes what a visit says about how its URI differs from fetch to fetch. Content is read only for pages that are
// known to differ at every visit. Feeds and sitemaps have no second looks: their entries say what is new.
func (a *Aspect) Judge(ctx context.Context, v *aspects.Visit) (done bool, err error) {
	if v.IsRobots {
		return false, nil
	}
	r, o, j := v.Record(), a.Options(v), aspects.Of[judgement](v)
	v.WaitState = v.Verdict.State
	j.differs = v.Verdict.State == evaluators.Changed
	j.applies = r.Source == "" && o.SecondLook(r).Applies(a.Rule(v, r.ContentType))
	if j.applies && r.Look != "" {
		err = a.compare(ctx, v, o, j)
	}
	if o.Auto == AutoJudge && j.differs && Quiet(v) {
		v.Verdict = evaluators.Verdict{State: evaluators.Unchanged, Reason: "a reader sees the same"}
	}
	return false, err
}

// compare compares a page that differed before with the last visit.
func (a *Aspect) compare(ctx context.Context, v *aspects.Visit, o *Options, j *judgement) error {
	look, err := evaluators.LookOf(v.Record().Look)
	if err != nil {
		look = evaluators.Look{} // it is learned again
	}
	if o.Seen == nil && look.Finding != evaluators.Restless {
		look = look.Trusting()
	}
	j.known, j.second = &known{look: look}, look.Open > 0
	if (look.Noisy() || j.second) && j.differs && !v.Failed {
		if err := j.known.see(ctx, v, o); err != nil {
			return err
		}
		j.compareSights(v)
		if j.known.look.View == evaluators.SeenSilenced && v.WaitState == evaluators.Unchanged {
			a.fetches.note(v.URI().Host(), j.known.look.Silencer, v.Finished)
		}
	}
	if !j.second {
		return nil
	}
	j.outcome = j.outcomeOf(v)
	return a.silence(ctx, v, o, j)
}

// see makes the digests of what a reader sees. It forgets rules that leave less than half of a page.
func (k *known) see(ctx context.Context, v *aspects.Visit, o *Options) (err error) {
	c := v.Capture
	if k.rules = o.Seen; k.look.View == evaluators.SeenSilenced {
		if k.rules, err = o.Seen.With(digest.ParseSilencer(k.look.Silencer)); err != nil {
			k.look, k.rules = k.look.Trusting(), o.Seen // they are of another version of the program
		}
	}
	if k.sight, err = sight(ctx, c, o, k.rules); err != nil || k.rules == o.Seen {
		return err
	}
	whole, err := sight(ctx, c, o, o.Seen)
	if !k.sight.IsMost(whole) {
		k.look, k.sight, k.rules = k.look.Trusting(), whole, o.Seen
	}
	return err
}

// compareSights compares what a reader sees with the last visit.
func (j *judgement) compareSights(v *aspects.Visit) {
	look, sight, rules := &j.known.look, j.known.sight, fingerprint(j.known.rules)
	switch {
	case sight == digest.Sight{}: // the page has too little text now
		*look = look.Trusting()
		return
	case look.Rules != rules || look.Sums == [2]uint64{}:
		if look.Noisy() {
			v.WaitState = evaluators.Unknown // other rules: the new digests are the first
		}
		return
	case sight.Exact == look.Sums[0]:
		j.view = evaluators.SeenExact
	case sight.Masked == look.Sums[1]:
		j.view = evaluators.SeenMasked
	}
	if look.Noisy() && j.view != evaluators.Configured && j.view <= look.View {
		v.WaitState = evaluators.Unchanged
	}
}

// outcomeOf returns what a second look found.
func (j *judgement) outcomeOf(v *aspects.Visit) evaluators.Outcome {
	switch {
	case v.Failed || v.WaitState == evaluators.Unknown:
		return evaluators.LookFailed
	case v.WaitState == evaluators.Unchanged:
		return evaluators.LookSame
	case j.view != evaluators.Configured:
		return evaluators.LookNoisy
	case v.Capture.Started.Sub(v.Record().LastVisit) > maxApart:
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
func Quiet(v *aspects.Visit) bool {
	j := aspects.Of[judgement](v)
	return j.nothingNew(v) && j.known.look.View != evaluators.SeenSilenced
}

// nothingNew reports whether the page is noisy, and a usual visit found it the same by the comparison for its wait.
func (j *judgement) nothingNew(v *aspects.Visit) bool {
	return j.known != nil && !j.second && j.known.look.Noisy() && v.WaitState == evaluators.Unchanged
}

// IsCalm reports whether the page is noisy, and some visit has found nothing new on it. Its record counts each fetch as
// a version.
func IsCalm(v *aspects.Visit) bool {
	j := aspects.Of[judgement](v)
	return j.known != nil && j.known.look.Calm
}

// Counts reports whether a change found by the visit is a version that somebody may miss: it is not for restless pages,
// and not for second looks.
func Counts(v *aspects.Visit) bool {
	j := aspects.Of[judgement](v)
	return j.known == nil || !j.second && j.known.look.Finding != evaluators.Restless
}

// KeepsScrubbed reports whether the settings ask to archive a payload that differs from the archived one only in
// scrubbed parts.
func KeepsScrubbed(v *aspects.Visit) bool {
	o := aspects.OptionsOf[Options](v)
	keep := o.KeepScrubbed
	if o.Mode == Strict && !Quiet(v) || !keep.Response {
		return false
	}
	return keep.Every == 0 || v.Capture.Started.Sub(v.Record().Origin.Date) >= keep.Every
}

// OutcomeOf returns what a second look found.
func OutcomeOf(v *aspects.Visit) evaluators.Outcome { return aspects.Of[judgement](v).outcome }

// DecideFailed notes that a visit failed that may have been a second look. It is not repeated.
func (*Aspect) DecideFailed(_ context.Context, v *aspects.Visit) error {
	if !v.Failed && !v.Gone {
		return nil
	}
	r := &v.Next.Record
	if look, err := evaluators.LookOf(r.Look); err == nil && look.Open > 0 {
		look, _ = evaluators.SecondLook{}.Closed(look, evaluators.LookFailed, v.Finished)
		r.Look, r.Urgent = look.Bytes(), false
	}
	return nil
}

// DecideLook decides the wait after a second look, or after a visit of a restless page. The rule of the URI learns
// nothing from such visits. It decides about all others, and then [Aspect.DecideRestless].
func (a *Aspect) DecideLook(ctx context.Context, v *aspects.Visit) error {
	j, n := aspects.Of[judgement](v), &v.Next
	r := &n.Record
	switch {
	case !j.applies:
		if r.Restless {
			forget(r)
		}
		r.Look, r.Restless = "", false
		return nil
	case j.second:
		n.Wait = a.closeLook(v, j)
		return nil
	case j.look().Finding != evaluators.Restless:
		return nil
	}
	o, w := a.Options(v), a.restless(v)
	second, rules := o.SecondLook(r), o.inForce()
	look, again := second.Due(j.known.look, v.WaitState, w, v.Finished)
	if look.Rules != rules && look.Rules != 0 {
		look = second.Dropped(j.known.look)
	}
	if look.Finding != evaluators.Restless { // it is visited like all others again
		j.known.look = look
		r.Restless = false
		forget(r)
		return nil
	}
	if again {
		if err := j.known.see(ctx, v, o); err != nil {
			return err
		}
		w = a.secondLook(v, w, false)
	}
	n.Wait, look.Rules = w, rules
	j.remember(r, look)
	return nil
}

// DecideRestless makes the second look of a page due that differed at many visits in a row, after its rule decided
// about the wait.
func (a *Aspect) DecideRestless(ctx context.Context, v *aspects.Visit) error {
	j, n, o := aspects.Of[judgement](v), &v.Next, a.Options(v)
	if !j.applies || n.Record.Versions <= 1 || j.known == nil && v.WaitState != evaluators.Changed {
		return nil
	}
	second, look := o.SecondLook(&n.Record), j.look()
	var err error
	if v.WaitState == evaluators.Changed {
		if second.Early, err = a.isEarly(ctx, v, o, look); err != nil {
			return err
		}
	}
	look, again := second.Due(look, v.WaitState, n.Wait, v.Finished)
	look.Calm = look.Calm || j.nothingNew(v)
	if again {
		if j.known == nil {
			j.known = new(known)
		}
		if j.known.sight == (digest.Sight{}) {
			if err := j.known.see(ctx, v, o); err != nil {
				return err
			}
		}
		n.Wait = a.secondLook(v, n.Wait, second.IsEarly(look))
	}
	j.remember(&n.Record, look)
	return nil
}

// remember stores how the URI differs, and what a reader saw at this visit if that is needed later.
func (j *judgement) remember(r *frontier.Record, look evaluators.Look) {
	switch {
	case look.Open == 0 && look.Finding == evaluators.Restless:
		look.Sums = [2]uint64{}
	case look.Open == 0 && !look.Noisy():
		look.Sums, look.Rules = [2]uint64{}, 0
	case j.known != nil && j.known.sight != digest.Sight{}:
		look.Sums, look.Rules = [2]uint64{j.known.sight.Exact, j.known.sight.Masked}, fingerprint(j.known.rules)
	}
	r.Look = look.Bytes()
}

// secondLook makes a second look due, and returns the wait until then, instead of w. The host rests before it as before
// any visit.
func (a *Aspect) secondLook(v *aspects.Visit, w evaluators.Wait, early bool) evaluators.Wait {
	why := "it differed at many visits in a row"
	if early {
		why = "one set of rules may silence many pages of the host"
	}
	w.Reason += "; " + why + ", so it is fetched again when the host has rested"
	w.Interval, w.Evaluator = time.Second, WaitSecondLook
	a.lookAgain(v)
	return w
}

// lookAgain lets the next visit go before all others of the host, and keeps the page for it.
func (a *Aspect) lookAgain(v *aspects.Visit) {
	v.Next.Record.Urgent = true
	a.fetches.keep(v.URI(), v.Capture, a.Options(v))
}

// restless returns the wait of a restless page.
func (a *Aspect) restless(v *aspects.Visit) evaluators.Wait {
	w := a.Options(v).SecondLook(v.Record()).RestlessWait(a.Rule(v, v.Next.Record.ContentType), a.Stretch(v))
	w.Evaluator = WaitRestless
	return w
}

// forget removes from r what its rule learned.
func forget(r *frontier.Record) { r.Memory, r.Wait, r.Rate = "", 0, 0 }

// closeLook changes the record of a URI after a second look, and returns the wait.
func (a *Aspect) closeLook(v *aspects.Visit, j *judgement) evaluators.Wait {
	r, o, was := &v.Next.Record, a.Options(v), j.known.look.Finding
	second := o.SecondLook(r)
	if j.outcome == evaluators.LookSame && !j.known.look.IsForClock() && a.fetches.showsTime(v.Capture, o) {
		second.Clock = evaluators.ClockLook
	}
	look, again := second.Closed(j.known.look, j.outcome, v.Finished)
	w := evaluators.Wait{Evaluator: WaitSecondLook, Interval: look.UntilPlanned(v.Finished)}
	switch {
	case again && look.IsForClock():
		w.Interval = second.Clock
		w.Reason = "the same as a moment before; it shows the time, so it is fetched once more in " + evaluators.Interval(w.Interval)
		a.lookAgain(v)
	case again:
		w.Interval = time.Second
		w.Reason = "differs again; it is fetched once more when the host has rested"
		a.lookAgain(v)
	case j.outcome == evaluators.LookDiffers && second.IsEarly(j.known.look):
		w.Reason = "differs again, and no rules silence it; visited as planned, in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookDiffers: // a minute later
		w.Reason = "more than the time differs a minute later; visited as planned, in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookFailed:
		w.Reason = "nothing to compare; visited as planned, in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookSame:
		w.Reason = "the same as a moment before; visited as planned, in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookNoisy && digest.ParseSilencer(look.Silencer).Unordered:
		w.Reason = "a reader sees the same parts as a moment before in another order; from now on they decide about the " +
			"wait, first in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookNoisy && look.View == evaluators.SeenSilenced:
		w.Reason = "a reader sees the same as a moment before without what proposed rules match; from now on that " +
			"decides about the wait, first in " + evaluators.Interval(w.Interval)
	case j.outcome == evaluators.LookNoisy:
		look.View = max(look.View, j.view)
		w.Reason = "a reader sees the same as a moment before; from now on that decides about the wait, first in " +
			evaluators.Interval(w.Interval)
	}
	restlessNow := look.Finding == evaluators.Restless
	if restlessNow {
		w, look = a.restless(v), look.Trusting()
		look.Rules = o.inForce()
	}
	switch {
	case restlessNow && was != evaluators.Restless || j.outcome == evaluators.LookNoisy:
		w.Forget(r.Memory) // what it learned was noise
		forget(r)
		r.Wait = evaluators.NoisyBegin
	case !restlessNow && was == evaluators.Restless:
		forget(r)
	}
	if r.Restless = restlessNow; restlessNow {
		r.Wait, r.Rate = w.Asked(), RestlessRate
	}
	j.remember(r, look)
	return w
}

// Note appends how the URI differs.
func (*Aspect) Note(v *aspects.Visit, notes []string) []string {
	switch j := aspects.Of[judgement](v); {
	case IsSecondLook(*v.Record()):
		notes = append(notes, crawllog.Look+j.outcome.String())
	case !Counts(v):
		notes = append(notes, crawllog.Restless)
	case j.nothingNew(v) && j.differs:
		notes = append(notes, crawllog.Noise)
	}
	return notes
}
