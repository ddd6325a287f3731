package noise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"

	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/noise/infer"
)

// The kinds of rules, as the keys of [change] are called.
const (
	expression = "scrub"
	selector   = "scrub_css"
)

// The bounds of one request.
const (
	maxTried = 12               // rules that are tried for one difference
	maxRules = 20               // rules in one order
	maxTime  = 10 * time.Second // for which rules are looked for
)

var errSlow = fmt.Errorf("it takes longer than %s, because the page is large or differs in many parts", maxTime)

// ended returns a function that returns an error when a request for rules has to end. Meanwhile nobody else can read
// the archive.
func (w work) ended(ctx context.Context) func() error {
	end := w.clock().Add(maxTime)
	return func() error {
		if ctx.Err() == nil && w.clock().After(end) {
			return errSlow
		}
		return context.Cause(ctx)
	}
}

// with returns a spec with further rules.
func with(spec digest.Spec, rules []ScrubRule) digest.Spec {
	spec.Regexes, spec.Selectors = slices.Clone(spec.Regexes), slices.Clone(spec.Selectors)
	for _, r := range rules {
		if r.Kind == selector {
			spec.Selectors = append(spec.Selectors, r.Rule)
		} else {
			spec.Regexes = append(spec.Regexes, r.Rule)
		}
	}
	return spec
}

// check returns an error if a rule cannot be one.
func check(rules []ScrubRule) error {
	if len(rules) == 0 || len(rules) > maxRules {
		return fmt.Errorf("%d rules: write 1 to %d", len(rules), maxRules)
	}
	for _, r := range rules {
		check, ok := map[string]func(string) error{expression: digest.CheckRegex, selector: digest.CheckSelector}[r.Kind]
		if !ok {
			return fmt.Errorf("unknown kind of rule %q; valid kinds: %s, %s", r.Kind, expression, selector)
		}
		if err := check(r.Rule); err != nil {
			return fmt.Errorf("the rule %q: %w", r.Rule, err)
		}
	}
	return nil
}

// propose returns rules that hide a row of the comparison of two versions, as few as possible. spec has the rules in
// force. The search ends with the error of ended.
func propose(
	ctx context.Context, p captures.Pair, w IgnoreWish, spec digest.Spec, ended func() error,
) (IgnoreProposal, error) {
	none := func(text string) (IgnoreProposal, error) {
		return IgnoreProposal{Rules: []ScrubRule{}, Problem: text}, nil
	}
	differs, err := shows(ctx, p, w, spec)
	if err != nil {
		return IgnoreProposal{}, err
	}
	if !differs {
		return none("The versions do not differ there any more. Compare them again.")
	}
	before, after, contentType := p.Contents()
	moment := time.Unix(0, 0) // of both: everything that differs is noise, because somebody says so
	both := []aspect.Version{
		{Date: moment, MIME: contentType, Content: before}, {Date: moment, MIME: contentType, Content: after},
	}
	found, err := infer.Suggest(ended, both)
	if err != nil && !errors.Is(err, infer.ErrTooFew) {
		return none("No rule was found: " + err.Error() + ".")
	}
	rules := rulesOf(found.Regexes, found.Selectors)
	rules = rules[:min(len(rules), maxTried)]
	if differs, err = shows(ctx, p, w, with(spec, rules)); err != nil {
		return IgnoreProposal{}, err
	}
	if differs || len(rules) == 0 {
		return none("No narrow rule hides this difference: it is main content, or nothing around it says where it is. " +
			"Write a rule by hand, and try it here.")
	}
	for i := 0; i < len(rules); {
		fewer := slices.Delete(slices.Clone(rules), i, i+1)
		if differs, err = shows(ctx, p, w, with(spec, fewer)); err != nil {
			return IgnoreProposal{}, err
		}
		if differs {
			i++
		} else {
			rules = fewer
		}
	}
	return IgnoreProposal{Rules: rules}, nil
}

// rulesOf returns expressions and selectors as rules.
func rulesOf(expressions, selectors []string) (rules []ScrubRule) {
	for _, r := range expressions {
		rules = append(rules, ScrubRule{Kind: expression, Rule: r})
	}
	for _, r := range selectors {
		rules = append(rules, ScrubRule{Kind: selector, Rule: r})
	}
	return rules
}

// shows reports whether the comparison under some rules has the row as a difference.
func shows(ctx context.Context, p captures.Pair, w IgnoreWish, spec digest.Spec) (bool, error) {
	rules, err := digest.Compile(spec)
	if err != nil {
		return false, err
	}
	c, err := p.Compare(ctx, w.What, rules)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(c.Rows, func(r captures.CompareRow) bool {
		different := r.Kind == "changed" || r.Kind == "added" || r.Kind == "removed"
		return different && textOf(r.Left) == w.Left && textOf(r.Right) == w.Right
	}), nil
}

// textOf returns the text of a line.
func textOf(l *captures.CompareLine) string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range l.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
