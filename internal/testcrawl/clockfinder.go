package testcrawl

import (
	"bytes"
	"regexp"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
)

// clockFinder finds one rule: for the clock of a page of the town.
type clockFinder struct{}

// Silence returns the rule if a reader sees the same of all pages without the clock.
func (f clockFinder) Silence(_ func() error, r *digest.Rules, fetches []noise.Version) (digest.Silencer, error) {
	rule := digest.Silencer{Selectors: []string{"i.clock"}}
	if !f.Silences(r, rule, fetches) {
		return digest.Silencer{}, nil
	}
	return rule, nil
}

// Silences reports whether a reader sees the same of all pages under a rule.
func (clockFinder) Silences(r *digest.Rules, rule digest.Silencer, fetches []noise.Version) bool {
	with, err := r.With(rule)
	if err != nil {
		return false
	}
	first := digest.SightOf(with.Scrub(fetches[0].Content, fetches[0].MIME))
	for _, v := range fetches {
		if s := digest.SightOf(with.Scrub(v.Content, v.MIME)); s.Exact == 0 || s != first {
			return false
		}
	}
	return true
}

var minutes = regexp.MustCompile(`<i class="clock">[0-9]{2}:[0-9]{2}</i>`)

// ShowsTime reports whether the page has a clock to the minute.
func (clockFinder) ShowsTime(_ *digest.Rules, v noise.Version) bool {
	return minutes.Match(v.Content)
}

// DifferInTime reports whether the pages differ, and are the same without clocks to the minute.
func (clockFinder) DifferInTime(_ *digest.Rules, a, b noise.Version) bool {
	same := bytes.Equal(minutes.ReplaceAll(a.Content, nil), minutes.ReplaceAll(b.Content, nil))
	return same && !bytes.Equal(a.Content, b.Content)
}
