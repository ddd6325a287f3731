package digest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Spec says which parts of a content are compared. The zero value compares whole contents.
type Spec struct {
	Regexes   []string       // RE2; applied one after the other to the text of the page; matches are left out
	Selectors []string       // CSS; applied to HTML pages after Regexes; elements that match are left out
	Text      bool           // only the visible text is compared
	Types     *regexp.Regexp // the Content-Types that the rules apply to; nil = all; others are compared whole
	MaxSize   int64          // longer contents are compared whole; 0 = no limit
	Sketch    bool           // make a sketch, to recognise near-duplicates
}

// Rules is a compiled [Spec]. Several goroutines may use it at once. The zero value compares whole contents.
//
// Each match is replaced by one space, so that the length of the match does not matter. The charset of a content is
// taken from its byte order mark, header or meta element. Without any of these it is UTF-8 if the content is valid
// UTF-8.
//
// The time is linear in the length of the content for all rules. RE2 finds one match in linear time, but an
// expression such as "a.*?X|a" reads the whole rest of the page for each of its matches. Such a rule is recognised
// while it runs, by how far it reads beyond its matches. It is not applied to the rest of that page. Selectors are
// matched from the root down in one pass. Selectors that would need more (":has", ":nth-child", ":contains") are
// rejected.
type Rules struct {
	spec        Spec
	regexes     []scrubber
	selectors   selectors
	fingerprint uint64
	unordered   bool // of a silencer
}

// rulesVersion is part of every fingerprint. It must grow when the meaning of rules changes, so that digests of
// before and after are not compared.
const rulesVersion = 1

// Compile compiles a spec. The error joins the errors of [CheckRegex] and [CheckSelector].
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

// Spec returns what the rules were compiled from.
func (r *Rules) Spec() Spec { return r.spec }

// Matches returns the places in a text that one of the expressions matches, which are left out. The error is
// [ErrTooSlow], or the cause of ctx.
func (r *Rules) Matches(ctx context.Context, regex int, text []byte) (places [][]int, err error) {
	return r.regexes[regex].matches(ctx, text)
}

// fingerprint returns the fingerprint of the rules. It is zero only for a spec that leaves nothing out.
func (s Spec) fingerprint() uint64 {
	if len(s.Regexes)+len(s.Selectors) == 0 && !s.Text {
		return 0
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %t %d %d %d\n", rulesVersion, s.Text, s.MaxSize, len(s.Regexes), len(s.Selectors))
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

// Fingerprint returns a number that identifies the rules. Digests with different fingerprints cannot be compared. It is
// zero for rules that leave nothing out.
func (r *Rules) Fingerprint() uint64 { return r.fingerprint }

// Idle reports whether the rules do not apply to a content of this type and size, so that it need not be read.
func (r *Rules) Idle(contentType string, size int64) bool {
	nothing := r.fingerprint == 0 && !r.spec.Sketch
	tooLong := r.spec.MaxSize > 0 && size > r.spec.MaxSize
	return nothing || tooLong || r.spec.Types != nil && !r.spec.Types.MatchString(contentType)
}

// Whole returns the comparison digest of a content that is compared whole. sum is the digest of the content.
func (r *Rules) Whole(sum Digest) Comparison { return Comparison{Sum: sum, Rules: r.fingerprint} }

// overBudget is part of the fingerprint of a content that is compared whole because of [ErrTooSlow], so that it is not
// compared with a digest that the rules made.
const overBudget = 0x5ca1ab1e

// Compare returns the comparison digest of a content. sum is the digest of the content. If the rules take too long, by
// the end of ctx with the cause [ErrTooSlow] or by their size, the content is compared whole and the error is an
// ErrTooSlow. Any other error comes from reading the content, or is the cause of ctx.
func (r *Rules) Compare(
	ctx context.Context, content io.Reader, contentType string, sum Digest,
) (Comparison, error) {
	c := r.Whole(sum)
	body, ok, err := r.read(content)
	if !ok {
		return c, err
	}
	left := body
	if r.fingerprint != 0 {
		left, err = r.scrub(ctx, body, contentType)
		if errors.Is(err, ErrTooSlow) {
			c.Rules ^= overBudget
			return c, err
		}
		if err != nil {
			return Comparison{}, err
		}
		c.Sum = Of(left)
	}
	if r.spec.Sketch {
		c.Sketch = sketch(left)
	}
	return c, nil
}

// read reads a content. ok is false after an error, and for a content that is longer than MaxSize.
func (r *Rules) read(content io.Reader) (body []byte, ok bool, err error) {
	limit := r.spec.MaxSize
	if limit <= 0 {
		limit = 1 << 40
	}
	body, err = io.ReadAll(io.LimitReader(content, limit+1))
	return body, err == nil && int64(len(body)) <= limit, err
}

// Scrub returns the parts of a content that are compared, in UTF-8. It ignores Types and MaxSize. If the rules take too
// long on the content, it returns the whole content.
func (r *Rules) Scrub(content []byte, contentType string) []byte {
	left, err := r.scrub(context.Background(), content, contentType)
	if err != nil {
		return content
	}
	return left
}

func (r *Rules) scrub(ctx context.Context, content []byte, contentType string) (text []byte, err error) {
	text = Decode(content, contentType)
	for i := range r.regexes {
		if text, err = r.regexes[i].scrub(ctx, text); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	isHTML := IsHTML(contentType)
	switch {
	case !isHTML || len(r.selectors.compounds) == 0 && !r.spec.Text:
		if r.spec.Text && !isHTML {
			text = []byte(strings.Join(strings.Fields(string(text)), " "))
		}
		return text, nil
	case r.spec.Text && len(r.selectors.compounds) == 0:
		return Visible(text), nil
	}
	return r.scrubTree(text), nil
}

// scrubTree leaves out the elements that a selector matches and, if only text is compared, everything invisible.
func (r *Rules) scrubTree(text []byte) []byte {
	root, err := html.Parse(strings.NewReader(string(text)))
	if err != nil {
		return text // nested deeper than any browser accepts
	}
	r.selectors.remove(root)
	var b strings.Builder
	if html.Render(&b, root) != nil {
		return text
	}
	if r.spec.Text {
		return Visible([]byte(b.String()))
	}
	return []byte(b.String())
}
