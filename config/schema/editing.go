package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Editing is the text of a file while it is changed, line by line.
type Editing struct {
	Before *Document
	Lines  []string
}

// Edit begins to change a text. what is what cannot be done to a file with faults.
func Edit(text []byte, what string) (*Editing, error) {
	before := Parse(text, "the file")
	if len(before.Faults) > 0 {
		return nil, fmt.Errorf("cannot %s a file with faults: %s", what, before.Faults[0])
	}
	return &Editing{before, strings.SplitAfter(string(text), "\n")}, nil
}

// Line returns the index of the line of a key or table.
func (e *Editing) Line(p Path) int { return e.Before.AtKey(p, Fault{}).Line - 1 }

// Text returns the lines from one to another as a text.
func (e *Editing) Text(from, to int) string { return strings.Join(e.Lines[from:to], "") }

// AddTo adds elements to a list of texts, except those that it has. It returns them if the file does not have the list.
func (e *Editing) AddTo(list Path, elements []string) (added, missing []string, ok bool) {
	known := map[string]bool{}
	for _, s := range ListedTexts(e.Before.Value(list)) {
		known[s] = true
	}
	added = slices.DeleteFunc(slices.Clone(elements), func(s string) bool { return known[s] })
	switch {
	case !e.Before.Has(list):
		return added, added, true
	case len(added) == 0:
		return nil, nil, true
	}
	return added, nil, extend(e.Lines, e.Line(list), added)
}

// Literal returns a text as TOML, without escapes where possible.
func Literal(text string) string {
	if strings.ContainsAny(text, "'\n\r\t") {
		return TOML(text)
	}
	return "'" + text + "'"
}

// ListItems returns elements of a list, one on each line.
func ListItems(texts []string) string {
	var b strings.Builder
	for _, r := range texts {
		fmt.Fprintf(&b, "  %s,\n", Literal(r))
	}
	return b.String()
}

// ListedTexts returns the texts in a list.
func ListedTexts(list any) []string {
	values, _ := list.([]any)
	var all []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
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
				lines[i] = head + newline(head) + ListItems(added) + line[j:]
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
