package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// User is a person who signs in with a name, or whom a proxy names.
type User struct {
	Name string
	Role Role
	Hash string // of the password; "-" for none
}

// HasPassword reports whether a user can sign in with a password.
func (u User) HasPassword() bool { return u.Hash != noPassword }

// maxUsers is the maximum number of users in a file.
const maxUsers = 1000

// parseUsers parses the text of a file of users.
func parseUsers(text string) ([]User, error) {
	var all []User
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 3 {
			return nil, fmt.Errorf("line %d has %d words; add users with: arcrawl user add NAME", i+1, len(words))
		}
		u := User{Name: words[0], Hash: words[2]}
		err := CheckName(u.Name)
		if err == nil {
			u.Role, err = ParseRole(words[1])
		}
		if err == nil && u.HasPassword() {
			_, _, _, err = parseHash(u.Hash)
		}
		if err == nil && slices.ContainsFunc(all, func(o User) bool { return o.Name == u.Name }) {
			err = fmt.Errorf("the name %s is used twice", u.Name)
		}
		if err == nil && len(all) == maxUsers {
			err = fmt.Errorf("there are more than %d users; let a proxy name them", maxUsers)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, u)
	}
	return all, nil
}

// Users returns the users of a file; none if the file does not exist.
func Users(path string) ([]User, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []User
	if err == nil {
		all, err = parseUsers(string(text))
	}
	if err != nil {
		return nil, fmt.Errorf("read the file of users %s: %w", path, err)
	}
	return all, nil
}

// AddUser adds a user to a file, which it creates if necessary. With an empty password the user can only be named by a
// proxy.
func AddUser(path, name string, role Role, password string) error {
	hash, err := newHash(password)
	if err != nil {
		return err
	}
	return changeUsers(path, func(all []User) ([]User, error) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if userAt(all, name) >= 0 {
			return nil, fmt.Errorf("there is a user with the name %s; change it with arcrawl user add --change", name)
		}
		return append(all, User{name, role, hash}), nil
	})
}

// SetPassword changes the password of a user, which ends the user's sessions.
func SetPassword(path, name, password string) error {
	hash, err := newHash(password)
	if err != nil {
		return err
	}
	return changeUser(path, name, func(u *User) { u.Hash = hash })
}

// SetRole changes the role of a user.
func SetRole(path, name string, role Role) error {
	return changeUser(path, name, func(u *User) { u.Role = role })
}

// RemoveUser removes a user, which ends the user's sessions.
func RemoveUser(path, name string) error {
	return changeUsers(path, func(all []User) ([]User, error) {
		i := userAt(all, name)
		if i < 0 {
			return nil, errNoUser(name)
		}
		return slices.Delete(all, i, i+1), nil
	})
}

func changeUser(path, name string, change func(*User)) error {
	return changeUsers(path, func(all []User) ([]User, error) {
		i := userAt(all, name)
		if i < 0 {
			return nil, errNoUser(name)
		}
		change(&all[i])
		return all, nil
	})
}

func errNoUser(name string) error {
	return fmt.Errorf("there is no user with the name %s; arcrawl user list shows all", name)
}

// newHash returns the hash of a password; of an empty one, the mark for none.
func newHash(password string) (string, error) {
	if password == "" {
		return noPassword, nil
	}
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	return hashPassword(password, usualCost), nil
}

func userAt(all []User, name string) int {
	return slices.IndexFunc(all, func(u User) bool { return u.Name == name })
}

// changeUsers replaces a file of users.
func changeUsers(path string, change func([]User) ([]User, error)) error {
	err := edit(path, func() (string, error) {
		all, err := Users(path)
		if err != nil {
			return "", err
		}
		if all, err = change(all); err != nil {
			return "", err
		}
		text := "# name role password; the role is read, curate or operate. Change it with: arcrawl user\n"
		for _, u := range all {
			text += fmt.Sprintf("%s %s %s\n", u.Name, u.Role, u.Hash)
		}
		_, err = parseUsers(text)
		return text, err
	})
	if err != nil {
		return fmt.Errorf("change the file of users: %w", err)
	}
	return nil
}
