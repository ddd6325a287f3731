// Package misfortune says what it means that a visit did not bring its page.
//
// The connection failed, the server failed or refused, the body was cut, a wall or a challenge came instead of the
// page, a redirect leads back to where it came from, the page is gone, or the document could not be processed. None of
// that erases what was learned about a URI, and none exiles a URI permanently.
package misfortune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
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

// Options say which answers are not the requested page, and how URIs that are gone are visited.
type Options struct {
	KnownBlocks bool             // detect common challenge pages, walls, and "not found" pages with status 200
	Blocked     []*regexp.Regexp // identify further challenge pages and walls
	NotFound    []*regexp.Regexp // identify further "not found" pages
	GoneAfter   int              // number of consecutive answers 404 or 410 after which a URI is gone
	GoneFirst   time.Duration    // wait after the first of these answers; each further one is four times as long
	GoneWait    time.Duration    // wait between visits of a URI that is gone
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	return Options{KnownBlocks: true, GoneAfter: 4, GoneFirst: time.Hour, GoneWait: 28 * 24 * time.Hour}
}

// Aspect says which visits failed, and when their URIs are tried again.
type Aspect struct {
	Options  aspects.Options[Options]
	Retry    aspects.Options[evaluators.Ladder]
	Frontier *frontier.Frontier
}

// Ask shortens the connect timeout of hosts that never answered.
func (*Aspect) Ask(v *aspects.Visit) error {
	limits := &v.Request.Exchange.Limits
	limits.Connect = connectTimeout(v.Claim, limits.Connect)
	return nil
}

const (
	// neverMetConnect is the connect timeout for hosts that never answered. Most of them do not exist.
	neverMetConnect = 5 * time.Second
	// patientEvery is how often such a host gets the configured timeout after all, in case it is only slow.
	patientEvery = 4
)

// connectTimeout returns the connect timeout of a visit. A host that never answered gets a short one, except at every
// fourth attempt.
func connectTimeout(c frontier.Claim, configured time.Duration) time.Duration {
	if !c.NeverAnswered || c.HostFailures%patientEvery == patientEvery-1 {
		return configured
	}
	return min(configured, neverMetConnect)
}

// Judge fails a visit whose content does not matter: an endless redirect, a misfortune or a wall, or a page that is not
// yet confirmed to be gone.
func (a *Aspect) Judge(_ context.Context, v *aspects.Visit) (done bool, err error) {
	o := a.Options(v)
	got := v.Capture
	isGone := got.Status == http.StatusNotFound || got.Status == http.StatusGone
	v.Gone = !v.IsRobots && got.Complete && isGone
	back, err := a.leadsBack(v)
	if err != nil {
		return true, err
	}
	why := ""
	switch {
	case v.Request.Strangers:
		v.Block = ForStrangers
		why = v.Block
	case back && !v.IsRobots && o.KnownBlocks:
		v.Block = RedirectLoop
		why = v.Block
	case !v.Unread && isMisfortune(got):
		if v.Block, err = Detect(got, *o); err != nil {
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

// isMisfortune reports whether a capture says nothing about the page: the connection or the server failed, or the
// server refused to answer us. A body that is cut at our own size limit is not a misfortune, because it is cut there
// every time.
func isMisfortune(c *fetch.Capture) bool {
	switch c.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests, http.StatusNotModified:
		return true
	}
	cut := !c.Complete && c.Truncated != fetch.TruncatedLength
	return c.Status < http.StatusOK || c.Status >= http.StatusInternalServerError || cut
}

// HostDown reports whether a status means that the host itself could not be reached.
func HostDown(status int) bool { return status == fetch.DNSFailed || status == fetch.ConnectFailed }

// Protocol returns the version of HTTP of an exchange in the words of WARC-Protocol; "" if its head names another one.
func Protocol(c *fetch.Capture) string {
	if c.HTTP2 {
		return "h2"
	}
	for _, version := range []string{"1.1", "1.0"} {
		if bytes.HasPrefix(c.Head, []byte("HTTP/"+version+" ")) {
			return "http/" + version
		}
	}
	return ""
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

// DecideGone decides the wait of a URI that is gone: a ladder until that is confirmed, a long wait from then on.
func (a *Aspect) DecideGone(_ context.Context, v *aspects.Visit) error {
	if !v.Gone {
		return nil
	}
	o, n := a.Options(v), v.Next.Record.Gone
	w := evaluators.Wait{Interval: o.GoneWait, Evaluator: WaitGone, Reason: fmt.Sprintf("gone, %d visits in a row", n)}
	if n < o.GoneAfter {
		ladder := evaluators.Ladder{First: o.GoneFirst, Factor: 4, Max: max(o.GoneFirst, o.GoneWait)}
		w.Interval, w.Reason = ladder.Wait(n), fmt.Sprintf("gone, %d of %d visits that confirm it", n, o.GoneAfter)
	}
	v.Next.Wait = w
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

// RetryAfter returns the time before which a server wants no request (RFC 9110, 10.2.3: seconds or a date); zero if the
// answer does not say. Whatever the server writes, the time is at most limit after the end of the visit, so that no
// answer puts a URI off for years.
func RetryAfter(status int, h http.Header, finished time.Time, limit time.Duration) time.Time {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return time.Time{}
	}
	value, latest := strings.TrimSpace(h.Get("Retry-After")), finished.Add(limit)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds >= int64(limit/time.Second) { // the error says that it is out of range
			return latest
		}
		return finished.Add(time.Duration(seconds) * time.Second)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return time.Time{}
	}
	if date.After(latest) {
		return latest
	}
	return date
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
