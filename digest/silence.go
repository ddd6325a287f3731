package digest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Silencer holds rules that leave out what differs between fetches of one page. The zero value has none.
type Silencer struct {
	Regexes, Selectors []string
}

// The bounds of a [Silencer].
const (
	maxSilencing      = 6   // rules
	maxSilencingBytes = 512 // of the rules together
)

// ErrNoSilencer says that no narrow rules silence a page.
var ErrNoSilencer = errors.New("no narrow rules make the fetches the same")

// utf8Page is the type of pages that were scrubbed.
const utf8Page = "text/html; charset=utf-8"

// Silence returns the fewest rules that make a reader of some fetches of an HTML page see the same, as [Suggest] finds
// them. r is applied before. The fetches are of one [Moment] each with the next, and ordered by time. The error is
// ErrNoSilencer if there are no such rules, or the error of ended.
func (r *Rules) Silence(ended func() error, fetches []Version, contentType string) (Silencer, error) {
	for i := range fetches[:max(len(fetches)-1, 0)] {
		if fetches[i+1].Date.Sub(fetches[i].Date).Abs() > Moment {
			return Silencer{}, ErrNoSilencer // news and noise look the same
		}
	}
	left := each(fetches, func(v Version) Version { return Version{v.Date, r.Scrub(v.Content, contentType)} })
	found, err := Suggest(ended, left, utf8Page)
	if err := ended(); err != nil {
		return Silencer{}, err
	}
	all := Silencer{found.Regexes, found.Selectors}
	wholes := each(left, func(v Version) whole { return whole{seen(v.Content).Text, countWords(v.Content)} })
	silences := func() bool { return all.silence(r, fetches, wholes, contentType) }
	if err != nil || all.empty() || !silences() {
		return Silencer{}, ErrNoSilencer
	}
	// The broadest rules are removed first, as Suggest does.
	for _, list := range []*[]string{&all.Selectors, &all.Regexes} {
		for i := 0; i < len(*list); {
			if err := ended(); err != nil {
				return Silencer{}, err
			}
			before := *list
			*list = slices.Delete(slices.Clone(before), i, i+1)
			if !silences() {
				*list = before
				i++
			}
		}
	}
	if all.empty() || !all.short() {
		return Silencer{}, ErrNoSilencer
	}
	return all, nil
}

// short reports whether the rules are within the bounds, and each can be written in a line.
func (s Silencer) short() bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	rules := slices.Concat(s.Regexes, s.Selectors)
	return len(rules) <= maxSilencing && len(s.String()) <= maxSilencingBytes &&
		!slices.ContainsFunc(rules, func(r string) bool { return strings.ContainsFunc(r, odd) })
}

func (s Silencer) empty() bool { return len(s.Regexes)+len(s.Selectors) == 0 }

// silence reports whether a reader sees the same of each page under r and s, and at least half of what r leaves. What s
// removes from all of them is content, such as a list in another order: at most a label and a date.
func (s Silencer) silence(r *Rules, fetches []Version, wholes []whole, contentType string) bool {
	rules, err := r.With(s)
	if err != nil {
		return false
	}
	var first Sight
	var always map[string]int // how often each word and number is removed from every page
	for i, v := range fetches {
		left := rules.Scrub(v.Content, contentType)
		sight := seen(left)
		if sight.Exact == 0 || !sight.IsMost(Sight{Text: wholes[i].text}) {
			return false
		}
		removed := maps.Clone(wholes[i].words)
		for w, n := range countWords(left) {
			removed[w] -= n
		}
		if i == 0 {
			first, always = sight, removed
		}
		if sight.Masked != first.Masked {
			return false
		}
		for w, n := range always {
			always[w] = min(n, removed[w])
		}
	}
	tokens, natural := 0, 0
	for w, n := range always {
		n = max(n, 0)
		tokens, natural = tokens+n, natural+n*words(w)
	}
	return natural <= labelWords && tokens <= labelWords+dateTokens
}

// dateTokens is the number of words and numbers of a date with its time and zone.
const dateTokens = 8

// whole holds what a reader sees of a page without a silencer.
type whole struct {
	text  int            // bytes that a reader sees
	words map[string]int // how often a reader sees each word and number
}

// countWords returns how often a reader sees each word and number of a page.
func countWords(page []byte) map[string]int {
	count := map[string]int{}
	for _, w := range token.FindAllString(string(visible(page)), -1) {
		count[w]++
	}
	return count
}

// IsMost reports whether s has at least half of the text of the whole page.
func (s Sight) IsMost(whole Sight) bool { return 2*s.Text >= whole.Text }

// With returns the rules of r and s, to see pages by. An error says that s is not the result of [Rules.Silence].
func (r *Rules) With(s Silencer) (*Rules, error) {
	spec := r.spec
	spec.Text, spec.Sketch = false, false
	spec.Regexes = append(slices.Clone(spec.Regexes), s.Regexes...)
	spec.Selectors = append(slices.Clone(spec.Selectors), s.Selectors...)
	return Compile(spec)
}

// String returns the rules as [ParseSilencer] reads them, each in a line.
func (s Silencer) String() string {
	var b strings.Builder
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
