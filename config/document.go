package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Bounds of one file. What arcrawl reads is three levels deep; the decoder needs memory that grows with the square of
// the depth, and so is kept from deeper ones.
const (
	maxFileSize = 1 << 20
	maxDepth    = 8
)

// document is one file: its decoded values, and where in the text each of them stands.
//
// Values are decoded by BurntSushi/toml, which knows no positions; these come from a first pass with the parser of
// pelletier/go-toml. A file has to please both. Both speak of a value by its path, see [under].
type document struct {
	findings
	file   string // as shown in faults
	data   []byte
	root   map[string]any
	places map[string]place
	lines  []int           // offset of each line's first byte
	bad    map[string]bool // paths that have a fault
}

// place is where a key and its value begin: offsets in the text.
type place struct{ key, value int }

// under is the path of a key or list element below another.
func under(path, name string) string { return path + "\x1f" + name }

// element is the path of the i-th element of a list.
func element(path string, i int) string { return fmt.Sprintf("%s\x1f#%d", path, i) }

// pathOf is the path of a key outside lists of tables.
func pathOf(name string) string { return pathIn("", name) }

// pathIn is the path of a key below another path.
func pathIn(path, name string) string {
	for part := range strings.SplitSeq(name, ".") {
		path = under(path, part)
	}
	return path
}

// readDocument reads and parses a file. Whether it went well is in its faults; its data is nil if it cannot be read.
func readDocument(path, shown string) *document {
	d := newDocument(shown)
	data, problem, remedy := readFile(path)
	if problem != "" {
		d.fault(Fault{File: shown, Problem: problem, Remedy: remedy})
		return d
	}
	d.data = data
	d.parse()
	return d
}

func newDocument(shown string) *document {
	return &document{file: shown, places: map[string]place{}, bad: map[string]bool{}}
}

func readFile(path string) (data []byte, problem, remedy string) {
	info, err := os.Stat(path) // first, for opening a pipe could wait for ever
	if err != nil {
		problem, remedy = unreadable(err)
		return nil, problem, remedy
	}
	if !info.Mode().IsRegular() {
		return nil, "is not a regular file", "put a file there, or give it another name"
	}
	f, err := os.Open(path)
	if err != nil {
		problem, remedy = unreadable(err)
		return nil, problem, remedy
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		problem, remedy = unreadable(err)
		return nil, problem, remedy
	}
	if len(data) > maxFileSize {
		return nil, "is larger than 1 MiB", "a configuration is not; check the name, or move seeds into host files"
	}
	return data, "", ""
}

func unreadable(err error) (problem, remedy string) {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist", "check the path"
	case errors.Is(err, syscall.ENOTDIR):
		return "is not a folder", "name a folder"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read", "let the user that runs arcrawl read it"
	}
	return "cannot be read: " + err.Error(), "check the path and the disk"
}

