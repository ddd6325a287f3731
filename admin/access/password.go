package access

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// cost is how much work it is to check a password with argon2id.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// usualCost takes 64 MB and about a tenth of a second. It is the second recommendation of RFC 9106, with one thread.
var usualCost = cost{64 << 10, 3, 1}

// The bounds of passwords, and of the costs that a file of users may ask for.
const (
	minPassword = 12   // characters
	maxPassword = 1024 // bytes
	maxMemory   = 256 << 10
	maxPasses   = 10
	maxThreads  = 8
	saltSize    = 16
	keySize     = 32
)

// noPassword is written in the file for a user who has no password: a proxy names the user.
const noPassword = "-"

// CheckPassword returns an error if a password is too short or too long.
func CheckPassword(password string) error {
	switch {
	case !utf8.ValidString(password):
		return errors.New("the password is not UTF-8")
	case utf8.RuneCountInString(password) < minPassword:
		return fmt.Errorf("the password has fewer than %d characters; a few words in a row are easy to remember", minPassword)
	case len(password) > maxPassword:
		return fmt.Errorf("the password has more than %d bytes", maxPassword)
	}
	return nil
}

// hashPassword returns a password as a file of users has it, with a random salt.
func hashPassword(password string, c cost) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	key := c.key(password, salt)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// key returns the key of a password. Equal characters have one form, so that every keyboard types the same password.
func (c cost) key(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(norm.NFKC.String(password)), salt, c.passes, c.memory, c.threads, keySize)
}

// parseHash returns the parts of a hash.
func parseHash(hash string) (c cost, salt, key []byte, err error) {
	version := 0
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return c, nil, nil, errors.New("the password is not hashed with argon2id")
	}
	if _, err = fmt.Sscanf(parts[2], "v=%d", &version); err == nil {
		_, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads)
	}
	if err == nil {
		salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	}
	if err == nil {
		key, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	if err != nil || version != argon2.Version || len(salt) < 8 || len(key) != keySize {
		return c, nil, nil, errors.New("the hash of the password is damaged")
	}
	if c.memory > maxMemory || c.passes == 0 || c.passes > maxPasses || c.threads == 0 || c.threads > maxThreads {
		return c, nil, nil, fmt.Errorf("the hash of the password takes too much; maximum: m=%d,t=%d,p=%d", maxMemory, maxPasses,
			maxThreads)
	}
	return c, salt, key, nil
}

// isPassword reports whether a password belongs to a hash. It takes the same time for a user without a password, or
// one that does not exist.
func isPassword(hash, password string, otherwise cost) bool {
	c, salt, want, err := parseHash(hash)
	if err != nil {
		_ = otherwise.key(password, make([]byte, saltSize))
		return false
	}
	return subtle.ConstantTimeCompare(c.key(password, salt), want) == 1
}
