package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Bounds of what is shown of one configuration.
const (
	maxFaults = 100 // per file, so that a file of the wrong kind does not flood the terminal
	maxShown  = 60  // characters of a value
)

// Fault is a mistake in a configuration file, or something odd in it if it is a warning.
type Fault struct {
	File    string // as the operator named it: the path of the main file, or one relative to it
	Line    int    // from 1; 0 for a fault of the whole file
	Column  int    // in characters, from 1; 0 if Line is 0
	Key     string // table and key, "wait.min"; "" if no key is at fault
	Value   string // the value as TOML, shortened; "" if no value is at fault
	Problem string // what is wrong
	Remedy  string // what to do
}

// String returns one line: `hosts.d/www.news.example.toml:7:9: wait.min: "5" has no unit; write "5s", "5m" or "5h"`.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	if f.Value != "" {
		b.WriteString(f.Value + " ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Faults are all mistakes in a configuration: first those in the main file, then those in the host files by file name,
// in the order of lines.
type Faults []Fault

// Error returns one line for each fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the faults of one file in the order of lines. It leaves out all beyond the first hundred.
func Sorted(fs []Fault) []Fault {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Key, b.Key))
	})
	if over := len(fs) - maxFaults; over > 0 {
		more := Fault{File: fs[0].File, Problem: human.Count(over, "more fault") + " not shown", Remedy: "fix these first"}
		fs = append(fs[:maxFaults:maxFaults], more)
	}
	return fs
}

// Show returns a decoded TOML value as the file writes it, shortened. It returns "" for dates, lists and tables.
func Show(v any) string {
	switch v := v.(type) {
	case string:
		return Clip(strconv.Quote(v))
	case float64:
		s := strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64))
		if !strings.ContainsAny(s, ".ein") {
			s += ".0"
		}
		return s
	case time.Time, []any, []map[string]any, map[string]any:
		return ""
	}
	return Clip(fmt.Sprint(v))
}

// Clip shortens a text to what fits in a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