// parse fills root and places, or leaves root nil and says why.
func (d *document) parse() {
	d.lines = append(d.lines, 0)
	for i, b := range d.data {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if !utf8.Valid(d.data) {
		good := 0
		for {
			r, n := utf8.DecodeRune(d.data[good:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			good += n
		}
		d.fault(d.at(good, Fault{Problem: "is not UTF-8 from here on", Remedy: "save the file as UTF-8"}))
		return
	}
	text := d.data
	if rest, ok := strings.CutPrefix(string(text), "\ufeff"); ok {
		text = []byte("   " + rest) // a byte order mark; three bytes, so that offsets stay
	}
	d.index(text)
	if len(d.faults) > 0 {
		return
	}
	var root map[string]any
	if _, err := toml.Decode(string(text), &root); err != nil {
		d.fault(d.semantic(err))
		return
	}
	d.root = root
	if d.root == nil {
		d.root = map[string]any{}
	}
}

// at completes a fault with file, line and column.
func (d *document) at(offset int, f Fault) Fault {
	f.File = d.file
	offset = max(0, min(offset, len(d.data)))
	f.Line = sort.SearchInts(d.lines, offset+1)
	start := d.lines[f.Line-1]
	f.Column = utf8.RuneCount(d.data[start:offset]) + 1
	if start == 0 && strings.HasPrefix(string(d.data[:min(3, len(d.data))]), "\ufeff") && f.Column > 1 {
		f.Column--
	}
	return f
}

// place is where the thing at path stands, or the nearest thing around it that is known.
func (d *document) place(path string) place {
	for {
		if p, ok := d.places[path]; ok {
			return p
		}
		cut := strings.LastIndexByte(path, '\x1f')
		if cut < 0 {
			return place{}
		}
		path = path[:cut]
	}
}

// has reports whether the file sets what is at path.
func (d *document) has(path string) bool {
	_, ok := d.places[path]
	return ok
}

// line is the line of the value at path.
func (d *document) line(path string) int { return d.at(d.place(path).value, Fault{}).Line }

// index walks through the text and notes where everything stands. It reports syntax errors, keys that are set twice and
// what is nested too deeply.
func (d *document) index(text []byte) {
	x := indexer{doc: d, text: text, lists: map[string]int{}, headers: map[string]bool{}}
	x.parser.Reset(text)
	for x.parser.NextExpression() {
		x.expression(x.parser.Expression())
		if len(d.faults) >= maxFaults {
			return
		}
	}
	var bad *unstable.ParserError
	if err := x.parser.Error(); errors.As(err, &bad) {
		d.fault(d.syntax(text, int(x.parser.Range(bad.Highlight).Offset), bad.Message))
	} else if err != nil {
		d.fault(Fault{File: d.file, Problem: "is not TOML: " + err.Error(), Remedy: seeSyntax})
	}
}

type indexer struct {
	doc     *document
	text    []byte
	parser  unstable.Parser
	table   string          // path of the table that we are in
	lists   map[string]int  // tables so far in each [[list]]
	headers map[string]bool // tables that had their [header]
}

func (x *indexer) expression(e *unstable.Node) {
	switch e.Kind {
	case unstable.KeyValue:
		x.assign(x.table, e, 0)
	case unstable.Table, unstable.ArrayTable:
		x.header(e)
	}
}

func (x *indexer) header(e *unstable.Node) {
	path, depth, last := "", 0, 0
	for it := e.Key(); it.Next(); depth++ {
		if n := x.lists[path]; n > 0 {
			path = element(path, n-1)
		}
		last = int(it.Node().Raw.Offset)
		if depth == maxDepth {
			x.tooDeep(last)
			return
		}
		path = under(path, string(it.Node().Data))
		x.note(path, place{last, last})
	}
	if e.Kind == unstable.ArrayTable {
		x.lists[path]++
		x.table = element(path, x.lists[path]-1)
		x.note(x.table, place{last, last})
		return
	}
	x.table = path
	if x.headers[path] {
		first := x.doc.at(x.doc.places[path].key, Fault{}).Line
		x.doc.fault(x.doc.at(last, Fault{
			Problem: fmt.Sprintf("the table [%s] stands twice, first on line %d", readable(path), first), Remedy: "join the two",
		}))
	}
	x.headers[path] = true
}

func (x *indexer) assign(path string, e *unstable.Node, depth int) {
	key := place{key: -1}
	end := 0
	for it := e.Key(); it.Next(); depth++ {
		raw := it.Node().Raw
		if depth == maxDepth {
			x.tooDeep(int(raw.Offset))
			return
		}
		if key.key >= 0 {
			x.note(path, key)
		}
		path = under(path, string(it.Node().Data))
		key = place{int(raw.Offset), int(raw.Offset)}
		end = int(raw.Offset + raw.Length)
	}
	if first, ok := x.doc.places[path]; ok {
		x.doc.fault(x.doc.at(key.key, Fault{
			Key:     readable(path),
			Problem: fmt.Sprintf("is set twice, first on line %d", x.doc.at(first.key, Fault{}).Line), Remedy: "remove one",
		}))
		return
	}
	key.value = x.valueAfter(end)
	x.note(path, key)
	x.value(path, e.Value(), depth)
}

// valueAfter is where the value begins whose key ends at end.
func (x *indexer) valueAfter(end int) int {
	for end < len(x.text)-1 && (x.text[end] == ' ' || x.text[end] == '\t' || x.text[end] == '=') {
		end++
	}
	return end
}

// value notes what is inside lists and inline tables.
func (x *indexer) value(path string, v *unstable.Node, depth int) {
	if depth > maxDepth {
		x.tooDeep(x.doc.place(path).value)
		return
	}
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			x.assign(path, it.Node(), depth)
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); i++ {
			e := element(path, i)
			if raw := it.Node().Raw; raw.Length > 0 {
				x.note(e, place{int(raw.Offset), int(raw.Offset)})
			}
			x.value(e, it.Node(), depth+1)
		}
	}
}

// note remembers where something stood first.
func (x *indexer) note(path string, p place) {
	if _, ok := x.doc.places[path]; !ok {
		x.doc.places[path] = p
	}
}

func (x *indexer) tooDeep(offset int) {
	x.doc.fault(x.doc.at(offset, Fault{Problem: "is nested too deeply", Remedy: "keys have at most two parts, as in politeness.min_delay"}))
}

// readable is a path as the file would write it, without list elements.
func readable(path string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "\x1f"), "\x1f") {
		if !strings.HasPrefix(part, "#") {
			parts = append(parts, part)
		}
	}
	return clip(strings.Join(parts, "."))
}
