package noise

import (
	"context"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Aspect looks twice at pages that differ at each fetch.
type Aspect struct {
	Settings aspects.Options[config.Settings]
	// Stretch returns the factor by which the waits of the visit's host are stretched.
	Stretch func(*aspects.Visit) float64

	fetches Fetches
}

// Use lets a finder search for rules that silence noisy pages; nil = none are found.
func (a *Aspect) Use(f Finder) { a.fetches.Finder = f }

// Bytes returns how much memory the pages take that wait for their second look.
func (a *Aspect) Bytes() int64 { return a.fetches.Bytes() }

// Ask reads the body at a second look, whatever the headers say.
func (*Aspect) Ask(v *aspects.Visit) error {
	v.Request.Whole = v.Request.Whole || IsSecondLook(*v.Record())
	return nil
}

// Judge notes what a visit says about how its URI differs from fetch to fetch.
func (a *Aspect) Judge(ctx context.Context, v *aspects.Visit) (done bool, err error) {
	if v.IsRobots {
		return false, nil
	}
	s, look := a.Settings(v), aspects.Of[Visit](v)
	*look, err = a.fetches.Judge(ctx, *v.Record(), v.Verdict.State, v.Failed, v.Capture, s)
	v.WaitState = look.State
	if s.Change.Auto == config.AutoJudge && v.Verdict.State == evaluators.Changed && look.Quiet() {
		v.Verdict = evaluators.Verdict{State: evaluators.Unchanged, Reason: "a reader sees the same"}
	}
	return false, err
}

// DecideLook decides the wait after a second look, or after a visit of a restless page.
func (a *Aspect) DecideLook(_ context.Context, v *aspects.Visit) error {
	n := &v.Next
	w, ok := aspects.Of[Visit](v).Decide(&n.Record, v.Capture, a.Settings(v), a.Stretch(v), v.Finished)
	if ok {
		n.Wait = w
	}
	return nil
}

// DecideRestless makes the second look of a page due that differed at many visits in a row.
func (a *Aspect) DecideRestless(ctx context.Context, v *aspects.Visit) (err error) {
	n := &v.Next
	n.Wait, err = aspects.Of[Visit](v).Then(ctx, &n.Record, n.Wait, v.Capture, a.Settings(v), v.Finished)
	return err
}

// DecideFailed notes that a visit failed that may have been a second look. It is not repeated.
func (*Aspect) DecideFailed(_ context.Context, v *aspects.Visit) error {
	if v.Failed || v.Gone {
		Abandon(&v.Next.Record, v.Finished)
	}
	return nil
}

// Note appends how the URI differs.
func (*Aspect) Note(v *aspects.Visit, notes []string) []string {
	return append(notes, aspects.Of[Visit](v).Notes(*v.Record())...)
}

// Quiet reports whether the page is noisy and a reader sees nothing new; see [Visit.Quiet].
func Quiet(v *aspects.Visit) bool { return aspects.Of[Visit](v).Quiet() }

// Counts reports whether a change found by the visit is a version that somebody may miss; see [Visit.Counts].
func Counts(v *aspects.Visit) bool { return aspects.Of[Visit](v).Counts() }

// OutcomeOf returns what a second look found.
func OutcomeOf(v *aspects.Visit) evaluators.Outcome { return aspects.Of[Visit](v).Outcome }
