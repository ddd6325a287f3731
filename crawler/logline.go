package crawler

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/render/rendered"
)

// warcDate is the form of a time in WARC records, to the microsecond.
const warcDate = "2006-01-02T15:04:05.000000Z"

// logEntry returns the crawl.log entry of a visit.
func logEntry(v visit, a archived, f findings, s schedule, worker int, now time.Time) crawllog.Entry {
	r, got := v.record(), v.capture
	e := crawllog.Entry{
		Logged: now, Status: got.Status, Size: got.PayloadSize, URI: r.URI.String(), Hops: r.Hops, Via: r.Via,
		MIME: got.Header.Get("Content-Type"), Worker: worker, Started: got.Started, Took: got.Took, Seed: r.Seed,
		Digest: payloadDigest(v.capture), Annotations: append(annotations(v, a, f, s), s.wait.Notes()...),
		Schedule: &crawllog.Schedule{
			Tries: s.record.Failures, Wait: s.wait.Interval, Visits: s.record.Visits, Versions: s.record.Versions,
			Overdue: v.claim.Overdue,
		},
		Extra: &crawllog.Extra{
			ContentSize: got.BlockSize, ContentState: v.verdict.State.String(), ChangeReason: v.verdict.Reason,
			WaitEvaluator: s.wait.Evaluator, WaitReason: s.wait.Reason, Due: s.record.Due,
			ChangesPerDay: s.wait.PerDay, MissedShare: s.wait.Missed, NewVersions: s.wait.Versions,
		},
	}
	if got.Status < 0 {
		e.Size = -1
	}
	if v.verdict.First {
		e.Extra.Kind = int(s.wait.Kind)
	}
	if r.Visits == 0 {
		e.Extra.FirstSeen = r.FirstSeen
	}
	if born := s.record.Born; r.Visits == 0 || !born.Equal(r.Born) {
		e.Extra.Born = born
	}
	if misfortune.HostDown(got.Status) {
		e.Started = time.Time{} // no exchange took place
	}
	if got.Misfortune != nil {
		e.Extra.Misfortune = got.Misfortune.Error()
	}
	if a.keeping != KeptNothing && a.keeping != KeptThinned {
		e.Extra.WARCFile, e.Extra.WARCOffset = a.record.File, a.record.Offset
	}
	if profile, ok := a.keeping.profile(); ok {
		e.Extra.RevisitRefersToURI = a.origin.URI
		e.Extra.RevisitRefersToDate = a.origin.Date.UTC().Format(warcDate)
		e.Extra.RevisitProfile = profile.String()
		e.Digest = a.origin.Payload
	}
	return e
}

// log writes the crawl.log line of a visit. A panic becomes an error; nothing is in the log then.
func (c *Crawler) log(v visit, a archived, f findings, s schedule, worker int) error {
	e, err := panics.Catch(func() (crawllog.Entry, error) {
		c.step("logging")
		return logEntry(v, a, f, s, worker, c.parts.Now()), nil
	})
	if err != nil {
		return err
	}
	return c.parts.CrawlLog.Write(e)
}

// bareEntry returns the crawl.log entry of a visit for which no better one could be composed.
func bareEntry(v visit, s schedule, worker int, now time.Time) crawllog.Entry {
	r, got := v.record(), v.capture
	return crawllog.Entry{
		Logged: now, Status: got.Status, Size: -1, URI: r.URI.String(), Worker: worker, Started: got.Started,
		Took: got.Took, Annotations: []string{"err=" + v.fault.Error()},
		Schedule: &crawllog.Schedule{
			Tries: s.record.Failures, Wait: s.wait.Interval, Visits: s.record.Visits, Versions: s.record.Versions,
		},
	}
}

// usualNotes is the usual number of annotations of a visit, estimates included.
const usualNotes = 8

// annotations returns the annotations of a visit, without estimates and without the adaptive schedule.
func annotations(v visit, a archived, f findings, s schedule) []string {
	notes := make([]string, 0, usualNotes)
	switch v.capture.Truncated {
	case fetch.TruncatedLength:
		notes = append(notes, crawllog.LengthTruncated)
	case fetch.TruncatedTime:
		notes = append(notes, crawllog.TimeTruncated)
	}
	switch a.keeping {
	case KeptRevisit:
		notes = append(notes, crawllog.DuplicateDigest)
	case KeptNotModified:
		notes = append(notes, crawllog.DuplicateNotModified)
	case KeptThinned:
		notes = append(notes, crawllog.Unwritten)
	case KeptEvidence:
		notes = append(notes, crawllog.Evidence)
	}
	if a.looked {
		notes = append(notes, crawllog.Hit+a.hit.String())
	}
	if n := spared(v); n > 0 {
		notes = append(notes, crawllog.Spared+strconv.FormatInt(n, 10))
	}
	if asked := s.asked.Sub(v.finished); asked > 0 {
		notes = append(notes, crawllog.Asked+strconv.FormatInt(int64((asked+time.Second-1)/time.Second), 10))
	}
	if f.dropped > 0 {
		notes = append(notes, "dol:"+strconv.Itoa(f.dropped))
	}
	notes = append(notes, s.source.Notes()...)
	if n := v.capture.Repaired; n > 0 {
		notes = append(notes, "head:"+strconv.Itoa(n))
	}
	if v.capture.Misfortune != nil {
		notes = append(notes, "err="+v.capture.Misfortune.Error())
	}
	if v.block != "" {
		notes = append(notes, v.block)
	}
	notes = append(notes, v.look.Notes(v.record())...)
	notes = append(notes, rendered.Notes(v.record())...)
	notes = v.req.Notes(notes, v.capture, v.askedOtherwise())
	if s.timing.By != "" && len(s.wait.Memory) > 0 {
		notes = append(notes, "dated:"+strings.ReplaceAll(s.timing.By, " ", "_"))
	}
	if v.capture.Stopped {
		notes = append(notes, crawllog.MidFetchAbort)
	}
	if v.verdict.State == evaluators.Unchanged {
		notes = append(notes, crawllog.Unchanged)
	}
	return notes
}

// spared returns the bytes of payload that did not have to be transferred, estimated from the last capture.
func spared(v visit) int64 {
	if got := v.capture; got.Stopped || got.Status == http.StatusNotModified && v.req.Conditional() {
		return max(0, v.record().Size-(got.BlockSize-int64(len(got.Head))))
	}
	return 0
}
