package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Digest is a digest as a header gives it: "sha1:" and 32 letters of Base32 most often, and what else is in use.
type Digest struct {
	text      string
	Algorithm string
	Value     []byte
	encode    func([]byte) string // as the header has it
}

// IsZero reports whether the header was missing.
func (s Digest) IsZero() bool { return s.text == "" }

// unpadded is Base32 without the equals signs that no sum of 160 bits has.
var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// sizes are those of the algorithms that newHash knows.
var sizes = map[string]int{
	"sha1": sha1.Size, "sha-1": sha1.Size, "sha256": sha256.Size, "sha-256": sha256.Size,
	"sha512": sha512.Size, "sha-512": sha512.Size, "md5": md5.Size,
}

// NewHash makes the hash of an algorithm; nil when it is not known here.
func NewHash(algorithm string) hash.Hash {
	switch algorithm {
	case "sha1", "sha-1":
		return sha1.New()
	case "sha256", "sha-256":
		return sha256.New()
	case "sha512", "sha-512":
		return sha512.New()
	case "md5":
		return md5.New()
	}
	return nil
}

// ParseDigest reads a digest header. An empty text is no digest and no error. Base32, hexadecimal and Base64 have
// different lengths for each algorithm, so that the length tells which it is.
func ParseDigest(text string) (Digest, error) {
	if text == "" {
		return Digest{}, nil
	}
	name, value, ok := strings.Cut(text, ":")
	s := Digest{text: text, Algorithm: strings.ToLower(name)}
	size := sizes[s.Algorithm]
	if !ok || size == 0 {
		return Digest{}, fmt.Errorf("the digest %.80q is of no known algorithm", text)
	}
	var err error
	bare := strings.TrimRight(value, "=")
	switch len(bare) {
	case hex.EncodedLen(size):
		s.Value, err = hex.DecodeString(value)
		s.encode = hex.EncodeToString
	case unpadded.EncodedLen(size):
		s.Value, err = unpadded.DecodeString(strings.ToUpper(bare))
		s.encode = base32.StdEncoding.EncodeToString
	case base64.RawStdEncoding.EncodedLen(size):
		s.Value, err = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(bare))
		s.encode = base64.StdEncoding.EncodeToString
	default:
		err = fmt.Errorf("it has %d letters", len(value))
	}
	if err != nil {
		return Digest{}, fmt.Errorf("the digest %.80q cannot be read: %w", text, err)
	}
	return s, nil
}

// Matches compares with a computed hash.
func (s Digest) Matches(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), s.Value) }

// Differs says what a computed hash is, in the form of the header.
func (s Digest) Differs(what string, h hash.Hash) string {
	name, _, _ := strings.Cut(s.text, ":")
	return fmt.Sprintf("the %s has the digest %s:%s, the header says %s", what, name, s.encode(h.Sum(nil)), s.text)
}

// FormatDigest writes a hash as a header has it: Base32, as is usual.
func FormatDigest(algorithm string, h hash.Hash) string {
	return algorithm + ":" + base32.StdEncoding.EncodeToString(h.Sum(nil))
}
