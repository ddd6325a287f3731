package crawler

import (
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// logEntry is the line of crawl.log that tells of a visit.
func logEntry(v visit, k kept, f found, n next, worker int) crawllog.Entry {
	r, got := v.record(), v.capture
	e := crawllog.Entry{
		Logged: time.Now(), Status: got.Status, Size: got.PayloadSize, URI: r.URI.String(), Hops: r.Hops, Via: r.Via,
		MIME: got.Header.Get("Content-Type"), Worker: worker, Started: got.Started, Took: got.Took, Seed: r.Seed,
		Digest: got.PayloadDigest, Annotations: append(annotations(v, k, f, n), estimates(n.wait)...),
		Schedule: &crawllog.Schedule{
			Tries: n.record.Failures, Wait: n.wait.Interval, Visits: n.record.Visits, Versions: n.record.Versions, Overdue: v.claim.Overdue,
		},
		Extra: &crawllog.Extra{
			ContentSize: got.BlockSize, ContentState: v.verdict.State.String(), ChangeReason: v.verdict.Reason,
			WaitEvaluator: n.wait.Evaluator, WaitReason: n.wait.Reason, Due: n.record.Due,
			ChangesPerDay: n.wait.PerDay, MissedShare: n.wait.Missed, NewVersions: n.wait.Versions,
		},
	}
	if got.Status < 0 {
		e.Size = -1
	}
	if hostDown(got.Status) {
		e.Started = time.Time{} // nothing was exchanged
	}
	if got.Misfortune != nil {
		e.Extra.Misfortune = got.Misfortune.Error()
	}
	if k.keeping != KeptNothing && k.keeping != KeptThinned {
		e.Extra.WARCFile, e.Extra.WARCOffset = k.record.File, k.record.Offset
	}
	if profile, ok := k.keeping.profile(); ok {
		e.Extra.RevisitRefersToURI = k.origin.URI
		e.Extra.RevisitRefersToDate = k.origin.Date.UTC().Format(warcDate)
		e.Extra.RevisitProfile = profile.String()
		e.Digest = k.origin.Payload
	}
	return e
}

// warcDate is how WARC records write a time, to the microsecond.
const warcDate = "2006-01-02T15:04:05.000000Z"

// profile is the kind of revisit record that a keeping means, if it means one.
func (k Keeping) profile() (warcout.Profile, bool) {
	switch k {
	case KeptRevisit:
		return warcout.IdenticalPayload, true
	case KeptNotModified:
		return warcout.NotModified, true
	}
	return 0, false
}

// estimates are the notes of what a rule expects of the URI, if it does.
func estimates(w evaluators.Wait) []string {
	if !(w.PerDay > 0) {
		return nil
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
	notes := []string{"chg:" + number(w.PerDay), "miss:" + number(w.Missed)}
	if w.Versions > 0 {
		notes = append(notes, "new:"+number(w.Versions))
	}
	return notes
}

// usualNotes is how many notes a visit has, with those of what is expected.
const usualNotes = 8

// annotations are the notes of a visit; those of the adaptive revisits follow by themselves.
func annotations(v visit, k kept, f found, n next) []string {
	notes := make([]string, 0, usualNotes)
	switch v.capture.Truncated {
	case fetch.TruncatedLength:
		notes = append(notes, crawllog.LengthTruncated)
	case fetch.TruncatedTime:
		notes = append(notes, crawllog.TimeTruncated)
	}
	switch k.keeping {
	case KeptRevisit:
		notes = append(notes, crawllog.DuplicateDigest)
	case KeptNotModified:
		notes = append(notes, crawllog.DuplicateNotModified)
	case KeptThinned:
		notes = append(notes, crawllog.Unwritten)
	}
	if k.looked {
		notes = append(notes, crawllog.Hit+k.hit.String())
	}
	if n := spared(v); n > 0 {
		notes = append(notes, crawllog.Spared+strconv.FormatInt(n, 10))
	}
	if f.dropped > 0 {
		notes = append(notes, "dol:"+strconv.Itoa(f.dropped))
	}
	notes = append(notes, n.told.Notes()...)
	if v.capture.Misfortune != nil {
		notes = append(notes, "err="+v.capture.Misfortune.Error())
	}
	if v.block != "" {
		notes = append(notes, v.block)
	}
	if v.asked.audit != "" {
		notes = append(notes, "audit")
	}
	if n.timing.by != "" && len(n.wait.Memory) > 0 {
		notes = append(notes, "dated:"+strings.ReplaceAll(n.timing.by, " ", "_"))
	}
	if v.capture.Stopped {
		notes = append(notes, crawllog.MidFetchAbort)
	}
	if v.verdict.State == evaluators.Unchanged {
		notes = append(notes, crawllog.Unchanged)
	}
	return notes
}

// spared is how many bytes of payload the headers saved the host to send and us to read, going by the last capture.
func spared(v visit) int64 {
	if got := v.capture; got.Stopped || got.Status == statusNotModified && v.asked.conditional() {
		return max(0, v.record().Size-(got.BlockSize-int64(len(got.Head))))
	}
	return 0
}
