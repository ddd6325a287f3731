package crawler

import (
	"net/http"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// warcDate is the form of a time in WARC records, to the microsecond.
const warcDate = "2006-01-02T15:04:05.000000Z"

// logEntry returns the crawl.log entry of a visit.
func (c *Crawler) logEntry(v *aspects.Visit, now time.Time) crawllog.Entry {
	r, got := v.Record(), v.Capture
	e := crawllog.Entry{
		Logged: now, Status: got.Status, Size: got.PayloadSize, URI: r.URI.String(), Hops: r.Hops, Via: r.Via,
		MIME: got.Header.Get("Content-Type"), Worker: v.Worker, Started: got.Started, Took: got.Took, Seed: r.Seed,
		Digest: payloadDigest(v.Capture), Annotations: append(c.annotations(v), v.Next.Wait.Notes()...),
		Schedule: &crawllog.Schedule{
			Tries: v.Next.Record.Failures, Wait: v.Next.Wait.Interval,
			Visits: v.Next.Record.Visits, Versions: v.Next.Record.Versions,
			Overdue: v.Claim.Overdue,
		},
		Extra: &crawllog.Extra{
			ContentSize: got.BlockSize, ContentState: v.Verdict.State.String(), ChangeReason: v.Verdict.Reason,
			WaitEvaluator: v.Next.Wait.Evaluator, WaitReason: v.Next.Wait.Reason, Due: v.Next.Record.Due,
			ChangesPerDay: v.Next.Wait.PerDay, MissedShare: v.Next.Wait.Missed, NewVersions: v.Next.Wait.Versions,
		},
	}
	if got.Status < 0 {
		e.Size = -1
	}
	if v.Verdict.First {
		e.Extra.Kind = int(v.Next.Wait.Kind)
	}
	if r.Visits == 0 {
		e.Extra.FirstSeen = r.FirstSeen
	}
	if born := v.Next.Record.Born; r.Visits == 0 || !born.Equal(r.Born) {
		e.Extra.Born = born
	}
	if misfortune.HostDown(got.Status) {
		e.Started = time.Time{} // no exchange took place
	}
	if got.Misfortune != nil {
		e.Extra.Misfortune = got.Misfortune.Error()
	}
	if v.Kept.Keeping != aspects.KeptNothing && v.Kept.Keeping != aspects.KeptThinned {
		e.Extra.WARCFile, e.Extra.WARCOffset = v.Kept.Record.File, v.Kept.Record.Offset
	}
	if profile, ok := profileOf(v.Kept.Keeping); ok {
		e.Extra.RevisitRefersToURI = v.Kept.Origin.URI
		e.Extra.RevisitRefersToDate = v.Kept.Origin.Date.UTC().Format(warcDate)
		e.Extra.RevisitProfile = profile.String()
		e.Digest = v.Kept.Origin.Payload
	}
	return e
}

// log writes the crawl.log line of a visit. A panic becomes an error; nothing is in the log then.
func (c *Crawler) log(v *aspects.Visit) error {
	e, err := panics.Catch(func() (crawllog.Entry, error) {
		c.step("logging")
		return c.logEntry(v, c.parts.Now()), nil
	})
	if err != nil {
		return err
	}
	return c.parts.CrawlLog.Write(e)
}

// bareEntry returns the crawl.log entry of a visit for which no better one could be composed.
func bareEntry(v *aspects.Visit, now time.Time) crawllog.Entry {
	r, got := v.Record(), v.Capture
	return crawllog.Entry{
		Logged: now, Status: got.Status, Size: -1, URI: r.URI.String(), Worker: v.Worker, Started: got.Started,
		Took: got.Took, Annotations: []string{"err=" + v.Fault.Error()},
		Schedule: &crawllog.Schedule{
			Tries: v.Next.Record.Failures, Wait: v.Next.Wait.Interval,
			Visits: v.Next.Record.Visits, Versions: v.Next.Record.Versions,
		},
	}
}

// usualNotes is the usual number of annotations of a visit, estimates included.
const usualNotes = 8

// annotations returns the annotations of a visit, without estimates and without the adaptive schedule.
func (c *Crawler) annotations(v *aspects.Visit) []string {
	notes := make([]string, 0, usualNotes)
	for _, s := range c.order.notes {
		notes = s.do(v, notes)
	}
	return notes
}

// noteKept appends what the archive has of a visit.
func noteKept(v *aspects.Visit, notes []string) []string {
	switch v.Capture.Truncated {
	case fetch.TruncatedLength:
		notes = append(notes, crawllog.LengthTruncated)
	case fetch.TruncatedTime:
		notes = append(notes, crawllog.TimeTruncated)
	}
	switch v.Kept.Keeping {
	case aspects.KeptRevisit:
		notes = append(notes, crawllog.DuplicateDigest)
	case aspects.KeptNotModified:
		notes = append(notes, crawllog.DuplicateNotModified)
	case aspects.KeptThinned:
		notes = append(notes, crawllog.Unwritten)
	case aspects.KeptEvidence:
		notes = append(notes, crawllog.Evidence)
	case aspects.KeptNothing, aspects.KeptHead:
		if v.Capture.Status > 0 && !payloadDigest(v.Capture).IsZero() {
			notes = append(notes, crawllog.UnwrittenFor+whyUnwritten(v))
		}
	}
	if v.Kept.Looked {
		notes = append(notes, crawllog.Hit+v.Kept.Hit.String())
	}
	if n := spared(v); n > 0 {
		notes = append(notes, crawllog.Spared+strconv.FormatInt(n, 10))
	}
	return notes
}

// whyUnwritten returns why a whole answer has neither a response nor a revisit record.
func whyUnwritten(v *aspects.Visit) string {
	switch {
	case v.Fault != nil:
		return "fault"
	case !warcout.IsResponse(v.Capture.Head):
		return "evidence"
	case v.Compared.Rules != 0:
		return "scrubbed"
	}
	return "coding"
}

// noteDropped appends how many links were beyond the page's limit.
func noteDropped(v *aspects.Visit, notes []string) []string {
	if v.Found.Dropped > 0 {
		notes = append(notes, "dol:"+strconv.Itoa(v.Found.Dropped))
	}
	return notes
}

// noteRepaired appends how many lines of the head were repaired.
func noteRepaired(v *aspects.Visit, notes []string) []string {
	if n := v.Capture.Repaired; n > 0 {
		notes = append(notes, "head:"+strconv.Itoa(n))
	}
	return notes
}

// noteChange appends whether the page is unchanged, and whether its download was stopped for that.
func noteChange(v *aspects.Visit, notes []string) []string {
	if v.Capture.Stopped {
		notes = append(notes, crawllog.MidFetchAbort)
	}
	if v.Verdict.State == evaluators.Unchanged {
		notes = append(notes, crawllog.Unchanged)
	}
	return notes
}

// spared returns the bytes of payload that did not have to be transferred, estimated from the last capture.
func spared(v *aspects.Visit) int64 {
	if got := v.Capture; got.Stopped || got.Status == http.StatusNotModified && v.Request.Conditional() {
		return max(0, v.Record().Size-(got.BlockSize-int64(len(got.Head))))
	}
	return 0
}

// Report describes one settled visit.
type Report struct {
	URI      uri.URI
	Hops     uri.HopPath
	Finished time.Time
	Status   int // HTTP status, or a negative code of Heritrix
	Verdict  evaluators.Verdict
	Failed   bool   // a misfortune: nothing that was learned has changed
	Error    string // why it failed; empty if the status says enough
	Block    string // the kind of answer that came instead of the page, see [evaluators.Block]; empty = the page came
	Fault    string // why the document could not be processed; empty = it could
	Repaired bool   // the head of the response was not valid HTTP and was repaired before it was parsed
	// FaultKind is the kind of Fault: [faults.KindError] or [faults.KindPanic].
	FaultKind string
	Stopped   bool               // the mid-fetch filter stopped the download
	NoSpace   bool               // the body was not received, for lack of disk space or because of a daily quota
	Audit     bool               // the body was read although the headers would have vouched for it
	Looked    bool               // the visit was a second look
	Look      evaluators.Outcome // of a second look
	Kept      Keeping
	Received  int64 // bytes of the response that were transferred
	Spared    int64 // bytes of payload that did not have to be transferred, estimated from the last capture
	Deduped   int64 // bytes of payload that were transferred and did not have to be stored
	Wait      evaluators.Wait
	Due       time.Time
	Visits    int
	Versions  int
	Type      string        // Content-Type of the answer
	Title     string        // of a page whose content is new; empty = unknown
	Found     int           // new URIs
	Source    feeds.Result  // what a feed or sitemap brought
	Written   int64         // compressed bytes added to the archive
	Took      time.Duration // of the exchange; zero = there was none
	Rest      time.Duration // of the host's slot after the visit, for politeness
	Rendered  any           // what the wait followed from, see [aspects.Rendered]; nil unless the settings want it
	Archived  *Archived     // a later version of the URI that was archived; nil if there is none
}

// Archived says where a version of a URI is in the archive, and the version before it.
type Archived struct {
	Before, After digest.Origin // records that hold the payloads; their heads may be of other captures
	Location      string        // where a redirect leads
}

// archivedBy returns the version that a visit archived, if the archive has a different one before it.
func archivedBy(v *aspects.Visit) *Archived {
	before, after := v.Record(), v.Next.Record
	changed := v.Verdict.State == evaluators.Changed && !v.Verdict.First && !v.Failed && !v.IsRobots
	if !changed || before.Origin.IsZero() || after.Origin.IsZero() {
		return nil
	}
	return &Archived{Before: before.Origin, After: after.Origin, Location: after.Location}
}

// IsForbidden reports whether a status means that robots.txt forbids the URI, so that it was not visited.
func IsForbidden(status int) bool { return status == aspects.StatusForbidden }

// KeptOut returns in words what kept a URI from being visited when it was due last; "" if it was visited.
func KeptOut(r frontier.Record) string {
	if r.LastStatus != aspects.StatusForbidden && r.LastStatus != aspects.StatusOutOfScope {
		return ""
	}
	if text := Words(r.Why); text != r.Why {
		return text
	}
	if IsForbidden(r.LastStatus) { // something made the URI due again since
		return Words(robots.Forbidden)
	}
	return Words(scope.Refused)
}

// SourceKind returns in words which kind of feed or sitemap a URI is; "" for all others.
func SourceKind(r frontier.Record) string {
	s, err := feeds.OpenState([]byte(r.Source))
	if err != nil || !s.IsSource() || s.Kind == feeds.Awaited {
		return ""
	}
	return s.Kind.String()
}

// Down reports whether the visit's host could not be reached.
func (r Report) Down() bool { return misfortune.HostDown(r.Status) }

// reportOf returns the report of a settled visit.
func reportOf(v *aspects.Visit, added frontier.Added, rest time.Duration) Report {
	got, before := v.Capture, v.Record()
	r := Report{
		URI: v.URI(), Hops: before.Hops, Finished: v.Finished, Status: got.Status,
		Verdict: v.Verdict, Failed: v.Failed, Error: v.Next.Record.LastError, Block: v.Block,
		Stopped: got.Stopped, NoSpace: got.Refused, Audit: v.Request.Audit != "",
		Kept: v.Kept.Keeping, Written: v.Kept.Written, Received: got.BlockSize, Spared: spared(v),
		Wait: v.Next.Wait, Due: v.Next.Record.Due, Visits: v.Next.Record.Visits, Versions: v.Next.Record.Versions,
		Found: added.New, Source: feeds.ResultOf(v), Repaired: got.Repaired > 0, Took: got.Took, Rest: rest,
		Title: v.Found.Title, Archived: archivedBy(v),
		Type: got.Header.Get("Content-Type"), Rendered: aspects.Of[own](v).facts,
	}
	r.Looked, r.Look = noise.IsSecondLook(*before), noise.OutcomeOf(v)
	if v.Fault != nil {
		r.Fault, r.FaultKind = v.Fault.Error(), misfortune.KindOf(v.Fault)
	}
	again := v.Kept.Keeping == aspects.KeptRevisit || v.Kept.Keeping == aspects.KeptThinned
	if got.Status != http.StatusNotModified && again {
		r.Deduped = got.PayloadSize
	}
	return r
}
