package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is told about one configuration.
const (
	maxFaults = 100 // per file, so that a wrong kind of file does not flood the terminal
	maxShown  = 60  // characters of a value
)

// Fault is one thing that is wrong in a file, or odd if it stands in [Config.Warnings].
type Fault struct {
	File    string // as the operator would name it: the path given to [Load], or one beside it
	Line    int    // from 1; 0 when the fault is of the file as a whole
	Column  int    // in characters, from 1; 0 with Line 0
	Key     string // table and key, "wait.min"; "" when the fault is of none
	Value   string // the value as TOML would write it, shortened; "" when the fault is of none
	Problem string // what is wrong
	Remedy  string // what to do
}

// String is one line: "hosts.d/www.news.example.toml:7:9: wait.min: "5" has no unit; write "5s", "5m" or "5h"".
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

// Faults is everything that is wrong with a configuration: the main file's faults first, then those of the host files by
// name, each file's in the order of lines.
type Faults []Fault

// Error has one line for each fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// findings collects the faults and warnings of one file.
type findings struct {
	faults, warnings []Fault
}

func (fs *findings) fault(f Fault) { fs.faults = append(fs.faults, f) }
func (fs *findings) warn(f Fault)  { fs.warnings = append(fs.warnings, f) }

// sorted is fs in the order of lines, and bounded.
func sorted(fs []Fault) []Fault {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Key, b.Key))
	})
	if over := len(fs) - maxFaults; over > 0 {
		file := fs[0].File
		fs = append(fs[:maxFaults:maxFaults], Fault{File: file, Problem: strconv.Itoa(over) + " more not shown", Remedy: "mend these first"})
	}
	return fs
}

// show is a decoded TOML value as the file would write it, shortened.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return clip(strconv.Quote(v))
	case float64:
		s := strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64))
		if !strings.ContainsAny(s, ".ein") {
			s += ".0"
		}
		return s
	case time.Time, []any, []map[string]any, map[string]any:
		return ""
	}
	return clip(fmt.Sprint(v))
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
