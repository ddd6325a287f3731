package crawler

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// The names of the waits that no rule of the configuration decides.
const (
	waitGone   = "gone"
	waitRetry  = "retry"
	waitRobots = "robots"
)

// followedUp is in the reason of a wait that a young article's age decided, and not the interval that was learned.
const followedUp = "young article"

// stretched is in the reason of a wait that is longer than what was learned, see [evaluators.Price].
const stretched = ", stretched × "

// cutOff is how much a line may have cut off a time; nothing may be visited early.
const cutOff = time.Millisecond

// unconfirmed is why nothing is learned of a URI that is gone for the first times.
const unconfirmed = "gone, to be confirmed"

// Relearn is what is remembered of a URI after one more visit, going by the line that crawl.log has of it; the lines must
// come oldest first. It is what [Crawler] itself remembered, but for what a line does not hold: times are to the
// millisecond, and headers, the comparison digest and where exactly the payload lies must come from the archive, see
// [Recaptured]. What a wait rule remembers of a URI it learns anew from the lines, by the stack that waits are; so do not know
// of it what dates told of changes, when an article was born, and what was known of its like. Lost are the digests of the last
// versions, and what a feed has listed and that it goes before others, until its next visit.
// The URI of e must be set.
func Relearn(e frontier.Entry, l crawllog.Entry, waits evaluators.Stack) frontier.Entry {
	began := l.Started
	if began.IsZero() {
		began = l.Logged
	}
	if e.FirstSeen.IsZero() {
		e.FirstSeen, e.Hops, e.Via, e.Seed = began, l.Hops, l.Via, l.Seed
	}
	said := crawllog.Extra{}
	if l.Extra != nil {
		said = *l.Extra
	}
	e.LastStatus = l.Status
	e.Forbidden = l.Status == statusForbidden
	if l.Revisiting == nil {
		return e
	}
	if said.WaitEvaluator == "" { // it was refused: nobody was asked
		e.Due = l.Logged.Add(l.Revisiting.Wait + cutOff)
		e.Why = strings.Join(l.Annotations, ",")
		return e
	}
	e.LastVisit, e.Why = began, whyOf(evaluators.Wait{Evaluator: said.WaitEvaluator, Reason: said.WaitReason})
	if e.Due = said.Due; !e.Due.IsZero() {
		e.Due = e.Due.Add(cutOff)
	}
	e.Visits, e.Versions = l.Revisiting.Visits, l.Revisiting.Versions
	failed := said.Misfortune != "" || said.ChangeReason == unconfirmed || said.ChangeReason != "" && slices.Contains(l.Annotations, said.ChangeReason)
	switch {
	case said.WaitEvaluator == waitGone:
		if e.Gone++; !failed {
			e.History, e.Failures = relearn(e.History, l, said), 0
		}
	case failed || said.WaitEvaluator == waitRetry:
		e.Failures = max(l.Revisiting.Tries, 1)
	default:
		e.Failures, e.Gone = 0, 0
		e.History = relearn(e.History, l, said)
		again := waits.Next(evaluators.WaitInput{
			MIME: l.MIME, State: stateNamed(said.ContentState), First: l.Revisiting.Versions == 1 && said.ContentState == evaluators.Changed.String(),
			Previous: e.Wait, Overdue: l.Revisiting.Overdue, At: began, Memory: evaluators.Memory(e.Memory),
		})
		e.Rate, e.Wait, e.Memory = said.ChangesPerDay, l.Revisiting.Wait, string(again.Memory)
		if strings.Contains(said.WaitReason, followedUp) || strings.Contains(said.WaitReason, stretched) {
			e.Wait = again.Interval
		}
	}
	if said.WaitEvaluator == waitRobots {
		e.Wait = 0
	}
	return e
}

// stateNamed is the state that a line names.
func stateNamed(name string) evaluators.State {
	for _, s := range []evaluators.State{evaluators.Unchanged, evaluators.Changed} {
		if s.String() == name {
			return s
		}
	}
	return evaluators.Unknown
}

// relearn is [learn], from a line.
func relearn(h frontier.History, l crawllog.Entry, said crawllog.Extra) frontier.History {
	h.LastCapture = l.Started
	if said.ContentState == evaluators.Changed.String() {
		h.LastChange = l.Started
	}
	if l.Status == statusNotModified || slices.Contains(l.Annotations, crawllog.MidFetchAbort) {
		h.Unread++
		return h
	}
	h.Unread, h.Status, h.ContentType = 0, l.Status, l.MIME
	if slices.Contains(l.Annotations, crawllog.LengthTruncated) || slices.Contains(l.Annotations, crawllog.TimeTruncated) {
		return h
	}
	h.LastRead, h.Payload, h.Size = l.Started, l.Digest, max(l.Size, 0)
	switch {
	case said.RevisitProfile != "":
		date, err := time.Parse(time.RFC3339Nano, said.RevisitRefersToDate)
		if o := h.Origin; err == nil && (o.URI != said.RevisitRefersToURI || !o.Date.Truncate(time.Millisecond).Equal(date.Truncate(time.Millisecond))) {
			h.Origin = digest.Origin{URI: said.RevisitRefersToURI, Date: date, Payload: l.Digest, Size: h.Size}
		}
	case said.WARCFile != "":
		h.Origin = digest.Origin{URI: l.URI, Date: l.Started, Payload: l.Digest, File: said.WARCFile, Offset: said.WARCOffset, Size: h.Size}
	}
	return h
}

// Record is what the archive has of a capture.
type Record struct {
	Origin  digest.Origin     // where it is
	Header  http.Header       // of the response
	Written map[string]string // what its metadata record says
}

// Recaptured adds to a history what the archive knows of its last capture: read is the record of the visit that was last
// read to its end, payload the one that holds its payload. They may be the same, and either may be missing.
func Recaptured(h frontier.History, read, payload *Record) frontier.History {
	if payload != nil {
		h.Origin = payload.Origin
	}
	if read == nil {
		read = payload
	}
	if read == nil {
		return h
	}
	exact := func(t time.Time) time.Time { // the log has milliseconds
		if t.Truncate(time.Millisecond).Equal(read.Origin.Date.Truncate(time.Millisecond)) {
			return read.Origin.Date
		}
		return t
	}
	h.LastRead, h.LastCapture, h.LastChange, h.LastVisit = exact(h.LastRead), exact(h.LastCapture), exact(h.LastChange), exact(h.LastVisit)
	h.Location = read.Header.Get("Location")
	h.ContentType = read.Header.Get("Content-Type")
	if h.Status == http.StatusOK {
		h.Validators = evaluators.Lasting(read.Header)
	}
	h.Comparison = comparedBefore(h, read.Written)
	return h
}

// comparedBefore is the comparison digest that a visit wrote down. Without one, the content was compared as it was.
func comparedBefore(h frontier.History, written map[string]string) digest.Comparison {
	sum := func(name string) digest.Digest {
		d, err := digest.Parse(written[name])
		if err != nil {
			return digest.Digest{}
		}
		return d
	}
	if d := sum("comparisonDigest"); !d.IsZero() {
		rules, err := strconv.ParseUint(strings.TrimSpace(written["comparisonRules"]), 16, 64)
		if err != nil {
			return digest.Comparison{}
		}
		return digest.Comparison{Sum: d, Rules: rules}
	}
	if d := sum("contentDigest"); !d.IsZero() {
		return digest.Comparison{Sum: d}
	}
	return digest.Comparison{Sum: h.Payload}
}
