package digest

import (
	"slices"
	"strings"
)

// Silencer holds rules that leave out what differs between fetches of one page. The zero value has none.
type Silencer struct {
	Regexes, Selectors []string
	Unordered          bool // the parts of the page are compared as a set, whatever their order
}

// IsEmpty reports whether s leaves out nothing.
func (s Silencer) IsEmpty() bool { return len(s.Regexes)+len(s.Selectors) == 0 && !s.Unordered }

// With returns the rules of r and s, to see pages by. An error says that s was not found for a page.
func (r *Rules) With(s Silencer) (*Rules, error) {
	spec := r.spec
	spec.Text, spec.Sketch = false, false
	spec.Regexes = append(slices.Clone(spec.Regexes), s.Regexes...)
	spec.Selectors = append(slices.Clone(spec.Selectors), s.Selectors...)
	with, err := Compile(spec)
	if err == nil && s.Unordered {
		with.unordered = true
		with.fingerprint = max(1, ^with.fingerprint)
	}
	return with, err
}

// unordered is the line for Silencer.Unordered. No rule begins so.
const unordered = "u"

// String returns the rules as [ParseSilencer] reads them, each in a line.
func (s Silencer) String() string {
	var b strings.Builder
	if s.Unordered {
		b.WriteString(unordered + "\n")
	}
	for _, rule := range s.Regexes {
		b.WriteString("r" + rule + "\n")
	}
	for _, rule := range s.Selectors {
		b.WriteString("s" + rule + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseSilencer reads the result of [Silencer.String]. It skips lines that it does not know.
func ParseSilencer(text string) (s Silencer) {
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == unordered:
			s.Unordered = true
		case strings.HasPrefix(line, "r"):
			s.Regexes = append(s.Regexes, line[1:])
		case strings.HasPrefix(line, "s"):
			s.Selectors = append(s.Selectors, line[1:])
		}
	}
	return s
}

// Settings returns the rules as the settings that would accept them, in a line.
func (s Silencer) Settings() string {
	var all []string
	for _, r := range s.Regexes {
		all = append(all, "scrub = ['"+r+"']")
	}
	for _, r := range s.Selectors {
		all = append(all, "scrub_css = ['"+r+"']")
	}
	return strings.Join(all, ", ")
}
