package crawler

import (
	"fmt"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/mediatype"
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
		!spent && !c.parts.Dedup.Lost(r.Origin) {
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
	return v.IsPrerequisite() || !robots.IsFile(uri.FromCanonical(o.URI))
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
func mediaType(v *aspects.Visit) string { return mediatype.Of(v.Capture.Header.Get("Content-Type")) }

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
		return c.parts.Dedup.Replacing(payloadKey(v.Capture, v.IsPrerequisite(), s.Series), a.Origin), nil
	}
	return c.parts.Dedup.Putting(payloadKey(v.Capture, v.IsPrerequisite(), s.Series), a.Origin), nil
}
