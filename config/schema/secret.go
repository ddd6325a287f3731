// This file reads secrets. A secret is named in the configuration by where it is stored, and read from there when the
// configuration is loaded. Nothing that shows a configuration can show it: a [Secret] is written as its place.

package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MaxSecret is the maximum length of a secret in bytes.
const MaxSecret = 8 << 10

// SecretPlaces ends the explanation of a key that names a secret.
const SecretPlaces = "A secret is named by its place: `file:` and a file in the folder `storage.secrets`, `env:` and a variable that begins with `ARCRAWL_`, or `credential:` and a name of systemd's LoadCredential=. It is read when the configuration is loaded."

// Secret is a value that is sent to a host and shown nowhere. The zero value is no secret.
type Secret struct {
	place string
	value *string // a pointer, because fmt shows the text of an unexported field
}

// NewSecret returns a secret that no file names. place says for people where it comes from.
func NewSecret(place, value string) Secret { return Secret{place: place, value: &value} }

// String returns the place of the secret, never the secret.
func (s Secret) String() string { return s.place }

// GoString returns the place of the secret, never the secret.
func (s Secret) GoString() string { return s.place }

// MarshalText returns the place of the secret, never the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.place), nil }

// IsSet reports whether a file sets the secret.
func (s Secret) IsSet() bool { return s.place != "" }

// Known reports whether the secret could be read.
func (s Secret) Known() bool { return s.value != nil }

// Reveal returns the secret, and "" if it is not known.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Equal reports whether two secrets are the same, at the same place.
func (s Secret) Equal(o Secret) bool { return s.place == o.place && s.Reveal() == o.Reveal() }

// Mark returns a number that nearly always differs for another secret. It has only 16 bits of the secret, so that it
// does not help to guess it.
func (s Secret) Mark() uint16 {
	sum := sha256.Sum256([]byte("arcrawl secret\n" + s.Reveal()))
	return binary.BigEndian.Uint16(sum[:])
}

const placeExample = `write "file:NAME" for a file in storage.secrets, "env:ARCRAWL_NAME" or "credential:NAME"`

// envPrefix begins the names of the environment variables that host files may use. Whoever may write a host file can
// have the daemon send what the file names, so it must not reach all that the daemon knows.
const envPrefix = "ARCRAWL_"

// ReadSecret reads the place of a secret from a field, and the secret from its place. fits accepts what the secret is
// used for, and must not repeat it. A fault never shows the value of the field, which may be the secret itself by
// mistake.
func ReadSecret(f Field, fits Check) (Secret, bool) {
	place, _ := f.Value.(string)
	kind, name, _ := strings.Cut(place, ":")
	if why, ok := isPlace(kind, name); !ok {
		f.HiddenFault("is not the place of a secret"+why, placeExample+"; it is not the secret itself")
		return Secret{}, false
	}
	key := PlaceOf(kind, name)
	if f.Doc.Reserved[key] {
		f.HiddenFault("is the place of a secret of the daemon itself, which no host may receive",
			"write the secret of the host to a place of its own")
		return Secret{}, false
	}
	if f.Doc.Named != nil {
		f.Doc.Named[key] = true
	}
	if f.Doc.Staged { // whoever proposes a text need not be allowed to learn what is in a file
		return Secret{place: place}, true
	}
	return Once(f, func() (Secret, bool) {
		s := Secret{place: place}
		text, problem, remedy, elsewhere := fetchSecret(f.Doc.Secrets, kind, name)
		if problem == "" {
			problem, remedy = fits(text)
		}
		switch {
		case problem == "":
			s.value = &text
		case elsewhere:
			f.Doc.AddLack(f.Finding(problem, remedy))
		default:
			f.Fault(problem, remedy)
			return Secret{}, false
		}
		return s, true
	})
}

// PlaceOf returns the one way to write a place that has several, such as "file:./news".
func PlaceOf(kind, name string) string {
	if kind == "file" {
		name = filepath.Clean(name)
	}
	return kind + ":" + name
}

// isPlace reports whether a secret can be stored there, and if not, why.
func isPlace(kind, name string) (why string, ok bool) {
	switch {
	case kind != "file" && kind != "env" && kind != "credential":
		return "", false
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return ": it names nothing", false
	case kind == "file" && !filepath.IsLocal(name):
		return ": it is outside the folder storage.secrets", false
	case kind == "env" && !strings.HasPrefix(name, envPrefix):
		return ": the name of the variable does not begin with " + envPrefix, false
	case kind == "credential" && (filepath.Base(name) != name || name == ".."):
		return ": the name of a credential is not a path", false
	}
	return "", true
}

// fetchSecret reads a secret from its place. elsewhere says that another user or process may be able to read it.
func fetchSecret(folder, kind, name string) (text, problem, remedy string, elsewhere bool) {
	switch kind {
	case "env":
		text, ok := os.LookupEnv(name)
		if !ok {
			return "", "names a variable that is not set", "set it in the environment of the daemon", true
		}
		return text, "", "", false
	case "credential":
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return "", "cannot be read: systemd passes credentials only to the service",
				"write LoadCredential=" + name + ":PATH into the unit of the service, and start arcrawl with it", true
		}
		folder = dir
	}
	name = filepath.Join(folder, name)
	data, err := ReadFile(name, MaxSecret+3)
	if err != nil {
		problem, remedy = Unreadable(err)
		return "", "names the file " + name + ", which " + problem, remedy, errors.Is(err, fs.ErrPermission)
	}
	// A line end at the end of the file is not part of the secret.
	text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		line := strings.Count(text[:at], "\n") + 1
		return "", fmt.Sprintf("names the file %s, which has a line end inside the secret, at the end of its line %d", name, line),
			"write the secret on one line", false
	}
	return text, "", "", false
}

// ReadCredentials reads the place of a user name and a password.
func ReadCredentials(f Field) (Secret, bool) {
	return ReadSecret(f, func(s string) (problem, remedy string) {
		const wanted = "write USER:PASSWORD into it, on one line"
		switch user, _, ok := strings.Cut(s, ":"); {
		case !ok || user == "":
			return "holds no user name and password", wanted
		case len(s) > MaxSecret || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return "holds a control character, or is too long", wanted
		}
		return "", ""
	})
}

// Place makes a key that names the place of a secret.
func Place(name, scope string, read func(Field) (Secret, bool), v *Secret, doc string) Var {
	readPlace := func(f Field) (Secret, bool) {
		if f.Value == "" {
			return Secret{}, true
		}
		return read(f)
	}
	show := func(s Secret) string { return strconv.Quote(s.String()) }
	return Value(name, scope, Type{Kind: Text, Optional: true}, v, readPlace, show, doc+" "+SecretPlaces)
}
