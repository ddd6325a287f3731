package crawler

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/warcout"
)

// Keeping is the kind of record that a visit left in the archive.
type Keeping = aspects.Keeping

// profileOf returns the profile of a revisit record. It returns false if k is not about one.
func profileOf(k aspects.Keeping) (warcout.Profile, bool) {
	switch k {
	case aspects.KeptRevisit:
		return warcout.IdenticalPayload, true
	case aspects.KeptNotModified:
		return warcout.NotModified, true
	}
	return 0, false
}

// archive decides which record a visit gets, and writes it. When archive returns, the record is on disk. If the visit
// cannot be archived as it should, it gets the fault. An error is ours.
func (c *Crawler) archive(v *aspects.Visit, s *settings) (err error) {
	a, err := c.smallestRecord(v, s)
	if err != nil && !misfortune.IsOurs(err) {
		v.Break(err)
		a, err = aspects.Kept{Keeping: aspects.KeptResponse}, nil
	}
	v.Kept = a
	if err != nil || a.Keeping == aspects.KeptNothing || a.Keeping == aspects.KeptThinned {
		return err
	}
	w, err := c.write(v, s, a)
	if err != nil {
		v.Kept, err = c.writeOther(v, s, a, err)
		return err
	}
	a.Record, a.Written = w.Origin, w.Bytes
	if a.Keeping == aspects.KeptResponse && !payloadDigest(v.Capture).IsZero() && w.IsResponse {
		a.Origin = w.Origin
	}
	v.Kept = a
	return nil
}

// write writes the records of a visit.
func (c *Crawler) write(v *aspects.Visit, s *settings, a aspects.Kept) (warcout.Written, error) {
	record, err := panics.Catch(func() (warcout.Visit, error) {
		c.step("archiving")
		return c.recordOf(v, a), nil
	})
	if err != nil {
		return warcout.Written{}, err
	}
	record.Series = s.Dedup.Series
	w, err := c.parts.Archive.Write(c.parts.Now(), record)
	w.Origin.Framing = v.Capture.Framing
	return w, err
}

// smallestRecord finds the smallest true record of a visit.
func (c *Crawler) smallestRecord(v *aspects.Visit, s *settings) (a aspects.Kept, err error) {
	defer panics.Recover(&err)
	r, got := v.Record(), v.Capture
	switch {
	case got.Status == http.StatusNotModified && !v.Failed:
		return thinned(v, s.Dedup, aspects.Kept{Keeping: aspects.KeptNotModified, Origin: r.Origin}), nil
	case got.Stopped, got.Refused, got.Status < 0 && len(got.Head) > 0 && !failedAlike(v):
		return aspects.Kept{Keeping: aspects.KeptHead}, nil
	case got.Status < 0:
		return aspects.Kept{Keeping: aspects.KeptNothing}, nil
	case !warcout.IsResponse(got.Head):
		return thinned(v, s.Dedup, evidence(v)), nil
	case got.OddFraming && got.Complete && isKnown(v):
		return aspects.Kept{Keeping: aspects.KeptNothing}, nil // no revisit can refer to the last record
	case payloadDigest(v.Capture).IsZero():
		return aspects.Kept{Keeping: aspects.KeptResponse}, nil
	}
	a, err = c.findDuplicate(v, s.Dedup)
	a.Looked = isDeduplicated(v, s.Dedup) && got.PayloadSize > 0
	if err != nil || a.Keeping != aspects.KeptNothing {
		return thinned(v, s.Dedup, a), err
	}
	if s.Dedup.IsSmall(got.PayloadSize) && hasOldPayload(v) && c.isArchived(r, s.Dedup) {
		return thinned(v, s.Dedup, aspects.Kept{Keeping: aspects.KeptResponse, Looked: a.Looked}), nil
	}
	if isKnown(v) && c.isArchived(r, s.Dedup) && !hasOldPayload(v) && !noise.KeepsScrubbed(v) &&
		!s.Dedup.TooOld(r.Origin.Date, got.Started) {
		// The content is the same in another coding, for example gzip with another time stamp, or differs only in
		// scrubbed parts. Nothing new needs to be aspects.Kept, and a revisit record cannot be written, because the
		// original has another payload digest.
		return aspects.Kept{Keeping: aspects.KeptNothing, Looked: a.Looked}, nil
	}
	return aspects.Kept{Keeping: aspects.KeptResponse, Looked: a.Looked}, nil
}

