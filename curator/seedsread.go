package curator

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of a list.
const (
	maxListSize   = 20_000_000 // bytes; also of a list in the dashboard
	maxListLines  = 1_000_000  // entries
	maxSeedFaults = 1000       // faults that are listed; all are counted
)

// seedEntry is a line of a list: a seed, and what curators know of it. Empty fields say nothing.
type seedEntry struct {
	Line   int     `json:"line"`
	Text   string  `json:"uri"` // in canonical form
	Target float64 `json:"target,omitempty"`
	Until  string  `json:"until,omitempty"` // last day of the target
	config.Site

	uri uri.URI
}

// seedList is a list that was read.
type seedList struct {
	Entries []seedEntry
	Faults  []ListFault // the first of them
	Faulty  int         // lines with a fault
}

// fault adds a fault.
func (l *seedList) fault(f ListFault) {
	const maxValue = 80
	if len(f.Value) > maxValue {
		f.Value = strings.ToValidUTF8(f.Value[:maxValue], "") + "…"
	}
	if l.Faulty++; len(l.Faults) < maxSeedFaults {
		l.Faults = append(l.Faults, f)
	}
}

// refuse adds a fault of the URI of an entry.
func (l *seedList) refuse(e seedEntry, problem, remedy string) {
	l.fault(ListFault{Line: e.Line, Column: 1, Field: "uri", Value: e.Text, Problem: problem, Remedy: remedy})
}

// listFields are the columns of a list, with other names that headers use.
var listFields = map[string][]string{
	"uri": {"url", "seed", "address"}, "label": {"labels"}, "collection": {"collections"}, "title": {"name"},
	"owner": {}, "note": {"notes", "comment"}, "target": {}, "until": {},
}

// listColumns are the columns that a list is written with.
var listColumns = []string{"uri", "label", "collection", "title", "owner", "note", "target", "until"}

// fieldOf returns the column with a name; "" if there is none.
func fieldOf(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for field, others := range listFields {
		if name == field || slices.Contains(others, name) {
			return field
		}
	}
	return ""
}

// readList reads a list. A list whose first line names a column "uri" is CSV with commas, semicolons or tabs. Any other
// list has one URI on each line; lines that begin with # are comments.
func readList(text []byte) seedList {
	var l seedList
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	const remedy = "save the list as text in UTF-8"
	switch {
	case len(text) > maxListSize:
		l.fault(ListFault{
			Line: 1, Column: 1, Problem: "the list is too large",
			Remedy: fmt.Sprintf("divide it; maximum: %d MB", maxListSize/1_000_000),
		})
		return l
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		l.fault(ListFault{Line: 1, Column: 1, Problem: "the list is in UTF-16", Remedy: remedy})
		return l
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		l.fault(ListFault{
			Line: 1, Column: 1, Problem: "the list is a spreadsheet or an archive", Remedy: "save it as CSV in UTF-8",
		})
		return l
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, comma := range []rune{',', ';', '\t'} {
		header := strings.Split(strings.TrimRight(string(first), "\r"), string(comma))
		for i := range header {
			header[i] = strings.Trim(strings.TrimSpace(header[i]), `"`)
		}
		if slices.ContainsFunc(header, func(name string) bool { return fieldOf(name) == "uri" }) {
			l.readCSV(text, comma)
			return l
		}
	}
	l.readLines(string(text))
	return l
}

// readLines reads one URI from each line.
func (l *seedList) readLines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		s := strings.TrimSpace(line)
		if s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		e := seedEntry{Line: n}
		if problem, remedy := e.setURI(s); problem != "" {
			column := 1 + len(line) - len(strings.TrimLeft(line, " \t"))
			l.fault(ListFault{Line: n, Column: column, Field: "uri", Value: s, Problem: problem, Remedy: remedy})
			continue
		}
		if !l.add(e) {
			return
		}
	}
}

// add adds an entry, and reports whether there may be more.
func (l *seedList) add(e seedEntry) bool {
	if len(l.Entries) >= maxListLines {
		l.fault(ListFault{
			Line: e.Line, Column: 1, Problem: "the list is too long",
			Remedy: fmt.Sprintf("divide it; maximum: %d lines", maxListLines),
		})
		return false
	}
	l.Entries = append(l.Entries, e)
	return true
}

// readCSV reads a list whose first line names the columns.
func (l *seedList) readCSV(text []byte, comma rune) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	header, err := r.Read()
	if err != nil {
		l.broken(err)
		return
	}
	columns := make([]string, len(header))
	for i, name := range header {
		columns[i] = fieldOf(name)
		again := columns[i] != "" && slices.Contains(columns[:i], columns[i])
		if columns[i] == "" || again {
			f := ListFault{
				Field:   "header",
				Value:   name,
				Problem: "is no column of a seed list",
				Remedy:  "the columns are " + strings.Join(listColumns, ", "),
			}
			if near, ok := schema.Nearest(strings.ToLower(name), listColumns); ok {
				f.Remedy = fmt.Sprintf("did you mean %q? %s", near, f.Remedy)
			}
			if again {
				f.Problem, f.Remedy = "appears twice", "join the two columns"
			}
			f.Line, f.Column = r.FieldPos(i)
			l.fault(f)
		}
	}
	if l.Faulty > 0 {
		return
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.broken(err)
			if errors.Is(err, csv.ErrQuote) {
				return // what follows would be read as part of the quoted text
			}
			continue
		}
		if !l.row(r, columns, record) {
			return
		}
	}
}

