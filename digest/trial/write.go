package trial

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// WriteSuggestion writes the rules that [Suggest] finds for versions of a page, as TOML for the file of its host.
func WriteSuggestion(out io.Writer, u uri.URI, versions []Version) error {
	p, err := Suggest(versions)
	if err != nil {
		return fmt.Errorf("%s: %w", u, err)
	}
	var text strings.Builder
	first, last := versions[0].Date.UTC(), versions[len(versions)-1].Date.UTC()
	fmt.Fprintf(&text, "# %s, %s from %s to %s: %s.\n", u, human.Count(len(versions), "version"),
		first.Format(time.DateTime), last.Format(time.DateTime), human.Count(p.Pairs, "difference"))
	if len(p.Regexes)+len(p.Selectors) == 0 {
		text.WriteString("# Nothing differs at every visit, so no rule is needed.\n")
	} else {
		fmt.Fprintf(&text, "# With these rules %d of them are no change, %d are edits, and %d are noise without a rule.\n",
			p.Quiet, p.Edits, p.Loud)
		text.WriteString("[change]\nmode = \"scrubbed\"\n")
		writeRules(&text, "scrub", p.Regexes)
		writeRules(&text, "scrub_css", p.Selectors)
	}
	_, err = io.WriteString(out, text.String())
	return err
}

// writeRules writes a list of rules as TOML.
func writeRules(text *strings.Builder, key string, rules []string) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(text, "%s = [\n", key)
	for _, r := range rules {
		if strings.ContainsAny(r, "'\n") {
			fmt.Fprintf(text, "  %q,\n", r)
		} else {
			fmt.Fprintf(text, "  '%s',\n", r)
		}
	}
	text.WriteString("]\n")
}

const (
	shownWidth = 58 // of a version, in characters
	shownLines = 12 // of a pair of versions
)

// WritePairs writes each pair of versions side by side, and how many versions differ. same is the number of versions
// that are equal to the version before.
func WritePairs(out io.Writer, pairs []Pair, same int) error {
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
	fmt.Fprintf(&text, "%d versions: %d equal the version before, %d %s\n", len(pairs)+same+1, same, len(pairs), verb)
	_, err := io.WriteString(out, text.String())
	return err
}

// sideBySide writes the lines from the first to the last that differs.
func sideBySide(text *strings.Builder, left, right []string) {
	for len(left) > 0 && len(right) > 0 && left[0] == right[0] {
		left, right = left[1:], right[1:]
	}
	for len(left) > 0 && len(right) > 0 && left[len(left)-1] == right[len(right)-1] {
		left, right = left[:len(left)-1], right[:len(right)-1]
	}
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