// evidence returns the record of an answer whose head readers of WARC files do not accept: the whole answer if its
// content is new, its head if a record of another kind has the content, and nothing if the last answer was the same. No
// later revisit refers to evidence.
func evidence(v *aspects.Visit) aspects.Kept {
	switch {
	case !isKnown(v):
		return aspects.Kept{Keeping: aspects.KeptEvidence}
	case v.Record().Evidence:
		return aspects.Kept{Keeping: aspects.KeptNothing}
	}
	return aspects.Kept{Keeping: aspects.KeptHead}
}

// failedAlike reports whether a visit failed as the last one did, with an answer that cannot be read. Its head is
// evidence already.
func failedAlike(v *aspects.Visit) bool {
	r := v.Record()
	return r.Failures > 0 && r.LastStatus == v.Capture.Status && r.LastError == v.ErrorText()
}

// isArchived reports whether the series of a URI has its last payload.
func (c *Crawler) isArchived(r *frontier.Record, p dedup.Policy) bool {
	return !r.Origin.IsZero() && !c.parts.Dedup.Lost(r.Origin) && !c.parts.Dedup.Apart(p, r.Origin)
}

// isKnown reports whether a visit found the content that the last capture had.
func isKnown(v *aspects.Visit) bool {
	return v.Verdict.State == evaluators.Unchanged && !v.Verdict.First
}

// recordOf returns a visit in the form that the archive's writer accepts.
func (c *Crawler) recordOf(v *aspects.Visit, a aspects.Kept) warcout.Visit {
	got := v.Capture
	w := warcout.Visit{URI: v.URI(), Date: got.Started, IP: got.IP, Request: got.Request, Metadata: metadataOf(v, a)}
	if s := got.Security; s != nil {
		w.Security = &warcout.Security{Protocol: misfortune.Protocol(got), Version: s.Version, CipherSuite: s.CipherSuite}
	}
	switch a.Keeping {
	case aspects.KeptResponse, aspects.KeptEvidence:
		w.Response = &warcout.Response{
			Block: got.Block(), Size: got.BlockSize, BlockDigest: got.BlockDigest, InMemory: got.InMemory(),
			PayloadSize: got.PayloadSize, PayloadDigest: storedDigest(v.Capture), PayloadSHA256: got.SHA256,
			Truncated: string(got.Truncated),
		}
	case aspects.KeptRevisit:
		w.Revisit = &warcout.Revisit{
			Profile: warcout.IdenticalPayload, Head: got.Head, Origin: a.Origin, Container: c.parts.Dedup.Container(a.Origin),
		}
	case aspects.KeptNotModified:
		w.Revisit = &warcout.Revisit{
			Profile: warcout.NotModified, Origin: a.Origin, Container: c.parts.Dedup.Container(a.Origin),
		}
		w.Head = got.Head
	case aspects.KeptHead:
		w.Head = got.Head
	}
	return w
}

