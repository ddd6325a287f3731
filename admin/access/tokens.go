package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Token is the secret of a client with a role.
type Token struct {
	Name   string // shown in the audit log
	Role   Role
	Secret string
}

const (
	// minSecret is the minimum length of a secret, in characters. A shorter one can be guessed.
	minSecret = 16
	// maxName is the maximum length of a name.
	maxName = 64
	// usualName is the name of the token that a new file has.
	usualName = "admin"
)

// parseTokens parses the text of a token file.
func parseTokens(text string) ([]Token, error) {
	var all []Token
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 3 {
			return nil, fmt.Errorf("line %d has %d words; write a name, a role and a token", i+1, len(words))
		}
		t := Token{Name: words[0], Secret: words[2]}
		var err error
		if t.Role, err = ParseRole(words[1]); err == nil {
			err = t.check()
		}
		if err == nil && slices.ContainsFunc(all, func(o Token) bool { return o.Name == t.Name }) {
			err = fmt.Errorf("the name %s is used twice", t.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, errors.New("the file has no token; add one with: arcrawl user add NAME --token")
	}
	return all, nil
}

func (t Token) check() error {
	if len(t.Secret) < minSecret {
		return fmt.Errorf("the token %s has %d characters, fewer than %d; make a new one with: arcrawl user add NAME --token",
			t.Name, len(t.Secret), minSecret)
	}
	return CheckName(t.Name)
}

// CheckName returns an error if a token or user cannot have a name.
func CheckName(name string) error {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.@", r)
	}
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, other) {
		return fmt.Errorf("%q is not a name for a token or user; use up to %d letters, digits, - _ . and @", name, maxName)
	}
	return nil
}

// find returns the token with a secret. It compares in constant time.
func find(all []Token, secret string) (Token, bool) {
	got, found, ok := sha256.Sum256([]byte(secret)), Token{}, false
	for _, t := range all {
		want := sha256.Sum256([]byte(t.Secret))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			found, ok = t, true
		}
	}
	return found, ok
}

// OpenTokens returns the tokens of a file. If it does not exist, OpenTokens creates one with a random token that may do
// everything.
func OpenTokens(path string) ([]Token, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = changeTokens(path, func(all []Token) ([]Token, error) {
			if len(all) > 0 { // arcrawl user has made it meanwhile
				return all, nil
			}
			return []Token{{usualName, Operate, rand.Text()}}, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("open the token file: %w", err)
	}
	all, err := readTokens(path)
	if err != nil {
		return nil, fmt.Errorf("read the token file %s: %w", path, err)
	}
	return all, nil
}

// readTokens reads a token file.
func readTokens(path string) ([]Token, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseTokens(string(text))
}

// Add adds a token with a random secret to a token file, which it creates if necessary. It returns the token.
func Add(path, name string, role Role) (Token, error) {
	t := Token{name, role, rand.Text()}
	return t, changeTokens(path, func(all []Token) ([]Token, error) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(t Token) bool { return t.Name == name }) {
			return nil, fmt.Errorf("there is a token with the name %s; remove it first with: arcrawl user remove --token %s", name, name)
		}
		return append(all, t), nil
	})
}

// Remove removes a token from a token file.
func Remove(path, name string) error {
	return changeTokens(path, func(all []Token) ([]Token, error) {
		i := slices.IndexFunc(all, func(t Token) bool { return t.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no token with the name %s; arcrawl user list shows all", name)
		case len(all) == 1:
			return nil, fmt.Errorf("%s is the last token; add another one first", name)
		}
		return slices.Delete(all, i, i+1), nil
	})
}

// List returns the tokens of a token file; none if the file does not exist.
func List(path string) ([]Token, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the token file: %w", err)
	}
	all, err := parseTokens(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the token file %s: %w", path, err)
	}
	return all, nil
}

// changeTokens replaces a token file.
func changeTokens(path string, change func([]Token) ([]Token, error)) error {
	err := edit(path, func() (string, error) {
		all, err := List(path)
		if err != nil {
			return "", err
		}
		if all, err = change(all); err != nil {
			return "", err
		}
		text := "# name role token; the role is read, curate or operate. See arcrawl user.\n"
		for _, t := range all {
			text += fmt.Sprintf("%s %s %s\n", t.Name, t.Role, t.Secret)
		}
		return text, nil
	})
	if err != nil {
		return fmt.Errorf("change the token file: %w", err)
	}
	return nil
}
