package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/internal/human"
)

// maxFaults bounds the faults of one file, so that a file of the wrong kind does not flood the terminal.
const maxFaults = 100

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
