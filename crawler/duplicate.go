package crawler

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// findDuplicate looks for an earlier record that holds the payload of an answer. It returns the zero value if
// there is none. A damaged record is skipped with a log line, and the new record replaces it.
func (c *Crawler) findDuplicate(v *aspects.Visit, s dedup.Policy) (aspects.Kept, error) {
	match, err := c.match(v, s)
	if err != nil || match.Hit == dedup.Miss {
		return aspects.Kept{}, err
	}
	spent, err := c.parts.Dedup.Spent(s, match.Origin, v.Capture.Started)
	if err != nil {
		return aspects.Kept{}, err
	}
	if !mayRepresent(v, match.Origin) || spent {
		return aspects.Kept{Keeping: aspects.KeptResponse, Unsound: true}, nil // the new record replaces the entry
	}
	a := aspects.Kept{
		Keeping: aspects.KeptRevisit, Origin: match.Origin, Hit: c.parts.Dedup.Hit(v.URI().String(), match.Origin.URI, true),
	}
	switch size := v.Capture.PayloadSize; {
	case s.Certainty == dedup.ForceNew:
		a.Keeping, a.Origin = aspects.KeptResponse, digest.Origin{}
	case match.Origin.Size != 0 && match.Origin.Size != size:
		err = fmt.Errorf("%w: the record has %d bytes, the response has %d", dedup.ErrDiffers, match.Origin.Size, size)
	case match.Origin.Strong.Differs(v.Capture.SHA256.Half()):
		err = fmt.Errorf("%w: its SHA-256 is another one; the SHA-1 of both is the same", dedup.ErrDiffers)
	case s.Certainty == dedup.Compare:
		err = comparePayload(v.Capture, match.Origin, c.parts.OpenPayload)
	}
	if err != nil {
		o := match.Origin
		c.parts.Log.Error().Err(err).Str("uri", v.URI().String()).Str("digest", o.Payload.String()).Str("record", o.RecordID).
			Str("file", o.File).Int64("offset", o.Offset).
			Msg("a record of the same digest cannot replace this payload: archiving the whole response")
		// There is no Hit: the archive does not hold this payload.
		return aspects.Kept{Keeping: aspects.KeptResponse, Unsound: true}, nil
	}
	return a, nil
}

// match looks first at the record that the URI itself points to, and then in the index of all records.
func (c *Crawler) match(v *aspects.Visit, s dedup.Policy) (dedup.Match, error) {
	r, got := v.Record(), v.Capture
	if !isDeduplicated(v, s) {
		return dedup.Match{}, nil
	}
	equivalent := s.Equivalent && s.By != dedup.Digest
	spent, err := c.parts.Dedup.Spent(s, r.Origin, got.Started)
	if err != nil {
		return dedup.Match{}, err
	}
	if hasOldPayload(v) && v.Verdict.State == evaluators.Unchanged && mayRepresent(v, r.Origin) &&
		r.Origin.Framing == got.Framing && !spent && !c.parts.Dedup.Lost(r.Origin) {
		hit := c.parts.Dedup.Hit(v.URI().String(), r.Origin.URI, s.Equivalent)
		if hit == dedup.Exact || s.By == dedup.Digest || hit == dedup.Equivalent && s.By == dedup.URI {
			return dedup.Match{Origin: r.Origin, Hit: hit}, nil
		}
	}
	if got.PayloadSize == 0 {
		return dedup.Match{}, nil
	}
	m, err := c.parts.Dedup.Find(dedup.Query{
		Key: payloadKey(v.Capture, v.IsPrerequisite(), s.Series), URI: v.URI().String(), By: s.By, Equivalent: equivalent,
	})
	if err != nil {
		return dedup.Match{}, fmt.Errorf("look for an earlier record: %w", err)
	}
	return m, nil
}

// mayRepresent reports whether a record may be the origin of a visit. The record of a robots.txt may not be the origin
// of a page. Indexes that were imported have such entries.
func mayRepresent(v *aspects.Visit, o digest.Origin) bool {
	return v.IsPrerequisite() || !uri.FromCanonical(o.URI).IsRobots()
}

// isDeduplicated reports whether the settings deduplicate such an answer.
func isDeduplicated(v *aspects.Visit, s dedup.Policy) bool {
	return !payloadDigest(v.Capture).IsZero() && s.Covers(mediaType(v), v.Capture.PayloadSize)
}

// hasOldPayload reports whether a visit brought the payload that is aspects.Kept for the URI.
func hasOldPayload(v *aspects.Visit) bool {
	o := v.Record().Origin
	return !o.IsZero() && v.Capture.Complete && o.Payload == v.Capture.PayloadDigest
}

