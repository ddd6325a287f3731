// Package digest makes the digests of payloads and contents, and the rules that scrub contents before they are
// compared.
//
// A visit has two digests. The payload digest is the SHA-1 of the payload in the sense of WARC/1.1, section 6.3.2:
// the entity body with its transfer encoding removed and its content encoding kept. It is written to WARC records and
// to crawl.log, and deduplication uses it. The [Comparison] digest is of the content, with its content encoding
// removed, and only of the parts that the scrubbing rules leave. It decides whether a page changed, and is used for
// nothing else.
package digest

import (
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"hash"
	"strings"
	"time"
)

// prefix names the algorithm, in lower case as WARC tools expect it.
const prefix = "sha1:"

// textLen is the length of a digest in text form.
const textLen = len(prefix) + sha1.Size*8/5

// Digest is a SHA-1 sum. The zero value means that there is no digest.
type Digest [sha1.Size]byte

// Of returns the digest of b.
func Of(b []byte) Digest { return sha1.Sum(b) }

// Parse reads the form that [Digest.String] returns. It also accepts an upper-case algorithm name, which old logs have.
func Parse(s string) (Digest, error) {
	var d Digest
	if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return d, fmt.Errorf("digest %q: want sha1: and 32 letters of Base32", s)
	}
	sum, err := base32.StdEncoding.DecodeString(s[len(prefix):])
	if err != nil || len(sum) != len(d) {
		return d, fmt.Errorf("digest %q: want sha1: and 32 letters of Base32", s)
	}
	copy(d[:], sum)
	return d, nil
}

// IsZero reports whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the form of WARC headers and crawl.log: "sha1:" and 32 letters of Base32. It is empty for the zero
// digest.
func (d Digest) String() string { return string(d.Append(make([]byte, 0, textLen))) }

// Append appends the form that [Digest.String] returns.
func (d Digest) Append(b []byte) []byte {
	if d.IsZero() {
		return b
	}
	return base32.StdEncoding.AppendEncode(append(b, prefix...), d[:])
}

// Hash computes the digest of a stream.
type Hash struct{ *stream }

// stream is the state that all copies of a Hash share.
type stream struct {
	h   hash.Hash
	sum Digest // memory for the result
}

// New returns a Hash to which nothing was written yet.
func New() Hash { return Hash{&stream{h: sha1.New()}} }

// Write adds p to the stream. It never fails.
func (h Hash) Write(p []byte) (int, error) { return h.h.Write(p) }

// Sum returns the digest of everything written so far.
func (h Hash) Sum() Digest {
	h.h.Sum(h.sum[:0])
	return h.sum
}

// Reset returns the Hash to its initial state.
func (h Hash) Reset() { h.h.Reset() }

// Comparison is the digest that decides whether a page changed. Rules is the fingerprint of the scrubbing rules that
// were applied before, or zero for none. Digests that were made with different rules cannot be compared. Sketch
// measures similarity: the fewer bits of two sketches differ, the more similar are the contents. It is zero if none
// was made.
type Comparison struct {
	Sum    Digest
	Rules  uint64
	Sketch uint64
}

// Origin identifies the record that first held a payload. It has everything that a revisit record needs to refer to it,
// and everything that a reader needs to read it. The zero value means that no record is known.
type Origin struct {
	RecordID string    // "urn:uuid:…", without angle brackets; empty if only its URI and date are known
	URI      string    // target URI of that record
	Date     time.Time // its WARC-Date, to the microsecond
	Payload  Digest    // its payload digest
	File     string    // final name of the WARC file, without directory
	Offset   int64     // of the record's first byte in File
	Length   int64     // bytes of the compressed record
	Size     int64     // bytes of the payload
	Strong   Half      // of the payload; zero in records of other tools
}

// IsZero reports whether no record is known.
func (o Origin) IsZero() bool { return o.RecordID == "" && o.URI == "" }
