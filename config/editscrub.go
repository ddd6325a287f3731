package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// ErrByHand says that the text cannot be edited safely, so that a person must do it.
var ErrByHand = errors.New("cannot add the rules to the file safely; add them by hand")

// ScrubRules are scrubbing rules of a host.
type ScrubRules struct{ Scrub, ScrubCSS []string }

// change is the table of the scrubbing rules.
const change = "change"

// AddScrubRules returns the text of a host file with the rules added to its [change] table. Rules that the file has
// already are not added again. A mode that ignores rules is replaced by "scrubbed". The error is [ErrByHand], or says
// that the text has faults.
func AddScrubRules(text []byte, rules ScrubRules) ([]byte, error) {
	e, err := edit(text, "add rules to")
	if err != nil {
		return nil, err
	}
	table := schema.Path("").Child(change)
	if !e.before.Has(table) {
		if len(text) > 0 && !strings.HasSuffix(string(text), "\n") {
			e.lines = append(e.lines, "\n")
		}
		e.lines = append(e.lines, "\n[change]\n")
		if len(text) == 0 {
			e.lines = []string{"[change]\n"}
		}
		return e.checkRules(strings.Join(e.lines, "")+rules.newKeys(true), rules)
	}
	header := e.line(table)
	if header < 0 || !strings.HasPrefix(strings.TrimSpace(e.lines[header]), "[") {
		return nil, ErrByHand // dotted keys or an inline table
	}
	var missing ScrubRules
	var ok, ok2 bool
	_, missing.Scrub, ok = e.addTo(table.Child("scrub"), rules.Scrub)
	if _, missing.ScrubCSS, ok2 = e.addTo(table.Child("scrub_css"), rules.ScrubCSS); !ok || !ok2 {
		return nil, ErrByHand
	}
	mode := e.before.Value(table.Child("mode"))
	if mode == "strict" {
		at := e.line(table.Child("mode"))
		e.lines[at] = strings.NewReplacer(`"strict"`, `"scrubbed"`, `'strict'`, `"scrubbed"`).Replace(e.lines[at])
	}
	if !strings.HasSuffix(e.lines[header], "\n") {
		e.lines[header] += "\n"
	}
	e.lines[header] += missing.newKeys(mode == nil)
	return e.checkRules(strings.Join(e.lines, ""), rules)
}

// newKeys returns the lines of keys that the file does not have.
func (r ScrubRules) newKeys(mode bool) (lines string) {
	if mode {
		lines = "mode = \"scrubbed\"\n"
	}
	if len(r.Scrub) > 0 {
		lines += "scrub = [\n" + items(r.Scrub) + "]\n"
	}
	if len(r.ScrubCSS) > 0 {
		lines += "scrub_css = [\n" + items(r.ScrubCSS) + "]\n"
	}
	return lines
}

// items returns elements of a list, one on each line.
func items(rules []string) string {
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "  %s,\n", ScrubLiteral(r))
	}
	return b.String()
}

// ScrubLiteral returns a rule as TOML, without escapes where possible.
func ScrubLiteral(rule string) string {
	if strings.ContainsAny(rule, "'\n\r\t") {
		return schema.TOML(rule)
	}
	return "'" + rule + "'"
}

// extend inserts elements before the end of the list that begins on a line. It reports whether it found the end.
func extend(lines []string, at int, added []string) bool {
	quote, begun, comma := byte(0), false, false
	end := [2]int{-1, 0} // line and byte behind the last element
	for i := at; i < len(lines); i++ {
		line := lines[i]
		for j := 0; j < len(line); j++ {
			c := line[j]
			switch {
			case quote != 0:
				if c == '\\' && quote == '"' {
					j++
				} else if c == quote {
					quote, end, comma = 0, [2]int{i, j + 1}, false
				}
			case strings.HasPrefix(line[j:], `'''`) || strings.HasPrefix(line[j:], `"""`):
				return false
			case c == '#':
				j = len(line)
			case c == '[':
				begun = true
			case c == ']' && begun:
				if lastLine, lastByte := end[0], end[1]; lastLine >= 0 && !comma {
					lines[lastLine] = lines[lastLine][:lastByte] + "," + lines[lastLine][lastByte:]
					if lastLine == i {
						line, j = lines[i], j+1
					}
				}
				head := strings.TrimRight(line[:j], " \t")
				lines[i] = head + newline(head) + items(added) + line[j:]
				return true
			case c == ',':
				comma = true
			case begun && c == '"' || begun && c == '\'':
				quote = c
			}
		}
	}
	return false
}

func newline(head string) string {
	if strings.TrimSpace(head) == "" {
		return ""
	}
	return "\n"
}

// checkRules returns a text if it has all rules and everything that the file had before.
func (e *editing) checkRules(text string, rules ScrubRules) ([]byte, error) {
	after := schema.Parse([]byte(text), "the file")
	table := schema.Path("").Child(change)
	if len(after.Faults) > 0 {
		return nil, fmt.Errorf("%w (%s)", ErrByHand, after.Faults[0])
	}
	for key, wanted := range map[string][]string{"scrub": rules.Scrub, "scrub_css": rules.ScrubCSS} {
		now := listedTexts(after.Value(table.Child(key)))
		for _, r := range append(wanted, listedTexts(e.before.Value(table.Child(key)))...) {
			if !slices.Contains(now, r) {
				return nil, ErrByHand
			}
		}
	}
	return []byte(text), nil
}

// listedTexts returns the texts in a list.
func listedTexts(list any) []string {
	values, _ := list.([]any)
	var all []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