// thinned removes a record that only repeats what is known about the URI, if the settings ask for that: a revisit, the
// head of an answer that cannot be a revisit, or a payload that is too small for one.
func thinned(v *aspects.Visit, s dedup.Policy, a aspects.Kept) aspects.Kept {
	_, revisit := profileOf(a.Keeping)
	small := a.Keeping == aspects.KeptResponse && s.IsSmall(v.Capture.PayloadSize) && hasOldPayload(v)
	if (revisit || small || a.Keeping == aspects.KeptHead) && isKnown(v) &&
		!s.Revisits.Wants(v.Capture.Started, v.Record().LastCapture) {
		a.Keeping = aspects.KeptThinned
	}
	return a
}

// mediaType returns the media type of a visit, without parameters.
func mediaType(v *aspects.Visit) string {
	return digest.MediaType(v.Capture.Header.Get("Content-Type"))
}

// dedupChange returns what the dedup index must store together with the settlement; nil = nothing. A record that
// refers to another is counted at once, in memory.
func (c *Crawler) dedupChange(v *aspects.Visit, s dedup.Policy) (dedup.Change, error) {
	a := v.Kept
	_, revisit := profileOf(a.Keeping)
	switch {
	case revisit:
		return nil, c.parts.Dedup.Refer(a.Origin)
	case a.Keeping != aspects.KeptResponse || a.Origin.IsZero() || v.Capture.PayloadSize == 0 || !isDeduplicated(v, s):
		return nil, nil
	case a.Unsound:
		return c.parts.Dedup.Replacing(payloadKey(v.Capture, v.IsPrerequisite(), s.Series), a.Origin, s.By), nil
	}
	return c.parts.Dedup.Putting(payloadKey(v.Capture, v.IsPrerequisite(), s.Series), a.Origin, s.By), nil
}

// payloadDigest returns the digest of the payload of a capture. For a body that was cut at the size limit it is the
// digest of the beginning. It is zero for a body that is incomplete for another reason: that one differs each time. It
// is zero, too, if readers of archives disagree about what the payload is: nothing may refer to it.
func payloadDigest(c *fetch.Capture) digest.Digest {
	if c.OddFraming {
		return digest.Digest{}
	}
	if c.Complete {
		return c.PayloadDigest
	}
	return c.PrefixDigest
}

// storedDigest returns the digest of the bytes that the archive gets of the payload of a capture, also if it was cut
// for any reason. Whether another capture is the same, [payloadDigest] decides.
func storedDigest(c *fetch.Capture) digest.Digest {
	if c.OddFraming {
		return digest.Digest{}
	}
	if c.Complete {
		return c.PayloadDigest
	}
	return c.PartDigest
}

// payloadKey returns the key of the payload of a capture in a series of WARC files. Status and type are part of it: an
// error page and an article with the same bytes are different captures. So is the framing: readers join the head of a
// revisit and the body of its original. A prerequisite, such as a robots.txt, is equal to other prerequisites alone.
//
// A body that was cut at the size limit is equal only to one that was cut as well, with the same beginning, announced
// length and validators: what follows the cut is not known.
func payloadKey(c *fetch.Capture, prerequisite bool, series string) dedup.Key {
	k := dedup.Key{
		Payload: payloadDigest(c), Status: c.Status, MIME: digest.MediaType(c.Header.Get("Content-Type")),
		Prerequisite: prerequisite, Strong: c.SHA256.Half(), Series: series, Framing: c.Framing,
	}
	if !c.Complete {
		k.Cut = aboutWhole(c)
	}
	return k
}

// aboutWhole returns what the head of a response says about its whole body.
func aboutWhole(c *fetch.Capture) string {
	h := c.Header
	return strings.Join([]string{"cut", h.Get("Content-Length"), h.Get("ETag"), h.Get("Last-Modified")}, "\x00")
}

// isCut reports whether a body was cut at the size limit, as it is at each visit.
func isCut(c *fetch.Capture) bool {
	return c.Truncated == fetch.TruncatedLength && !c.PrefixDigest.IsZero()
}

// cutSum returns a digest by which two bodies that were cut at the size limit are compared: of the beginning and of
// what the head says about the whole.
func cutSum(c *fetch.Capture) digest.Digest {
	return digest.Of([]byte(c.PrefixDigest.String() + "\x00" + aboutWhole(c)))
}

// comparePayload compares the payload of a record with the payload of a capture, byte by byte. open opens the payload
// of the record.
func comparePayload(c *fetch.Capture, o digest.Origin, open func(digest.Origin) (io.ReadCloser, error)) (err error) {
	stored, err := open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	received, err := c.Payload()
	if err != nil {
		return err
	}
	defer received.Close()
	return dedup.SameBytes(stored, received)
}
