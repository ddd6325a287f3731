package crawler

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/warcout"
)

// Keeping is the kind of record that a visit left in the archive.
type Keeping uint8

// The values of Keeping.
const (
	KeptNothing     Keeping = iota // no byte came back, or nothing that is not in the archive already
	KeptResponse                   // the whole response
	KeptRevisit                    // a revisit record: the payload is in the archive already
	KeptNotModified                // a revisit record: the server said 304
	KeptHead                       // only the response's head, in a metadata record
	KeptThinned                    // nothing: the settings do not want the revisit record that would have been true
	KeptEvidence                   // the whole answer, in a metadata record: its head cannot be in a response record
)

// String returns a word for people.
func (k Keeping) String() string {
	return [...]string{"nothing", "response", "revisit", "not modified", "head", "thinned", "evidence"}[k]
}

// profile returns the profile of the revisit record of k. It returns false if k is not about a revisit record.
func (k Keeping) profile() (warcout.Profile, bool) {
	switch k {
	case KeptRevisit:
		return warcout.IdenticalPayload, true
	case KeptNotModified:
		return warcout.NotModified, true
	}
	return 0, false
}

// archived describes the records of a visit in the archive.
type archived struct {
	keeping Keeping
	record  digest.Origin // the main record written; zero for KeptNothing
	origin  digest.Origin // the record that holds the payload: record for a response, an earlier one for a revisit
	written int64         // compressed bytes
	looked  bool          // the archive was searched for the payload
	hit     dedup.Hit     // the result of that search
	unsound bool          // the record found is damaged, or may not be the origin; the new record replaces it
}

// archive decides which record a visit gets, and writes it. When archive returns, the record is on disk. If the visit
// cannot be archived as it should, the visit that is returned has the fault. An error is ours.
func (c *Crawler) archive(v visit, s settings) (visit, archived, error) {
	a, err := c.smallestRecord(v, s)
	if err != nil && !misfortune.IsOurs(err) {
		v, a, err = v.broken(err), archived{keeping: KeptResponse}, nil
	}
	if err != nil || a.keeping == KeptNothing || a.keeping == KeptThinned {
		return v, a, err
	}
	w, err := c.write(v, s, a)
	if err != nil {
		return c.writeOther(v, s, a, err)
	}
	a.record, a.written = w.Origin, w.Bytes
	if a.keeping == KeptResponse && !payloadDigest(v.capture).IsZero() && w.IsResponse {
		a.origin = w.Origin
	}
	return v, a, nil
}

// write writes the records of a visit.
func (c *Crawler) write(v visit, s settings, a archived) (warcout.Written, error) {
	record, err := panics.Catch(func() (warcout.Visit, error) {
		c.step("archiving")
		return c.recordOf(v, a), nil
	})
	if err != nil {
		return warcout.Written{}, err
	}
	record.Series = s.Dedup.Series
	return c.parts.Archive.Write(c.parts.Now(), record)
}

// smallestRecord finds the smallest true record of a visit.
func (c *Crawler) smallestRecord(v visit, s settings) (a archived, err error) {
	defer panics.Recover(&err)
	r, got := v.record(), v.capture
	switch {
	case got.Status == http.StatusNotModified && !v.failed:
		return thinned(v, s.Dedup, archived{keeping: KeptNotModified, origin: r.Origin}), nil
	case got.Stopped, got.Refused, got.Status < 0 && len(got.Head) > 0:
		return archived{keeping: KeptHead}, nil
	case got.Status < 0:
		return archived{keeping: KeptNothing}, nil
	case !warcout.IsResponse(got.Head):
		return thinned(v, s.Dedup, evidence(v)), nil
	case payloadDigest(v.capture).IsZero():
		return archived{keeping: KeptResponse}, nil
	}
	a, err = c.findDuplicate(v, s.Dedup)
	a.looked = isDeduplicated(v, s.Dedup) && got.PayloadSize > 0
	if err != nil || a.keeping != KeptNothing {
		return thinned(v, s.Dedup, a), err
	}
	if s.Dedup.IsSmall(got.PayloadSize) && hasOldPayload(v) && c.isArchived(r, s.Dedup) {
		return thinned(v, s.Dedup, archived{keeping: KeptResponse, looked: a.looked}), nil
	}
	if isKnown(v) && c.isArchived(r, s.Dedup) && !hasOldPayload(v) && !keepsScrubbed(v, s.Change) &&
		!s.Dedup.TooOld(r.Origin.Date, got.Started) {
		// The content is the same in another coding, for example gzip with another time stamp, or differs only in
		// scrubbed parts. Nothing new needs to be archived, and a revisit record cannot be written, because the
		// original has another payload digest.
		return archived{keeping: KeptNothing, looked: a.looked}, nil
	}
	return archived{keeping: KeptResponse, looked: a.looked}, nil
}

// evidence returns the record of an answer whose head readers of WARC files do not accept: the whole answer if its
// content is new, otherwise its head. No later revisit refers to it.
func evidence(v visit) archived {
	if v.capture.Complete && isKnown(v) {
		return archived{keeping: KeptHead}
	}
	return archived{keeping: KeptEvidence}
}

// isArchived reports whether the series of a URI has its last payload.
func (c *Crawler) isArchived(r frontier.Record, p dedup.Policy) bool {
	return !r.Origin.IsZero() && !c.parts.Dedup.Lost(r.Origin) && !c.parts.Dedup.Apart(p, r.Origin)
}

// isKnown reports whether a visit found the content that the last capture had.
func isKnown(v visit) bool { return v.verdict.State == evaluators.Unchanged && !v.verdict.First }

