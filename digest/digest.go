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
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
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
	Framing  string    // of its body, see [Framing]
}

// IsZero reports whether no record is known.
func (o Origin) IsZero() bool { return o.RecordID == "" && o.URI == "" }

// SHA256 is the SHA-256 of a payload. Different payloads of one SHA-1 and one size can be made on purpose, so it is
// compared before a payload is taken for another one. The zero value means that it is not known.
type SHA256 [sha256.Size]byte

// IsZero reports whether the sum is not known.
func (s SHA256) IsZero() bool { return s == SHA256{} }

// String returns "sha256:" and 64 hexadecimal digits, or an empty text for the zero value.
func (s SHA256) String() string {
	if s.IsZero() {
		return ""
	}
	b := append(make([]byte, 0, 80), "sha256:"...)
	return string(hex.AppendEncode(b, s[:]))
}

// ParseSHA256 parses what [SHA256.String] returns. It returns the zero value for any other text.
func ParseSHA256(s string) (sum SHA256) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "sha256:"))
	if err != nil || len(b) != len(sum) {
		return SHA256{}
	}
	return SHA256(b)
}

// Half returns the first half of the sum. It is enough to tell two payloads of one SHA-1 from each other.
func (s SHA256) Half() Half { return Half(s[:len(Half{})]) }

// Half is the first half of a [SHA256]. The zero value means that it is not known.
type Half [sha256.Size / 2]byte

// IsZero reports whether the sum is not known.
func (h Half) IsZero() bool { return h == Half{} }

// Bytes returns the bytes of the sum, or none if it is not known.
func (h Half) Bytes() []byte {
	if h.IsZero() {
		return nil
	}
	return h[:]
}

// HalfFrom returns the sum with these bytes. None are the zero value, any other number is an error.
func HalfFrom[T ~string | ~[]byte](b T) (h Half, err error) {
	if n := copy(h[:], b); len(b) != 0 && (n != len(h) || len(b) != n) {
		return Half{}, fmt.Errorf("half a SHA-256 has %d bytes, want %d", len(b), len(h))
	}
	return h, nil
}

// Differs reports whether two sums are known and different: their payloads differ, whatever their SHA-1 are.
func (h Half) Differs(other Half) bool { return !h.IsZero() && !other.IsZero() && h != other }

// StrongHash computes the SHA-256 of a stream.
type StrongHash struct{ h hash.Hash }

// NewStrong returns a StrongHash to which nothing was written yet.
func NewStrong() StrongHash { return StrongHash{sha256.New()} }

// Write adds p to the stream. It never fails.
func (h StrongHash) Write(p []byte) (int, error) { return h.h.Write(p) }

// SumTo writes the sum of everything written so far to sum.
func (h StrongHash) SumTo(sum *SHA256) { h.h.Sum(sum[:0]) }

// Reset returns the StrongHash to its initial state.
func (h StrongHash) Reset() { h.h.Reset() }
