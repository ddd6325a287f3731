package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

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
