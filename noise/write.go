package noise

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// writeSuggestion writes the rules that [infer.Suggest] finds for versions of a page, as TOML for the file of its host,
// and returns them. Comments say what the rules leave out of the newest version, and which parts have no rule.
func writeSuggestion(
	ctx context.Context, out io.Writer, u uri.URI, versions []aspect.Version,
) (infer.Proposal, error) {
	p, err := infer.Suggest(ctx.Err, versions)
	if err != nil {
		return p, fmt.Errorf("%s: %w", u, err)
	}
	var text strings.Builder
	first, last := versions[0].Date.UTC(), versions[len(versions)-1].Date.UTC()
	fmt.Fprintf(&text, "# %s, %s from %s to %s: %s.\n", u, human.Count(len(versions), "version"),
		first.Format(time.DateTime), last.Format(time.DateTime), human.Count(p.Pairs, "difference"))
	writeParts(&text, "Differs at every visit and may be news, so there is no rule. Two fetches within seconds (--fetch) show if it is noise", p.Open)
	writeParts(&text, "Differs within seconds, but a rule would also hide main content, so there is none", p.Refused)
	if len(p.Regexes)+len(p.Selectors) == 0 {
		text.WriteString("# No noise was found, so no rule is needed.\n")
	} else {
		fmt.Fprintf(&text, "# With these rules %d of them are no change, %d are edits, and %d are noise without a rule.\n",
			p.Quiet, p.Edits, p.Loud)
		text.WriteString("[change]\nmode = \"scrubbed\"\n")
		newest := versions[len(versions)-1]
		writeRules(&text, "scrub", p.Regexes, func(r string) string {
			return removed(digest.Spec{Regexes: []string{r}}, digest.Spec{Regexes: []string{noRegex}}, newest)
		})
		writeRules(&text, "scrub_css", p.Selectors, func(r string) string {
			return removed(digest.Spec{Selectors: []string{r}}, digest.Spec{Selectors: []string{noSelector}}, newest)
		})
	}
	_, err = io.WriteString(out, text.String())
	return p, err
}

// writeParts writes parts of a page as comments.
func writeParts(text *strings.Builder, title string, parts []infer.Part) {
	if len(parts) == 0 {
		return
	}
	fmt.Fprintf(text, "# %s:\n", title)
	for i, p := range parts {
		if i == shownLines {
			fmt.Fprintf(text, "#   … and %d more\n", len(parts)-i)
			return
		}
		fmt.Fprintf(text, "#   %s: %s\n", p.Place, printable(p.Sample))
	}
}

// removed returns the beginning of what a rule leaves out of a version. nothing is a rule of its kind that matches
// nothing.
func removed(rule, nothing digest.Spec, v aspect.Version) string {
	left, whole, err := scrubbed(rule, nothing, v)
	if err != nil {
		return ""
	}
	_, gone := differing(left, whole)
	return printable(excerpt(strings.Join(strings.Fields(string(gone)), " "), ""))
}

// printable returns a text without control characters and broken characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
}

// writeRules writes a list of rules as TOML, each with an example of what it leaves out.
func writeRules(text *strings.Builder, key string, rules []string, example func(rule string) string) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(text, "%s = [\n", key)
	for _, r := range rules {
		fmt.Fprintf(text, "  %s, # %s\n", schema.Literal(r), example(r))
	}
	text.WriteString("]\n")
}

const (
	shownWidth = 58 // of a version, in characters
	shownLines = 12 // of a pair of versions
)

// writePairs writes each pair of versions side by side, and how many versions differ. same is the number of versions
// that are equal to the version before.
func writePairs(out io.Writer, pairs []pair, same int) error {
	var text strings.Builder
	for _, p := range pairs {
		before, after := p.Before.UTC().Format(time.DateTime), p.After.UTC().Format(time.DateTime)
		fmt.Fprintf(&text, "%-*s | %s\n", shownWidth, before, after)
		sideBySide(&text, strings.Split(p.Left, "\n"), strings.Split(p.Right, "\n"))
		text.WriteString("\n")
	}
	verb := "differ"
	if len(pairs) == 1 {
		verb = "differs"
	}
	fmt.Fprintf(&text, "%s: %d equal the version before, %d %s\n", human.Count(len(pairs)+same+1, "version"), same,
		len(pairs), verb)
	_, err := io.WriteString(out, text.String())
	return err
}

// differing returns two lists without what they have in common at both ends.
func differing[E comparable](a, b []E) (inA, inB []E) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// sideBySide writes the lines from the first to the last that differs.
func sideBySide(text *strings.Builder, left, right []string) {
	left, right = differing(left, right)
	for i := range max(len(left), len(right)) {
		if i == shownLines {
			fmt.Fprintf(text, "… and %d more lines\n", max(len(left), len(right))-i)
			return
		}
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		if a == b {
			continue
		}
		a, b = excerpt(a, b), excerpt(b, a)
		fmt.Fprintf(text, "%s%s | %s\n", a, strings.Repeat(" ", max(0, shownWidth-utf8.RuneCountInString(a))), b)
	}
}

// excerpt returns the part of a line around its first difference from another one, without control characters.
func excerpt(line, other string) string {
	a, b := []rune(line), []rune(other)
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	start := max(0, min(at-20, len(a)-shownWidth))
	a = a[start:min(len(a), start+shownWidth)]
	for i, r := range a {
		if r < ' ' || r == 0x7f {
			a[i] = ' '
		}
	}
	return string(a)
}