// metadataOf returns the fields of a visit's metadata record: how the URI was found and the result of the visit. The
// first names are those that Heritrix writes, for the tools that know them.
func metadataOf(v *aspects.Visit, a aspects.Kept) []warcout.Field {
	r, got := v.Record(), v.Capture
	sum := ""
	if (a.Keeping == aspects.KeptResponse || a.Keeping == aspects.KeptEvidence) && !storedDigest(got).IsZero() {
		sum = got.SHA256.String()
	}
	state, reason := v.Verdict.State.String(), ascii(v.Verdict.Reason)
	if a.Keeping == aspects.KeptNotModified && isKnown(v) && reason == evaluators.NotModified {
		state, reason = "", "" // the revisit record says so
	}
	fields := []warcout.Field{
		{Name: "seed", Value: r.Seed},
		{Name: "via", Value: r.Via},
		{Name: "hopsFromSeed", Value: string(r.Hops)},
		{Name: "visitReason", Value: ascii(visitReason(*r))},
		{Name: "waitSec", Value: waitBefore(r)},
		{Name: "fetchTimeMs", Value: strconv.FormatInt(got.Took.Milliseconds(), 10)},
		{Name: "contentState", Value: state},
		{Name: "contentStateReason", Value: reason},
		{Name: PayloadSHA256, Value: sum},
	}
	fields = requestFields(v, fields)
	if v.Block != "" {
		fields = append(fields, warcout.Field{Name: "standsIn", Value: v.Block})
	}
	if got.Stopped {
		fields = append(fields, warcout.Field{Name: "midFetchAbort", Value: "true"})
	}
	if v.Compared.Rules != 0 {
		fields = append(fields, warcout.Field{Name: "comparisonDigest", Value: v.Compared.Sum.String()},
			warcout.Field{Name: "comparisonRules", Value: strconv.FormatUint(v.Compared.Rules, 16)})
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

// waitBefore returns the wait by which a visit was due, in seconds; empty if there was no visit before. With it the
// archive alone says how closely a page was followed.
func waitBefore(r *frontier.Record) string {
	if r.Visits == 0 || r.Wait <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(r.Wait/time.Second), 10)
}

// archiveLookup archives the addresses that a host name resolved to, if they are new.
func (c *Crawler) archiveLookup(got *fetch.Capture, s *settings) error {
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
func (c *Crawler) notifyIndex(v *aspects.Visit) {
	a := v.Kept
	_, revisit := profileOf(a.Keeping)
	if a.Keeping != aspects.KeptResponse && !revisit {
		return
	}
	captured := Captured{
		Record: a.Record, Status: v.Capture.Status, ContentType: v.Capture.Header.Get("Content-Type"),
	}
	if revisit {
		captured.Original = a.Origin
	}
	if a.Keeping == aspects.KeptNotModified {
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

// Bounds of what is remembered and archived.
const (
	maxHosts = 50_000
	// minApart is the minimum time between two records of a host. Some names have other addresses at each look-up.
	minApart = time.Hour
)

// resolvedHosts remembers the addresses of hosts. It is safe for concurrent use. The zero value remembers nothing.
type resolvedHosts struct {
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	addresses []netip.Addr
	at        time.Time // of the last record
}

// Changed reports whether a look-up of a host is to be archived: it is the first, or it found other addresses than the
// last one that was archived. addresses is sorted and must not change.
func (h *resolvedHosts) Changed(host string, addresses []netip.Addr, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, ok := h.known[host]
	if ok && (slices.Equal(before.addresses, addresses) || now.Sub(before.at) < minApart) {
		return false
	}
	if h.known == nil {
		h.known = map[string]known{}
	}
	for other := range h.known {
		if len(h.known) < maxHosts {
			break
		}
		delete(h.known, other) // any host: it is archived once more when it is looked up again
	}
	h.known[strings.Clone(host)] = known{addresses, now}
	return true
}

// Forget forgets a host whose look-up could not be archived, so that the next one is.
func (h *resolvedHosts) Forget(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, host)
}

// writeOther archives a visit whose record was refused: the whole answer in place of a revisit, or else nothing. A
// refused revisit is a fault of the original, which the whole answer replaces. An error is ours.
func (c *Crawler) writeOther(v *aspects.Visit, s *settings, a aspects.Kept, refused error) (aspects.Kept, error) {
	if a.Keeping == aspects.KeptRevisit {
		a = aspects.Kept{Keeping: aspects.KeptResponse, Looked: a.Looked, Unsound: true}
		w, err := c.write(v, s, a)
		if err == nil {
			v.Fault = refused
			a.Record, a.Written, a.Origin = w.Origin, w.Bytes, w.Origin
			return a, nil
		}
		refused = errors.Join(refused, err)
	}
	if misfortune.IsOurs(refused) {
		return aspects.Kept{}, refused
	}
	v.Break(refused)
	return aspects.Kept{Keeping: aspects.KeptNothing}, nil
}