// row reads a line of a CSV list, and reports whether there may be more.
func (l *seedList) row(r *csv.Reader, columns, record []string) bool {
	line, _ := r.FieldPos(0)
	if strings.HasPrefix(record[0], "#") || strings.TrimSpace(strings.Join(record, "")) == "" {
		return true
	}
	if len(record) > len(columns) {
		_, column := r.FieldPos(len(columns))
		l.fault(ListFault{
			Line: line, Column: column, Value: record[len(columns)],
			Problem: fmt.Sprintf("the line has %d fields, the header %d", len(record), len(columns)),
			Remedy:  "put fields with the separator in them in double quotes",
		})
		return true
	}
	e := seedEntry{Line: line}
	for i, text := range record {
		problem, remedy := e.set(columns[i], textOf(strings.TrimSpace(text)))
		if problem != "" {
			at, column := r.FieldPos(i)
			l.fault(ListFault{Line: at, Column: column, Field: columns[i], Value: text, Problem: problem, Remedy: remedy})
			return true
		}
	}
	switch {
	case e.Text == "":
		l.refuse(e, "is missing", "write for example https://www.news.example/")
		return true
	case e.Until != "" && e.Target == 0:
		at, column := r.FieldPos(slices.Index(columns, "until"))
		l.fault(ListFault{
			Line: at, Column: column, Field: "until", Value: e.Until, Problem: "has no effect without a target",
			Remedy: "set target too, or leave until empty",
		})
		return true
	}
	return l.add(e)
}

// broken adds a fault of the form of the list.
func (l *seedList) broken(err error) {
	f := ListFault{Line: 1, Column: 1, Problem: err.Error(), Remedy: "save the list as CSV"}
	var at *csv.ParseError
	if errors.As(err, &at) {
		f.Line, f.Column, f.Problem = at.Line, at.Column, "is not CSV: "+at.Err.Error()
		if at.StartLine != at.Line {
			f.Problem = fmt.Sprintf("is not CSV: the quoted text that begins in line %d: %v", at.StartLine, at.Err)
		}
		f.Remedy = `write a double quote inside a quoted field as ""`
	}
	l.fault(f)
}

// set sets a field of the entry. An empty text sets nothing.
func (e *seedEntry) set(field, text string) (problem, remedy string) {
	if text == "" {
		return "", ""
	}
	if !utf8.ValidString(text) {
		return "is not UTF-8", "save the list as text in UTF-8"
	}
	switch field {
	case "uri":
		return e.setURI(text)
	case "label":
		e.Labels, problem, remedy = namesIn(text)
	case "collection":
		e.Collections, problem, remedy = namesIn(text)
	case "title":
		e.Title = text
		return config.CheckTitle(text)
	case "owner":
		e.Owners = []string{text}
		return config.CheckName(text)
	case "note":
		e.Note = strings.ReplaceAll(text, "\r\n", "\n")
		return config.CheckNote(e.Note)
	case "target":
		return e.setTarget(text)
	case "until":
		return e.setUntil(text)
	}
	return problem, remedy
}

func (e *seedEntry) setURI(text string) (problem, remedy string) {
	const example = "write a complete URI, for example https://www.news.example/"
	u, err := uri.Parse(text)
	if err != nil {
		if !strings.Contains(text, "://") {
			return "is not a URI", example
		}
		return "is not a URI: " + err.Error(), example
	}
	e.uri, e.Text = u, u.String()
	return "", ""
}

func (e *seedEntry) setTarget(text string) (problem, remedy string) {
	number, percent := strings.CutSuffix(strings.ReplaceAll(text, ",", "."), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || share < 0.01 || share > 0.99 {
		return "is not a share of versions", "write for example 0.9 or 90 %; from 1 % to 99 %"
	}
	e.Target = share
	return "", ""
}

func (e *seedEntry) setUntil(text string) (problem, remedy string) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "is not a date", "write for example 2026-12-31"
	}
	e.Until = text
	return "", ""
}

// namesIn returns the labels or collections of a field, sorted.
func namesIn(text string) (list []string, problem, remedy string) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '|' }) {
		name = strings.TrimSpace(name)
		if problem, remedy = config.CheckName(name); problem != "" {
			return nil, problem, remedy
		}
		list = append(list, name)
	}
	if len(list) > config.MaxNames {
		return nil, fmt.Sprintf("has %d names", len(list)), fmt.Sprintf("maximum: %d", config.MaxNames)
	}
	slices.Sort(list)
	return slices.Compact(list), "", ""
}