// keepsScrubbed reports whether the settings ask to archive a payload that differs from the archived one only in
// scrubbed parts.
func keepsScrubbed(v visit, s config.Change) bool {
	keep := s.KeepScrubbed
	if s.Mode == config.Strict && !v.look.Quiet() || !keep.Response {
		return false
	}
	return keep.Every == 0 || v.capture.Started.Sub(v.record().Origin.Date) >= keep.Every
}

// recordOf returns a visit in the form that the archive's writer accepts.
func (c *Crawler) recordOf(v visit, a archived) warcout.Visit {
	got := v.capture
	w := warcout.Visit{URI: v.uri(), Date: got.Started, IP: got.IP, Request: got.Request, Metadata: metadataOf(v, a)}
	if s := got.Security; s != nil {
		w.Security = &warcout.Security{Protocol: misfortune.Protocol(got), Version: s.Version, CipherSuite: s.CipherSuite}
	}
	switch a.keeping {
	case KeptResponse, KeptEvidence:
		w.Response = &warcout.Response{
			Block: got.Block(), Size: got.BlockSize, BlockDigest: got.BlockDigest,
			PayloadSize: got.PayloadSize, PayloadDigest: storedDigest(v.capture), PayloadSHA256: got.SHA256,
			Truncated: string(got.Truncated),
		}
	case KeptRevisit:
		w.Revisit = &warcout.Revisit{
			Profile: warcout.IdenticalPayload, Head: got.Head, Origin: a.origin, Container: c.parts.Dedup.Container(a.origin),
			Truncated: string(got.Truncated),
		}
	case KeptNotModified:
		w.Revisit = &warcout.Revisit{
			Profile: warcout.NotModified, Origin: a.origin, Container: c.parts.Dedup.Container(a.origin),
			ETag: got.Header.Get("ETag"), LastModified: got.Header.Get("Last-Modified"),
		}
		w.Head = got.Head
	case KeptHead:
		w.Head = got.Head
	}
	return w
}

// metadataOf returns the fields of a visit's metadata record: how the URI was found and the result of the visit. The
// first names are those that Heritrix writes, for the tools that know them.
func metadataOf(v visit, a archived) []warcout.Field {
	r, got := v.record(), v.capture
	sum := ""
	if (a.keeping == KeptResponse || a.keeping == KeptEvidence) && !storedDigest(got).IsZero() {
		sum = got.SHA256.String()
	}
	fields := []warcout.Field{
		{Name: "seed", Value: r.Seed},
		{Name: "via", Value: r.Via},
		{Name: "hopsFromSeed", Value: string(r.Hops)},
		{Name: "visitReason", Value: history.ASCII(history.VisitReason(r))},
		{Name: "fetchTimeMs", Value: strconv.FormatInt(got.Took.Milliseconds(), 10)},
		{Name: "contentState", Value: v.verdict.State.String()},
		{Name: "contentStateReason", Value: history.ASCII(v.verdict.Reason)},
		{Name: history.PayloadSHA256, Value: sum},
	}
	fields = v.req.Metadata(fields, got)
	if v.block != "" {
		fields = append(fields, warcout.Field{Name: "standsIn", Value: v.block})
	}
	if got.Stopped {
		fields = append(fields, warcout.Field{Name: "midFetchAbort", Value: "true"})
	}
	if v.compared.Rules != 0 {
		fields = append(fields, warcout.Field{Name: "comparisonDigest", Value: v.compared.Sum.String()},
			warcout.Field{Name: "comparisonRules", Value: strconv.FormatUint(v.compared.Rules, 16)})
	}
	if got.Misfortune != nil {
		fields = append(fields, warcout.Field{Name: "misfortune", Value: got.Misfortune.Error()})
	}
	if !got.ContentDigest.IsZero() && got.ContentDigest != got.PayloadDigest {
		fields = append(fields, warcout.Field{Name: "contentDigest", Value: got.ContentDigest.String()})
	}
	filled := fields[:0]
	for _, f := range fields {
		if strings.TrimSpace(f.Value) != "" {
			filled = append(filled, f)
		}
	}
	return filled
}

// archiveLookup archives the addresses that a host name resolved to, if they are new.
func (c *Crawler) archiveLookup(got *fetch.Capture, s settings) error {
	if len(got.Lookup) == 0 || !s.config.DNSRecords {
		return nil
	}
	host := got.URI.Hostname()
	name := host // the ports of a host may be in several series
	if s.Dedup.Series != "" {
		name += " in " + s.Dedup.Series
	}
	if !c.resolved.Changed(name, got.Lookup, got.Started) {
		return nil
	}
	found := warcout.Lookup{Series: s.Dedup.Series, Host: host, Date: got.Started, Addresses: got.Lookup, TTLs: got.TTLs}
	w, err := c.parts.Archive.WriteLookup(c.parts.Now(), found)
	if err != nil {
		c.resolved.Forget(name)
		return err
	}
	c.index(Captured{Record: w.Origin, ContentType: "text/dns"})
	return nil
}

// notifyIndex notifies the index of the archive of a new capture.
func (c *Crawler) notifyIndex(v visit, a archived) {
	_, revisit := a.keeping.profile()
	if a.keeping != KeptResponse && !revisit {
		return
	}
	captured := Captured{
		Record: a.record, Status: v.capture.Status, ContentType: v.capture.Header.Get("Content-Type"),
	}
	if revisit {
		captured.Original = a.origin
	}
	if a.keeping == KeptNotModified {
		captured.Status, captured.ContentType = 0, "" // the head of a 304 is evidence, in a record of its own
	}
	c.index(captured)
}

// index notifies the index of the archive. Index errors do not stop the crawl.
func (c *Crawler) index(captured Captured) {
	if err := c.parts.IndexCapture(captured); err != nil {
		c.parts.Log.Error().Err(err).Msg("could not index a capture: the index is incomplete until the next start")
	}
}
