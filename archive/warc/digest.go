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

// Digest is the value of a digest header: the name of an algorithm and a hash, usually "sha1:" and 32 letters of
// Base32.
type Digest struct {
	text      string
	Algorithm string
	Value     []byte
	encode    func([]byte) string // in the form of the header
}

// IsZero reports whether the header was missing.
func (s Digest) IsZero() bool { return s.text == "" }

// unpadded is Base32 without padding.
var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// algorithms holds the hash size in bytes of each algorithm, and what makes a hash.
var algorithms = map[string]struct {
	size int
	make func() hash.Hash
}{
	"sha1": {sha1.Size, sha1.New}, "sha-1": {sha1.Size, sha1.New}, "md5": {md5.Size, md5.New},
	"sha256": {sha256.Size, sha256.New}, "sha-256": {sha256.Size, sha256.New},
	"sha512": {sha512.Size, sha512.New}, "sha-512": {sha512.Size, sha512.New},
}

// NewHash returns a hash of the named algorithm, or nil if the algorithm is unknown.
func NewHash(algorithm string) hash.Hash {
	if a, ok := algorithms[algorithm]; ok {
		return a.make()
	}
	return nil
}

// ParseDigest parses the value of a digest header. An empty text is valid: the result is the zero value. The length of
// the hash shows whether it is in hexadecimal, Base32 or Base64.
func ParseDigest(text string) (Digest, error) {
	if text == "" {
		return Digest{}, nil
	}
	name, value, ok := strings.Cut(text, ":")
	s := Digest{text: text, Algorithm: strings.ToLower(name)}
	size := algorithms[s.Algorithm].size
	if !ok || size == 0 {
		return Digest{}, fmt.Errorf("the digest %.80q has an unknown algorithm", text)
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

// Matches reports whether a computed hash is equal to the digest.
func (s Digest) Matches(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), s.Value) }

// Differs describes the difference between a computed hash and the digest.
func (s Digest) Differs(what string, h hash.Hash) string {
	name, _, _ := strings.Cut(s.text, ":")
	return fmt.Sprintf("the %s has the digest %s:%s, the header says %s", what, name, s.encode(h.Sum(nil)), s.text)
}

// FormatDigest returns a hash as the value of a digest header, in Base32 as is usual.
func FormatDigest(algorithm string, h hash.Hash) string {
	return algorithm + ":" + base32.StdEncoding.EncodeToString(h.Sum(nil))
}
