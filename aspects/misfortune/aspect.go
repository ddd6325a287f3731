package misfortune

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/warcout"
)

// The names of the waits of the aspect. They are written in crawl.log.
const (
	WaitGone  = "gone"
	WaitRetry = "retry"
)

// Unconfirmed is the reason why the first 404 or 410 answers of a URI are not judged. It is written in crawl.log.
const Unconfirmed = "gone, to be confirmed"

// Aspect says which visits failed, and when their URIs are tried again.
type Aspect struct {
	Options  aspects.Options[Options]
	Retry    aspects.Options[evaluators.Ladder]
	Frontier *frontier.Frontier
	// Limit returns how long a Retry-After of the visit may put it off.
	Limit func(*aspects.Visit) time.Duration
}

// Ask shortens the connect timeout of hosts that never answered.
func (*Aspect) Ask(v *aspects.Visit) error {
	limits := &v.Request.Exchange.Limits
	limits.Connect = ConnectTimeout(v.Claim, limits.Connect)
	return nil
}

// Judge fails a visit whose content does not matter: an endless redirect, a misfortune or a wall, or a page that is not
// yet confirmed to be gone.
func (a *Aspect) Judge(_ context.Context, v *aspects.Visit) (done bool, err error) {
	o := a.Options(v)
	v.Gone = !v.IsRobots && IsGone(v.Capture)
	back, err := LeadsBack(*v.Record(), v.Capture, a.Frontier.Get)
	if err != nil {
		return true, err
	}
	why := ""
	switch {
	case v.Request.Strangers:
		v.Block = evaluators.ForStrangers
		why = v.Block
	case back && !v.IsRobots && o.KnownBlocks:
		v.Block = evaluators.RedirectLoop
		why = v.Block
	case !v.Unread && IsMisfortune(v.Capture):
		if v.Block, err = Detect(v.Capture, *o); err != nil {
			return true, err
		}
		why = "failed"
	case v.Gone && v.Record().Gone+1 < o.GoneAfter:
		why = Unconfirmed
	default:
		return false, nil
	}
	v.Fail(why)
	return true, nil
}

// JudgeContent fails a visit whose new content is not the page.
func (a *Aspect) JudgeContent(_ context.Context, v *aspects.Visit) (done bool, err error) {
	if v.Verdict.State != evaluators.Changed || v.IsRobots {
		return false, nil
	}
	v.Block, err = Detect(v.Capture, *a.Options(v))
	if v.Block != "" {
		v.Fail(v.Block)
		v.Gone = strings.HasPrefix(v.Block, evaluators.NotFound)
	}
	return false, err
}

// DecideGone decides the wait of a URI that is gone.
func (a *Aspect) DecideGone(_ context.Context, v *aspects.Visit) error {
	if v.Gone {
		v.Next.Wait = GoneWait(v.Next.Record.Gone, *a.Options(v))
	}
	return nil
}

// DecideFault decides the wait of a URI whose document could not be processed.
func (a *Aspect) DecideFault(_ context.Context, v *aspects.Visit) error {
	if v.Failed && v.Fault != nil {
		v.Next.Wait = Wait(v.Fault, v.Next.Record.Failures, *a.Retry(v))
	}
	return nil
}

// DecideRetry decides the wait after other failures: it grows with their number in a row.
func (a *Aspect) DecideRetry(_ context.Context, v *aspects.Visit) error {
	if n := &v.Next; v.Failed {
		n.Wait = evaluators.Wait{
			Interval: a.Retry(v).Wait(n.Record.Failures), Evaluator: WaitRetry,
			Reason: fmt.Sprintf("failure %d in a row", n.Record.Failures),
		}
	}
	return nil
}

// DecideAsked obeys a Retry-After of the server.
func (*Aspect) DecideAsked(_ context.Context, v *aspects.Visit) error {
	if n := &v.Next; !v.IsRobots && n.Asked.After(n.Record.Due) {
		n.Record.Due, n.Record.Why = n.Asked, frontier.WhyRetryAfter
		n.Because = frontier.WhyRetryAfter
	}
	return nil
}

// AskedUntil returns the time before which the server wants no request. It is at most as far ahead as limit.
func (*Aspect) AskedUntil(v *aspects.Visit, limit time.Duration) time.Time {
	return RetryAfter(v.Capture.Status, v.Capture.Header, v.Finished, limit)
}

// DropRefused removes what the next visit must not refer to again, if the archive refused it.
func DropRefused(r *frontier.Record, fault error) {
	if errors.Is(fault, warcout.ErrRefused) {
		r.Origin, r.Validators = digest.Origin{}, evaluators.Validators{}
	}
}

// NoteAsked appends for how long the server wants no request.
func (*Aspect) NoteAsked(v *aspects.Visit, notes []string) []string {
	if asked := v.Next.Asked.Sub(v.Finished); asked > 0 {
		notes = append(notes, crawllog.Asked+strconv.FormatInt(int64((asked+time.Second-1)/time.Second), 10))
	}
	return notes
}

// Note appends what went wrong.
func (*Aspect) Note(v *aspects.Visit, notes []string) []string {
	if v.Capture.Misfortune != nil {
		notes = append(notes, "err="+v.Capture.Misfortune.Error())
	}
	if v.Block != "" {
		notes = append(notes, v.Block)
	}
	return notes
}
