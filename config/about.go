package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Site describes a host for curators.
type Site struct {
	// It describes a seed too. Nothing of it changes how a URI is visited. Labels, collections and owners are sorted.

	Title       string   `json:"title,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Collections []string `json:"collections,omitempty"`
	Owners      []string `json:"owners,omitempty"`
	Note        string   `json:"note,omitempty"`
}

// NamedSeed describes one seed.
type NamedSeed struct {
	URI uri.URI
	Site
}

// Over returns s with the names of more added. The title and the note of s stay, if it has any.
func (s Site) Over(more Site) Site {
	join := func(a, b []string) []string {
		all := slices.Concat(a, b)
		slices.Sort(all)
		return slices.Compact(all)
	}
	if s.Title == "" {
		s.Title = more.Title
	}
	if s.Note == "" {
		s.Note = more.Note
	}
	s.Labels, s.Collections = join(s.Labels, more.Labels), join(s.Collections, more.Collections)
	s.Owners = join(s.Owners, more.Owners)
	return s
}

// Equal reports whether two descriptions are the same.
func (s Site) Equal(other Site) bool {
	return s.Title == other.Title && s.Note == other.Note && slices.Equal(s.Labels, other.Labels) &&
		slices.Equal(s.Collections, other.Collections) && slices.Equal(s.Owners, other.Owners)
}

// Names returns the labels, collections and owners together. Recipients of alarms are chosen by them.
func (s Site) Names() []string { return slices.Concat(s.Labels, s.Collections, s.Owners) }

// Filter selects hosts. An empty field selects all.
type Filter struct{ Label, Collection, Owner string }

// IsZero reports whether the filter selects everything.
func (f Filter) IsZero() bool { return f == Filter{} }

// Matches reports whether the filter selects a host or seed.
func (f Filter) Matches(s Site) bool {
	has := func(list []string, name string) bool { return name == "" || slices.Contains(list, name) }
	return has(s.Labels, f.Label) && has(s.Collections, f.Collection) && has(s.Owners, f.Owner)
}

// String returns the filter for people: label "news" and owner "anna".
func (f Filter) String() string {
	var all []string
	for _, part := range []struct{ kind, name string }{
		{"label", f.Label}, {"collection", f.Collection}, {"owner", f.Owner},
	} {
		if part.name != "" {
			all = append(all, fmt.Sprintf("%s %q", part.kind, part.name))
		}
	}
	return strings.Join(all, " and ")
}

// Bounds of what curators write.
const (
	MaxName  = 64   // bytes of a label, a collection or an owner
	MaxNames = 50   // labels of a host; likewise collections
	MaxTitle = 200  // bytes
	MaxNote  = 4000 // bytes
)

// The checks of what curators write.
var (
	// CheckName accepts the name of a label, a collection or an owner.
	CheckName = schema.Accept(func(s string) bool {
		return s != "" && len(s) <= MaxName && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "=,;\"") &&
			!control(s, "")
	}, "is not a name of a label, collection or owner",
		fmt.Sprintf("write 1 to %d characters without = , ; and quotes, such as \"newspapers\"", MaxName))
	// CheckTitle accepts a title.
	CheckTitle = schema.Accept(func(s string) bool { return len(s) <= MaxTitle && !control(s, "") },
		"is not a title", fmt.Sprintf("write one line of at most %d characters", MaxTitle))
	// CheckNote accepts a note.
	CheckNote = schema.Accept(func(s string) bool { return len(s) <= MaxNote && !control(s, "\n\t") },
		"is not a note", fmt.Sprintf("write a text of at most %d characters", MaxNote))
)

// control reports whether a text is not valid UTF-8, or has control characters or characters that change the direction
// of the text around it.
func control(s, but string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		turns := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
		return turns || (r < ' ' || r >= 0x7f && r < 0xa0) && !strings.ContainsRune(but, r)
	})
}
