package history

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
)

// followedUp is part of the reason of a wait that the age of a young article decided, instead of the learned interval.
const followedUp = "young article"

// cutOff is the precision of the times in a line. It is added to due times, so that no URI is visited early.
const cutOff = time.Millisecond

// Replay returns the entry of a URI after one more visit, according to the visit's line in crawl.log. Lines
// must come oldest first. The URI of e must be set.
//
// The result is what the crawler itself remembered, with these exceptions. Times are cut to the millisecond. Headers,
// the comparison digest and the exact place of the payload must come from the archive, see [Recaptured]. The memory
// of a wait rule is learned again from the lines, by the stack waits; it lacks dates of changes, the birth of an
// article and the estimates of similar URIs. Until the next visit, the digests of the last versions, the entries that
// a feed has listed and its priority are lost.
func Replay(e frontier.Entry, l crawllog.Entry, waits evaluators.Stack) frontier.Entry {
	began := l.Started
	if began.IsZero() {
		began = l.Logged
	}
	if e.FirstSeen.IsZero() {
		e.FirstSeen, e.Hops, e.Via, e.Seed = began, l.Hops, l.Via, l.Seed
	}
	extra := crawllog.Extra{}
	if l.Extra != nil {
		extra = *l.Extra
	}
	e.LastStatus, e.Forbidden = l.Status, l.Status == StatusForbidden
	if l.Schedule == nil {
		return e
	}
	if extra.WaitEvaluator == "" { // the URI was refused: no request was made
		e.Due = l.Logged.Add(l.Schedule.Wait + cutOff)
		e.Why = strings.Join(l.Annotations, ",")
		return e
	}
	v := visitOf(l, extra, e.Origin)
	v.Started = began
	before := e.History
	e.Record = Add(e.Record, v)
	// The counts of the line are right even if earlier lines are lost.
	e.Visits, e.Versions = l.Schedule.Visits, l.Schedule.Versions
	if v.Failed && !v.Gone {
		e.Failures = max(l.Schedule.Tries, 1)
	}
	wait := evaluators.Wait{
		Interval: l.Schedule.Wait, Evaluator: extra.WaitEvaluator, Reason: extra.WaitReason,
		Estimate: evaluators.Estimate{PerDay: extra.ChangesPerDay},
	}
	e.Why = Why(wait)
	if e.Due = extra.Due; !e.Due.IsZero() {
		e.Due = e.Due.Add(cutOff)
	}
	switch {
	case v.Failed || v.Gone:
	case replayLook(&e.History, l, wait):
	default:
		decided := waits.Next(evaluators.WaitInput{
			MIME: l.MIME, State: v.State, First: l.Schedule.Versions == 1 && v.State == evaluators.Changed,
			Previous: before.Wait, Overdue: l.Schedule.Overdue,
			Evidence: evaluators.Evidence{At: began, Memory: rate.Memory(before.Memory)},
		})
		e.Wait, e.Rate, e.Memory = wait.Interval, wait.PerDay, string(decided.Memory)
		if wait.Evaluator == WaitInferred {
			e.Rate = decided.PerDay
		}
		if !isLearned(wait) {
			e.Wait = decided.Interval
		}
	}
	if wait.Evaluator == WaitRobots {
		e.Wait = 0
	}
	return e
}

// isLearned reports whether a logged wait is the interval that the rule decided, so that the next decision starts from
// it.
func isLearned(w evaluators.Wait) bool {
	return w.Evaluator != WaitSecondLook && w.Evaluator != WaitInferred && !strings.Contains(w.Reason, followedUp) &&
		!strings.Contains(w.Reason, evaluators.StretchedNote)
}

// replayLook changes a history after a second look, or a visit of a restless page. The rule learns nothing from them.
// It returns false for all other visits. What a reader saw is lost: a noisy page is found again.
func replayLook(h *frontier.History, l crawllog.Entry, w evaluators.Wait) bool {
	looked := slices.ContainsFunc(l.Annotations, func(a string) bool { return strings.HasPrefix(a, crawllog.Look) })
	h.Restless = w.Evaluator == WaitRestless || w.Evaluator == WaitSecondLook && h.Restless && !looked
	look := evaluators.Look{}
	if h.Restless {
		look = evaluators.Look{Finding: evaluators.Restless, Since: l.Logged.UTC().Truncate(time.Second)}
		h.Memory, h.Wait, h.Rate = "", w.Interval, RestlessRate
	} else if slices.Contains(l.Annotations, crawllog.Look+evaluators.LookSame.String()) {
		look = evaluators.Look{Finding: evaluators.Live, Since: l.Logged.UTC().Truncate(time.Second)}
	}
	h.Look = look.Bytes()
	return looked || h.Restless
}

// visitOf returns the visit that a line describes. known is the record that held the payload before.
func visitOf(l crawllog.Entry, extra crawllog.Extra, known digest.Origin) Visit {
	v := Visit{
		Status: l.Status, State: stateNamed(extra.ContentState), Gone: extra.WaitEvaluator == WaitGone,
		Unread: l.Status == http.StatusNotModified || slices.Contains(l.Annotations, crawllog.MidFetchAbort),
	}
	v.Failed = extra.Misfortune != "" || extra.ChangeReason == Unconfirmed || extra.WaitEvaluator == WaitRetry ||
		extra.ChangeReason != "" && slices.Contains(l.Annotations, extra.ChangeReason)
	block := ""
	if slices.Contains(l.Annotations, extra.ChangeReason) {
		block = extra.ChangeReason
	}
	if v.Error = ErrorText(extra.Misfortune, block); !v.Failed {
		v.Error = ""
	}
	if v.Unread {
		return v
	}
	cut := slices.ContainsFunc(l.Annotations, func(a string) bool {
		return a == crawllog.LengthTruncated || a == crawllog.TimeTruncated
	})
	v.Body = Body{Complete: !cut, ContentType: l.MIME, Payload: l.Digest, Size: max(l.Size, 0)}
	v.Body.Origin = originOf(l, extra, v.Body.Size, known)
	return v
}

// originOf returns the record that holds the payload of a visit. It returns the zero value if the line names no
// record, or the known one: more is known about that one than the line holds.
func originOf(l crawllog.Entry, extra crawllog.Extra, size int64, known digest.Origin) digest.Origin {
	switch {
	case extra.RevisitProfile != "":
		date, err := time.Parse(time.RFC3339Nano, extra.RevisitRefersToDate)
		if err != nil || known.URI == extra.RevisitRefersToURI && sameMillisecond(known.Date, date) {
			return digest.Origin{}
		}
		return digest.Origin{URI: extra.RevisitRefersToURI, Date: date, Payload: l.Digest, Size: size}
	case extra.WARCFile != "":
		return digest.Origin{
			URI: l.URI, Date: l.Started, Payload: l.Digest, File: extra.WARCFile, Offset: extra.WARCOffset, Size: size,
		}
	}
	return digest.Origin{}
}

func sameMillisecond(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// stateNamed returns the content state of a name in crawl.log.
func stateNamed(name string) evaluators.State {
	for _, s := range []evaluators.State{evaluators.Unchanged, evaluators.Changed} {
		if s.String() == name {
			return s
		}
	}
	return evaluators.Unknown
}
