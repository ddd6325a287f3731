package warc

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/arcrawl/arcrawl/digest"
)

// secondDigest is the SHA-256 of the payload of a response. arcrawl writes it into the metadata record of the visit,
// because a WARC record has one payload digest only. It is of whole payloads; what was cut is not compared.
type secondDigest struct {
	on  bool // arcrawl wrote the file; in other files nobody writes it
	sum hash.Hash
	id  string // of the response; empty if the last visit has none
}

// both writes into two hashes, and has the sum of the first.
type both struct {
	hash.Hash
	second hash.Hash
}

func (b both) Write(p []byte) (int, error) {
	b.second.Write(p)
	return b.Hash.Write(p)
}

// begin returns the hash of the payload of a record, which hashes it for s too if it is a response.
func (s *secondDigest) begin(h Header, part hash.Hash) hash.Hash {
	if h.Type() != "response" || part == nil || !s.on || h.Get("WARC-Truncated") != "" {
		if h.Type() == "response" || h.Type() == "revisit" {
			s.id = ""
		}
		return part
	}
	if s.sum == nil {
		s.sum = sha256.New()
	}
	s.sum.Reset()
	s.id = h.Get("WARC-Record-ID")
	return both{part, s.sum}
}

// isOf reports whether a record is the metadata record of the last response.
func (s *secondDigest) isOf(h Header) bool {
	return s.id != "" && h.Type() == "metadata" && slices.Contains(h.Values("WARC-Concurrent-To"), s.id)
}

// compareSecond reports a payload that has not the SHA-256 in the metadata record of its visit.
func (c *Checker) compareSecond(rec *Record) {
	if !c.second.isOf(rec.Header) {
		return
	}
	_, fields, _ := ParseHeader("\r\n" + string(bytes.TrimRight(c.info, "\r\n")))
	want := digest.ParseSHA256(fields.Get("payloadSHA256"))
	if got := digest.SHA256(c.second.sum.Sum(nil)); !want.IsZero() && got != want {
		c.fail(rec, PayloadDigest, "the payload of the response has SHA-256 %s, and the metadata record of the visit says %s",
			got, want)
	}
}
