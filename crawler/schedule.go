package crawler

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/warcout"
)

// byStack is the name of the stack of wait evaluators in the order.
const byStack = "stack"

// beginNext adds a visit to the history of its URI.
func (c *Crawler) beginNext(v *aspects.Visit) {
	v.Next = aspects.Next{Record: Remember(*v.Record(), pastVisit(v)), Asked: c.askedOf(v)}
	r := &v.Next.Record
	r.DueInScope = time.Time{}
	c.aspects.rendered.Settle(r)
	if r.Urgent = v.Failed && r.Urgent; !v.Found.Born.IsZero() {
		r.Born = v.Found.Born
	}
	if !v.Failed && !v.Gone {
		r.Title = cmp.Or(v.Found.Title, r.Title) // a page that is unchanged is not read for titles
	}
	if v.Found.Page != nil && !v.Failed {
		r.Shell = v.Found.Page.Shell
	}
}

// decideByStack lets the first matching wait evaluator decide.
func (c *Crawler) decideByStack(_ context.Context, v *aspects.Visit) error {
	n, o, s := &v.Next, aspects.Of[own](v), settingsOf(v)
	r := &n.Record
	e := evaluators.Evidence{
		At: v.Capture.Started, Born: r.Born, Jumped: c.clock.Jumped(v.Record().LastVisit, v.Capture.Started),
		Kind: kindOf(v), Relatives: o.similar, Memory: rate.Memory(r.Memory), Stretch: c.factorsOf(v).Stretch,
		Probes: o.probes,
	}
	c.aspects.feeds.Testify(v, &e)
	n.Input = evaluators.WaitInput{
		MIME: r.ContentType, State: v.WaitState, First: v.Verdict.First, Previous: r.Wait,
		Overdue: v.Claim.Overdue, Evidence: e,
	}
	n.Wait = s.Wait.Next(n.Input)
	if decidedByText(v) {
		o.facts = c.aspects.rendered.After(v, waitBegins(v, n.Wait))
	}
	n.Wait.Versions = newVersions(v)
	r.Wait, r.Rate, r.Memory = n.Wait.Asked(), n.Wait.PerDay, string(n.Wait.Memory)
	return nil
}

// decidedByText reports whether the text that a browser shows may decide about the next visit of a page.
func decidedByText(v *aspects.Visit) bool {
	return aspects.OptionsOf[noise.Options](v).Of == noise.OfRendered && v.Record().Source == ""
}

// decideFirst lets the important URIs of an overloaded host go before the others.
func (c *Crawler) decideFirst(_ context.Context, v *aspects.Visit) error {
	v.Next.Record.Prompt = v.Next.Record.Prompt || c.factorsOf(v).First
	return nil
}

// decideDue makes the URI due after its wait.
func (c *Crawler) decideDue(_ context.Context, v *aspects.Visit) error {
	n := &v.Next
	r := &n.Record
	misfortune.DropRefused(r, v.Fault)
	if !v.Failed {
		r.ReportedChange, r.ReportedUnchanged = time.Time{}, time.Time{}
	}
	if r.Why = n.Wait.Why(); !v.IsRobots {
		r.Due = waitBegins(v, n.Wait).Add(n.Wait.Interval)
	}
	return nil
}

// factorsOf returns how the waits of the visit's host are stretched.
func (c *Crawler) factorsOf(v *aspects.Visit) stretchFactors {
	o := aspects.Of[own](v)
	if o.factors.Stretch == 0 {
		o.factors = c.demand.factorsOf(v.Next.Record, settingsOf(v).Politeness)
	}
	return o.factors
}

// waitBegins returns the time from which a wait counts. That is the end of the visit, as in Heritrix's adaptive
// frontier. For a rule that keeps a phase it is the time when the visit was claimed.
func waitBegins(v *aspects.Visit, w evaluators.Wait) time.Time {
	if due := v.Record().Due; w.Phased && !due.IsZero() {
		return due.Add(v.Claim.Overdue)
	}
	return v.Finished
}

// pastVisit returns the facts of a visit that enter the history of its URI.
func pastVisit(v *aspects.Visit) PastVisit {
	got := v.Capture
	h := PastVisit{
		Started: got.Started, Status: got.Status, State: v.Verdict.State, Failed: v.Failed, Gone: v.Gone,
		Unread: got.Stopped || got.Status == http.StatusNotModified, Asked: v.Request.Mark,
	}
	if v.Failed {
		h.Error = v.ErrorText()
	}
	if h.Unread {
		return h
	}
	h.Body = PastBody{
		Complete: got.Complete, ContentType: got.Header.Get("Content-Type"), Location: got.Header.Get("Location"),
		Comparison: v.Compared, Near: v.Verdict.Near, Payload: got.PayloadDigest, Size: got.PayloadSize,
		Origin: v.Kept.Origin, NoOrigin: v.Kept.Keeping == aspects.KeptEvidence || got.OddFraming,
		Evidence: got.Status > 0 && !warcout.IsResponse(got.Head),
	}
	if h.Body.NoOrigin {
		return h // its validators would bring a 304, which needs an origin
	}
	now := evaluators.Lasting(got.Header)
	// If the body is not kept, its validators may be remembered only if the archived body has the same ones.
	if got.Status == http.StatusOK && (v.Kept.Keeping != aspects.KeptNothing || now == v.Record().Validators) {
		h.Body.Validators = now
	}
	return h
}

// askedOf returns the time before which the server wants no request. It is at most as far ahead as a failure of the
// page or of robots.txt may put a visit off.
func (c *Crawler) askedOf(v *aspects.Visit) time.Time {
	s := settingsOf(v)
	limit := s.Retry.Max
	if v.IsRobots {
		limit = aspects.OptionsOf[robots.Options](v).UnreachableWait
	}
	return c.aspects.misfortune.AskedUntil(v, limit)
}
