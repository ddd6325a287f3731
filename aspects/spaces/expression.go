package spaces

import (
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Found is a trap that another package has recognised: exactly one of Parameter and Space is set, see [Trap].
type Found struct {
	Authority string // host and port
	Parameter string
	Space     string
	Why       string
	Examples  []string
	Visited   int
}

// AddFound adds a trap. It reports false if the trap is known or was released.
func (b *TrapStore) AddFound(h uri.Host, f Found, now time.Time) (t Trap, added bool, err error) {
	t = Trap{
		Kind: Parameter, Parameter: f.Parameter, Space: f.Space, Why: f.Why, Examples: f.Examples, Visited: f.Visited,
		Found: now, Pattern: f.pattern(),
	}
	if f.Parameter == "" {
		t.Kind = Query
	}
	err = b.change(h, func(s *trapState) bool {
		added = s.addTrap(t)
		return added
	})
	return t, added, err
}

// Refute releases the traps of a host for a parameter or space that were wrong, and returns them.
func (b *TrapStore) Refute(h uri.Host, f Found) (released []Trap, err error) {
	err = b.change(h, func(s *trapState) bool {
		for i := range s.traps {
			t := &s.traps[i]
			is := t.Kind == Parameter && f.Parameter != "" && t.Parameter == f.Parameter ||
				t.Kind == Query && f.Space != "" && t.Space == f.Space
			if is && !t.Released {
				t.Released = true
				released = append(released, *t)
			}
		}
		return len(released) > 0
	})
	return released, err
}

// PatternOfSpace returns an expression that finds the URIs of a path with certain names of parameters, as
// [Found].Space has them, on a host and all of its ports.
func PatternOfSpace(h uri.Host, space string) string {
	plain := Found{Authority: string(h), Space: space}.pattern()
	return strings.Replace(plain, quote(string(h)), quote(string(h))+"(?::[0-9]+)?", 1)
}

// pattern returns the expression that finds the URIs of the trap.
func (f Found) pattern() string {
	begin := "^https?://" + quote(f.Authority)
	if name, ok := strings.CutPrefix(f.Parameter, ";"); ok {
		return "^(" + begin[1:] + "/[^?]*);" + quote(name) + "=[^/?]*"
	}
	if f.Parameter != "" {
		return begin + `/[^?]*\?(?:.*&)?` + quote(f.Parameter) + "=[^&]*"
	}
	path, names, _ := strings.Cut(f.Space, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if parts[i] = quote(part); part == "*" {
			parts[i] = "[^/?]+"
		}
	}
	list := strings.Split(names, "&")
	for i := range list {
		list[i] = quote(list[i])
	}
	one := "(?:" + strings.Join(slices.Compact(list), "|") + ")(?:=[^&]*)?"
	return begin + strings.Join(parts, "/") + `\?` + one + "(?:&" + one + ")*$"
}
