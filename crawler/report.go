package crawler

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

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
		Title: v.Found.Title,
		Type:  got.Header.Get("Content-Type"), Rendered: aspects.Of[own](v).facts,
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
