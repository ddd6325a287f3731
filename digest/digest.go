// Package digest tells contents apart.
//
// There are two digests of a visit and they are never confused. The payload digest is the SHA-1 of the payload as
// WARC/1.1 section 6.3.2 reads it: the entity body with transfer encoding removed and content encoding kept. It stands
// in WARC records and crawl.log and is what deduplication goes by. The [Comparison] digest is of the content with its
// encoding removed too, and of as much of it as a rule lets through; it decides only whether a page changed.
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

// textLen is the length of a digest as text.
const textLen = len(prefix) + sha1.Size*8/5

// Digest is a SHA-1 sum. The zero value means that there is none.
type Digest [sha1.Size]byte

// Of is the digest of b.
func Of(b []byte) Digest { return sha1.Sum(b) }

// Parse reads the form that [Digest.String] writes. An upper-case algorithm name is taken too, as old logs have it.
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

// IsZero reports whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the form of WARC headers and crawl.log: "sha1:" and 32 letters of Base32; empty for the zero digest.
func (d Digest) String() string { return string(d.Append(make([]byte, 0, textLen))) }

// Append appends what [Digest.String] gives.
func (d Digest) Append(b []byte) []byte {
	if d.IsZero() {
		return b
	}
	return base32.StdEncoding.AppendEncode(append(b, prefix...), d[:])
}

// Hash digests a stream.
type Hash struct{ *stream }

// stream is what a Hash stands for, wherever it is copied to.
type stream struct {
	h   hash.Hash
	sum Digest // to put the last sum into
}

// New starts a digest of nothing so far.
func New() Hash { return Hash{&stream{h: sha1.New()}} }

// Write never fails.
func (h Hash) Write(p []byte) (int, error) { return h.h.Write(p) }

// Sum is the digest of what was written so far.
func (h Hash) Sum() Digest {
	h.h.Sum(h.sum[:0])
	return h.sum
}

// Reset starts again with nothing.
func (h Hash) Reset() { h.h.Reset() }

// Comparison is the digest that decides whether a page changed. Rules is the fingerprint of the scrubbing rules that
// were applied before digesting, zero for none; digests made under different rules say nothing about each other.
// Sketch tells how near two contents are, by the number of bits in which they differ; zero if none was made.
type Comparison struct {
	Sum    Digest
	Rules  uint64
	Sketch uint64
}

// Origin says which record first held a payload: everything that a revisit record needs to point at it, and everything
// that a reader needs to fetch it. The zero value means that no record is known.
type Origin struct {
	RecordID string    // "urn:uuid:…", without angle brackets; empty where only its URI and date are known
	URI      string    // target URI of that record
	Date     time.Time // its WARC-Date, to the microsecond
	Payload  Digest    // its payload digest
	File     string    // final name of the WARC file, without directory
	Offset   int64     // of the record's first byte in File
	Length   int64     // bytes of the compressed record
	Size     int64     // bytes of the payload
}

// IsZero reports whether no record is known.
func (o Origin) IsZero() bool { return o.RecordID == "" && o.URI == "" }
