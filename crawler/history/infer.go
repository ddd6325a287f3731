package history

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// WaitInferred is the name of a wait whose rule is not known, because the visit was logged without its thirteenth
// column.
const WaitInferred = "rebuild"

// Infer returns the line of a visit with the part of the thirteenth column that follows from the other columns, and
// from the entry of the URI before the visit. It returns lines that have the column, and lines without a request,
// unchanged.
//
// Unknown remain: the place of the record, and which rule decided the wait. The due time is at most some seconds too
// late, because it is counted from the end of the visit; a visit that was to follow up a feed entry can come later.
func Infer(before frontier.Entry, l crawllog.Entry) crawllog.Entry {
	if l.Extra != nil || l.Schedule == nil || l.Status == aspects.StatusForbidden || l.Status == aspects.StatusOutOfScope {
		return l
	}
	x := crawllog.Extra{WaitEvaluator: WaitInferred, WaitReason: "logged without log.extra_info"}
	state := evaluators.Unknown
	if slices.Contains(l.Annotations, crawllog.Unchanged) {
		state = evaluators.Unchanged
	} else if l.Schedule.Versions > before.Versions {
		state = evaluators.Changed
	}
	x.ContentState = state.String()
	isRobots := robots.IsFile(before.URI)
	gone := !isRobots && (l.Status == http.StatusNotFound || l.Status == http.StatusGone)
	switch {
	case gone && state != evaluators.Unknown:
		x.WaitEvaluator = misfortune.WaitGone
	case gone:
		x.WaitEvaluator, x.ChangeReason = misfortune.WaitGone, misfortune.Unconfirmed
	case state == evaluators.Unknown && !isRead(l):
		x.WaitEvaluator, x.Misfortune = misfortune.WaitRetry, misfortuneOf(l)
	case slices.Contains(l.Annotations, crawllog.Restless):
		x.WaitEvaluator = noise.WaitRestless
	}
	if isRobots && before.Due.IsZero() {
		x.WaitEvaluator = robots.Wait // the URIs of the host ask for it when they need it
	} else {
		x.Due = l.Logged.Add(max(l.Schedule.Wait, AskedFor(l)))
	}
	l.Extra = &x
	return l
}

// isRead reports whether a visit whose content was not judged succeeded nevertheless: its body was cut at our limit,
// the headers were enough, or they contradict each other.
func isRead(l crawllog.Entry) bool {
	return slices.ContainsFunc(l.Annotations, func(a string) bool {
		return a == crawllog.LengthTruncated || a == crawllog.MidFetchAbort || a == crawllog.DuplicateNotModified ||
			a == crawllog.Unwritten
	})
}

// misfortuneOf returns the text of the annotation that says what went wrong.
func misfortuneOf(l crawllog.Entry) string {
	for _, a := range l.Annotations {
		if text, ok := strings.CutPrefix(a, "err="); ok {
			return text
		}
	}
	return ""
}

// AskedFor returns how long after a visit the server wants no request, according to its line.
func AskedFor(l crawllog.Entry) time.Duration {
	for _, a := range l.Annotations {
		if text, ok := strings.CutPrefix(a, crawllog.Asked); ok {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}
