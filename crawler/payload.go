// This file identifies the payload of a capture for deduplication.

package crawler

import (
	"errors"
	"io"
	"strings"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/mediatype"
)

// payloadDigest returns the digest of the payload of a capture. For a body that was cut at the size limit it is the
// digest of the beginning. It is zero for a body that is incomplete for another reason: that one differs each time.
func payloadDigest(c *fetch.Capture) digest.Digest {
	if c.Complete {
		return c.PayloadDigest
	}
	return c.PrefixDigest
}

// storedDigest returns the digest of the bytes that the archive gets of the payload of a capture, also if it was cut
// for any reason. Whether another capture is the same, [payloadDigest] decides.
func storedDigest(c *fetch.Capture) digest.Digest {
	if c.Complete {
		return c.PayloadDigest
	}
	return c.PartDigest
}

// payloadKey returns the key of the payload of a capture in a series of WARC files. Status and type are part of it: an
// error page and an article with the same bytes are different captures. A prerequisite, such as a robots.txt, is equal
// to other prerequisites alone.
//
// A body that was cut at the size limit is equal only to one that was cut as well, with the same beginning, announced
// length and validators: what follows the cut is not known.
func payloadKey(c *fetch.Capture, prerequisite bool, series string) dedup.Key {
	k := dedup.Key{
		Payload: payloadDigest(c), Status: c.Status, MIME: mediatype.Of(c.Header.Get("Content-Type")),
		Prerequisite: prerequisite, Strong: c.SHA256.Half(), Series: series,
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
