package crawler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

// errDiffers says that a record of the same payload digest has other bytes.
var errDiffers = errors.New("its payload differs")

// duplicate looks for an earlier record that may stand for the payload of a complete answer. The zero value says that
// there is none. A record that is not what it should be is passed over, loudly, and is replaced by the new one.
func (c *Crawler) duplicate(v visit, s dedup.Policy) (kept, error) {
	match, err := c.match(v, s)
	if err != nil || match.Hit == dedup.Miss {
		return kept{}, err
	}
	k := kept{keeping: KeptRevisit, origin: match.Origin, hit: c.rooms.Dedup.Hit(v.uri().String(), match.Origin.URI, true)}
	switch size := v.capture.PayloadSize; {
	case s.Certainty == dedup.ForceNew:
		k.keeping, k.origin = KeptResponse, digest.Origin{}
	case match.Origin.Size != 0 && match.Origin.Size != size:
		err = fmt.Errorf("%w: %d bytes, and %d bytes came", errDiffers, match.Origin.Size, size)
	case s.Certainty == dedup.Compare:
		err = c.compare(v, match.Origin)
	}
	if err != nil {
		o := match.Origin
		c.rooms.Log.Error().Err(err).Str("uri", v.uri().String()).Str("digest", o.Payload.String()).Str("record", o.RecordID).
			Str("file", o.File).Int64("offset", o.Offset).Msg("a record cannot stand for what came; the answer is archived whole")
		return kept{keeping: KeptResponse, unsound: true}, nil // no hit: it repeats nothing that is there
	}
	return k, nil
}

// match looks first at the record that the URI itself points to, and then at the index of all.
func (c *Crawler) match(v visit, s dedup.Policy) (dedup.Match, error) {
	r, got := v.record(), v.capture
	if !covers(v, s) {
		return dedup.Match{}, nil
	}
	equivalent := s.Equivalent && s.By != dedup.Digest
	if repeats(v) && v.verdict.State == evaluators.Unchanged && !c.rooms.Dedup.Lost(r.Origin) {
		hit := c.rooms.Dedup.Hit(v.uri().String(), r.Origin.URI, s.Equivalent)
		if hit == dedup.Exact || s.By == dedup.Digest || hit == dedup.Equivalent && s.By == dedup.URI {
			return dedup.Match{Origin: r.Origin, Hit: hit}, nil
		}
	}
	if got.PayloadSize == 0 {
		return dedup.Match{}, nil
	}
	m, err := c.rooms.Dedup.Find(dedup.Query{Key: dedupKey(v), URI: v.uri().String(), By: s.By, Equivalent: equivalent})
	if err != nil {
		return dedup.Match{}, fmt.Errorf("look for an earlier record: %w", err)
	}
	return m, nil
}

// covers reports whether the settings deduplicate such an answer.
func covers(v visit, s dedup.Policy) bool {
	return v.capture.Complete && s.Covers(mediaType(v), v.capture.PayloadSize)
}

// repeats reports whether a visit brought the payload that is archived for the URI.
func repeats(v visit) bool {
	o := v.record().Origin
	return !o.IsZero() && o.Payload == v.capture.PayloadDigest
}

// compare reads a record again and tells how it differs from what came.
func (c *Crawler) compare(v visit, o digest.Origin) (err error) {
	if c.rooms.Stored == nil {
		return errors.New("records cannot be read")
	}
	stored, err := c.rooms.Stored(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	came, err := v.capture.Payload()
	if err != nil {
		return err
	}
	defer came.Close()
	return sameBytes(stored, came)
}

// sameBytes reads both to the end, unless they differ before.
func sameBytes(a, b io.Reader) error {
	const most = 64 << 10
	x, y := bufio.NewReaderSize(a, most), make([]byte, most)
	z := make([]byte, most)
	for at := int64(0); ; {
		n, err := io.ReadFull(b, y)
		m, err2 := io.ReadFull(x, z[:max(n, 1)])
		if !bytes.Equal(y[:n], z[:m]) {
			return fmt.Errorf("%w after %d bytes", errDiffers, at)
		}
		at += int64(n)
		if ended(err) {
			return failed(err2)
		}
		if err != nil || failed(err2) != nil {
			return errors.Join(err, failed(err2))
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// failed is err, unless it is the end of a reader.
func failed(err error) error {
	if ended(err) {
		return nil
	}
	return err
}

// thin takes a revisit record away that the settings do not want: one that says of a URI what is known of it.
func thin(v visit, s dedup.Policy, k kept) kept {
	known := v.verdict.State == evaluators.Unchanged && !v.verdict.First
	if _, revisit := k.keeping.profile(); revisit && known && !s.Revisits.Wants(v.capture.Started, v.record().LastCapture) {
		k.keeping = KeptThinned
	}
	return k
}

// dedupKey is what a visit's payload is known by. Status and type are part of it: an error page and an article with
// the same bytes are different captures.
func dedupKey(v visit) dedup.Key {
	return dedup.Key{Payload: v.capture.PayloadDigest, Status: v.capture.Status, MIME: mediaType(v)}
}

// mediaType is the Content-Type without its parameters, in lower case; empty when there is none that can be read.
func mediaType(v visit) string {
	t, _, err := mime.ParseMediaType(v.capture.Header.Get("Content-Type"))
	if err != nil && t == "" {
		return ""
	}
	return t
}

// indexing is what the dedup index is to remember of a new record that may stand for a payload, together with the settlement; nil is
// nothing. A record that refers to another is counted at once, in memory.
func (c *Crawler) indexing(v visit, s dedup.Policy, k kept) (dedup.Change, error) {
	_, revisit := k.keeping.profile()
	switch {
	case revisit:
		return nil, c.rooms.Dedup.Refer(k.origin)
	case k.keeping != KeptResponse || v.capture.PayloadSize == 0 || !covers(v, s):
		return nil, nil
	case k.unsound:
		return c.rooms.Dedup.Replacing(dedupKey(v), k.origin), nil
	}
	return c.rooms.Dedup.Putting(dedupKey(v), k.origin), nil
}
