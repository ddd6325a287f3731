package infer

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
)

// The bounds of a [digest.Silencer].
const (
	maxSilencing      = 6   // rules
	maxSilencingBytes = 512 // of the rules together
)

// errNoSilencer says that no narrow rules silence a page.
var errNoSilencer = errors.New("no narrow rules make the fetches the same")

// utf8Page is the type of pages that were scrubbed.
const utf8Page = "text/html; charset=utf-8"

// Finder finds rules for the second looks of a crawl: it is a [noise.Finder].
type Finder struct{}

// Silence returns the fewest rules that make a reader of some fetches of an HTML page see the same, as [Suggest] finds
// them. r is applied before. The fetches are of one [noise.Moment] each with the next, and ordered by time. Silence
// returns no rules if there are none of this kind. The error is the one of ended.
func (Finder) Silence(ended func() error, r *digest.Rules, fetches []noise.Version) (digest.Silencer, error) {
	found, err := silence(ended, r, fetches)
	if errors.Is(err, errNoSilencer) {
		err = nil
	}
	return found, err
}

// silence returns rules as [Finder.Silence] does, and errNoSilencer if there are none.
func silence(ended func() error, r *digest.Rules, fetches []noise.Version) (none digest.Silencer, err error) {
	if !ofOneMoment(fetches) {
		return none, errNoSilencer
	}
	contentType := fetches[len(fetches)-1].MIME
	left := each(fetches, func(v noise.Version) noise.Version {
		return noise.Version{Date: v.Date, MIME: utf8Page, Content: r.Scrub(v.Content, contentType)}
	})
	wholes := each(left, func(v noise.Version) whole {
		return whole{digest.SightOf(v.Content).Text, countWords(v.Content)}
	})
	if order := (digest.Silencer{Unordered: true}); silenced(r, order, fetches, wholes) {
		return order, nil // only lists come in another order
	}
	found, err := Suggest(ended, left)
	if err := ended(); err != nil {
		return none, err
	}
	all := digest.Silencer{Regexes: found.Regexes, Selectors: found.Selectors}
	silences := func() bool { return silenced(r, all, fetches, wholes) }
	if err != nil || all.IsEmpty() || !silences() {
		return none, errNoSilencer
	}
	// The broadest rules are removed first, as Suggest does.
	for _, list := range []*[]string{&all.Selectors, &all.Regexes} {
		for i := 0; i < len(*list); {
			if err := ended(); err != nil {
				return none, err
			}
			before := *list
			*list = slices.Delete(slices.Clone(before), i, i+1)
			if !silences() {
				*list = before
				i++
			}
		}
	}
	if all.IsEmpty() || !isShort(all) {
		return none, errNoSilencer
	}
	return all, nil
}

// isShort reports whether the rules are within the bounds, and each can be written in a line.
func isShort(s digest.Silencer) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	rules := slices.Concat(s.Regexes, s.Selectors)
	return len(rules) <= maxSilencing && len(s.String()) <= maxSilencingBytes &&
		!slices.ContainsFunc(rules, func(r string) bool { return strings.ContainsFunc(r, odd) })
}

// Silences reports whether rules make a reader of some fetches see the same. The fetches are of one [noise.Moment] each
// with the next. It asks for the same proofs as [Finder.Silence].
func (Finder) Silences(r *digest.Rules, s digest.Silencer, fetches []noise.Version) bool {
	if !ofOneMoment(fetches) || s.IsEmpty() {
		return false
	}
	contentType := fetches[len(fetches)-1].MIME
	return silenced(r, s, fetches, each(fetches, func(v noise.Version) whole {
		left := r.Scrub(v.Content, contentType)
		return whole{digest.SightOf(left).Text, countWords(left)}
	}))
}

// ofOneMoment reports whether nothing new is to be expected between fetches. Otherwise news and noise look the same.
func ofOneMoment(fetches []noise.Version) bool {
	for i := range fetches[:max(len(fetches)-1, 0)] {
		if fetches[i+1].Date.Sub(fetches[i].Date).Abs() > noise.Moment {
			return false
		}
	}
	return true
}

// silenced reports whether a reader sees the same of each page under r and s, and at least half of what r leaves. What
// s removes from all of them is content, such as a list in another order: at most a label and a date.
func silenced(r *digest.Rules, s digest.Silencer, fetches []noise.Version, wholes []whole) bool {
	rules, err := r.With(s)
	if err != nil {
		return false
	}
	contentType := fetches[len(fetches)-1].MIME
	var first digest.Sight
	var always map[string]int // how often each word and number is removed from every page
	for i, v := range fetches {
		left := rules.Scrub(v.Content, contentType)
		sight := rules.SightOf(left)
		if sight.Exact == 0 || !sight.IsMost(digest.Sight{Text: wholes[i].text}) {
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
	for _, w := range token.FindAllString(string(digest.Visible(page)), -1) {
		count[w]++
	}
	return count
}
