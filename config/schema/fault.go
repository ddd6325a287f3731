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

// Fault is one fault of a configuration file.
type Fault struct {
	// It may be something odd, which is a warning. The file is named as the operator does: by the path of the main file,
	// or relative to it. Line and column are 0 for a fault of the whole file; columns are in characters. Key is
	// "wait.min". The value is TOML, shortened.

	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
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
