package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Spec says what of a content is compared. The zero value compares all of it.
type Spec struct {
	Regexes   []string       // RE2; what they match is left out, one after the other, in the page as text
	Selectors []string       // CSS; elements that match are left out of what the regexes left of an HTML page
	Text      bool           // only what a reader sees is compared
	Types     *regexp.Regexp // the Content-Types that all this is for; nil = all. Others are compared whole
	MaxSize   int64          // longer contents are compared whole; 0 = none is too long
	Sketch    bool           // a sketch is made, by which near-duplicates are known
}

// Rules are a compiled [Spec]. They may be used by many goroutines at once. The zero value compares whole contents.
//
// Each match is replaced by one space, so that a counter that grows by a digit leaves no trace. Contents are read as
// their charset says: by byte order mark, header or meta element; what is declared nowhere is UTF-8 if it can be.
//
// Their time is linear in the length of the content, whatever the rules. RE2 finds one match in linear time; but an
// expression such as "a.*?X|a" looks through the whole rest of the page for each of its matches. Such a rule is found out
// while it works, by how far it reads beyond its matches, and left off for the rest of that page. Selectors are matched
// from the root down in one pass; those that would need more (":has", ":nth-child", ":contains") are refused.
type Rules struct {
	spec        Spec
	regexes     []scrubber
	selectors   selectors
	fingerprint uint64
}

// formatOfRules is part of every fingerprint. It grows when the same rules are to mean something else, so that digests made
// before are not compared with those made after.
const formatOfRules = 1

// Compile compiles a spec. The error joins those of [CheckRegex] and [CheckSelector].
func Compile(s Spec) (*Rules, error) {
	r := &Rules{spec: s}
	var faults []error
	for _, expr := range s.Regexes {
		re, err := newScrubber(expr)
		if err != nil {
			faults = append(faults, fmt.Errorf("scrub by %q: %w", expr, err))
			continue
		}
		r.regexes = append(r.regexes, re)
	}
	for _, sel := range s.Selectors {
		if err := r.selectors.add(sel); err != nil {
			faults = append(faults, fmt.Errorf("scrub by %q: %w", sel, err))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	r.fingerprint = s.fingerprint()
	return r, nil
}

// fingerprint is zero only for a spec that leaves nothing out.
func (s Spec) fingerprint() uint64 {
	if len(s.Regexes)+len(s.Selectors) == 0 && !s.Text {
		return 0
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %t %d %d %d\n", formatOfRules, s.Text, s.MaxSize, len(s.Regexes), len(s.Selectors))
	for _, list := range [][]string{s.Regexes, s.Selectors} {
		for _, rule := range list {
			fmt.Fprintf(h, "%d %s\n", len(rule), rule)
		}
	}
	if s.Types != nil {
		fmt.Fprintf(h, "%s\n", s.Types)
	}
	return max(1, binary.BigEndian.Uint64(h.Sum(nil)))
}

// Fingerprint tells rules apart: digests made under different fingerprints cannot be compared. It is zero for rules that
// leave nothing out.
func (r *Rules) Fingerprint() uint64 { return r.fingerprint }

// Idle reports whether the rules make no difference to a content of this type and size, so that it need not be read.
func (r *Rules) Idle(contentType string, size int64) bool {
	nothing := r.fingerprint == 0 && !r.spec.Sketch
	tooLong := r.spec.MaxSize > 0 && size > r.spec.MaxSize
	return nothing || tooLong || r.spec.Types != nil && !r.spec.Types.MatchString(contentType)
}

// Whole is the comparison digest of a content that is compared as a whole; sum is its digest.
func (r *Rules) Whole(sum Digest) Comparison { return Comparison{Sum: sum, Rules: r.fingerprint} }

// Compare is the comparison digest of a content, of which sum is the digest. The error is that of reading.
func (r *Rules) Compare(content io.Reader, contentType string, sum Digest) (Comparison, error) {
	limit := r.spec.MaxSize
	if limit <= 0 {
		limit = 1 << 40
	}
	body, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err != nil || int64(len(body)) > limit {
		return r.Whole(sum), err
	}
	c := r.Whole(sum)
	left := body
	if r.fingerprint != 0 {
		left = r.Scrub(body, contentType)
		c.Sum = Of(left)
	}
	if r.spec.Sketch {
		c.Sketch = sketch(left)
	}
	return c, nil
}

// Scrub gives what is left of a content to be compared, in UTF-8. It does not look at Types and MaxSize.
func (r *Rules) Scrub(content []byte, contentType string) []byte {
	text := decode(content, contentType)
	for i := range r.regexes {
		text = r.regexes[i].scrub(text)
	}
	switch {
	case !isHTML(contentType) || len(r.selectors.compounds) == 0 && !r.spec.Text:
		if r.spec.Text && !isHTML(contentType) {
			text = []byte(strings.Join(strings.Fields(string(text)), " "))
		}
		return text
	case r.spec.Text && len(r.selectors.compounds) == 0:
		return visible(text)
	}
	return r.scrubTree(text)
}

// scrubTree leaves out elements, and what nobody sees if only that is asked for.
func (r *Rules) scrubTree(text []byte) []byte {
	root, err := html.Parse(strings.NewReader(string(text)))
	if err != nil {
		return text // nested deeper than any browser would go
	}
	r.selectors.remove(root)
	var b strings.Builder
	if html.Render(&b, root) != nil {
		return text
	}
	if r.spec.Text {
		return visible([]byte(b.String()))
	}
	return []byte(b.String())
}

func isHTML(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	return media == "text/html" || media == "application/xhtml+xml"
}
