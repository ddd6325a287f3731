package archive

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

// sum is a digest as a header gives it: "sha1:" and 32 letters of Base32 most often, and what else is in use.
type sum struct {
	text      string
	algorithm string
	value     []byte
	encode    func([]byte) string // as the header has it
}

func (s sum) isZero() bool { return s.text == "" }

// unpadded is Base32 without the equals signs that no sum of 160 bits has.
var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// sizes are those of the algorithms that newHash knows.
var sizes = map[string]int{
	"sha1": sha1.Size, "sha-1": sha1.Size, "sha256": sha256.Size, "sha-256": sha256.Size,
	"sha512": sha512.Size, "sha-512": sha512.Size, "md5": md5.Size,
}

// newHash makes the hash of an algorithm; nil when it is not known here.
func newHash(algorithm string) hash.Hash {
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

// parseSum reads a digest header. An empty text is no digest and no error. Base32, hexadecimal and Base64 have
// different lengths for each algorithm, so that the length tells which it is.
func parseSum(text string) (sum, error) {
	if text == "" {
		return sum{}, nil
	}
	name, value, ok := strings.Cut(text, ":")
	s := sum{text: text, algorithm: strings.ToLower(name)}
	size := sizes[s.algorithm]
	if !ok || size == 0 {
		return sum{}, fmt.Errorf("the digest %.80q is of no known algorithm", text)
	}
	var err error
	bare := strings.TrimRight(value, "=")
	switch len(bare) {
	case hex.EncodedLen(size):
		s.value, err = hex.DecodeString(value)
		s.encode = hex.EncodeToString
	case unpadded.EncodedLen(size):
		s.value, err = unpadded.DecodeString(strings.ToUpper(bare))
		s.encode = base32.StdEncoding.EncodeToString
	case base64.RawStdEncoding.EncodedLen(size):
		s.value, err = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(bare))
		s.encode = base64.StdEncoding.EncodeToString
	default:
		err = fmt.Errorf("it has %d letters", len(value))
	}
	if err != nil {
		return sum{}, fmt.Errorf("the digest %.80q cannot be read: %w", text, err)
	}
	return s, nil
}

// is compares with a computed hash.
func (s sum) is(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), s.value) }

// differs says what a computed hash is, in the form of the header.
func (s sum) differs(what string, h hash.Hash) string {
	name, _, _ := strings.Cut(s.text, ":")
	return fmt.Sprintf("the %s has the digest %s:%s, the header says %s", what, name, s.encode(h.Sum(nil)), s.text)
}

// sumText writes a hash as a header has it: Base32, as is usual.
func sumText(algorithm string, h hash.Hash) string {
	return algorithm + ":" + base32.StdEncoding.EncodeToString(h.Sum(nil))
}
