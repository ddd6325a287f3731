package schema

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth bounds the nesting of one file. The configuration is three levels deep. The decoder's memory grows with the
// square of the depth.
const maxDepth = 8

// tooDeep is the remedy for a file that exceeds maxDepth.
const tooDeep = "keys have at most two parts, as in politeness.min_delay"

// position holds the offsets at which a key and its value begin.
type position struct{ key, value int }

// locate records the position of every key and value in text. It reports syntax errors, keys that are set twice and
// excessive nesting.
func (d *Document) locate(text []byte) {
	l := locator{doc: d, text: text, lists: map[Path]int{}, headers: map[Path]bool{}}
	l.parser.Reset(text)
	for l.parser.NextExpression() {
		switch e := l.parser.Expression(); e.Kind {
		case unstable.KeyValue:
			l.assignment(l.table, e, 0)
		case unstable.Table, unstable.ArrayTable:
			l.header(e)
		}
		if len(d.Faults) >= maxFaults {
			return
		}
	}
	var bad *unstable.ParserError
	if err := l.parser.Error(); errors.As(err, &bad) {
		d.AddFault(d.syntax(text, int(l.parser.Range(bad.Highlight).Offset), bad.Message))
	} else if err != nil {
		d.AddFault(Fault{Problem: "is not TOML: " + err.Error(), Remedy: seeSyntax})
	}
}

// locator walks through the syntax tree of one text.
type locator struct {
	doc     *Document
	text    []byte
	parser  unstable.Parser
	table   Path          // the current table
	lists   map[Path]int  // number of tables so far in each [[list]]
	headers map[Path]bool // tables whose [header] was seen
}

// header records the position of a [table] or [[list]].
func (l *locator) header(e *unstable.Node) {
	path, depth, last := Path(""), 0, 0
	for it := e.Key(); it.Next(); depth++ {
		if n := l.lists[path]; n > 0 {
			path = path.Element(n - 1)
		}
		last = int(it.Node().Raw.Offset)
		if depth == maxDepth {
			l.tooDeep(last)
			return
		}
		path = path.Child(string(it.Node().Data))
		l.record(path, position{last, last})
	}
	if e.Kind == unstable.ArrayTable {
		l.lists[path]++
		l.table = path.Element(l.lists[path] - 1)
		l.record(l.table, position{last, last})
		return
	}
	l.table = path
	if l.headers[path] {
		l.doc.AddFault(l.doc.at(last, Fault{
			Problem: fmt.Sprintf("the table [%s] is defined twice, first on line %d", path, l.doc.AtKey(path, Fault{}).Line),
			Remedy:  "join the two tables",
		}))
	}
	l.headers[path] = true
}

// assignment records the position of a key, and of its value.
func (l *locator) assignment(path Path, e *unstable.Node, depth int) {
	at := position{key: -1}
	end := 0
	for it := e.Key(); it.Next(); depth++ {
		raw := it.Node().Raw
		if depth == maxDepth {
			l.tooDeep(int(raw.Offset))
			return
		}
		if at.key >= 0 {
			l.record(path, at)
		}
		path = path.Child(string(it.Node().Data))
		at = position{int(raw.Offset), int(raw.Offset)}
		end = int(raw.Offset + raw.Length)
	}
	if first, ok := l.doc.positions[path]; ok {
		line := l.doc.at(first.key, Fault{}).Line
		l.doc.AddFault(l.doc.at(at.key, Fault{
			Key: path.String(), Problem: fmt.Sprintf("is set twice, first on line %d", line), Remedy: "remove one",
		}))
		return
	}
	at.value = l.valueAfter(end)
	l.record(path, at)
	l.value(path, e.Value(), depth)
}

// valueAfter returns the offset of the value whose key ends at end.
func (l *locator) valueAfter(end int) int {
	for end < len(l.text)-1 && (l.text[end] == ' ' || l.text[end] == '\t' || l.text[end] == '=') {
		end++
	}
	return end
}

// value records the positions inside lists and inline tables.
func (l *locator) value(path Path, v *unstable.Node, depth int) {
	if depth > maxDepth {
		l.tooDeep(l.doc.position(path).value)
		return
	}
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			l.assignment(path, it.Node(), depth)
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); i++ {
			e := path.Element(i)
			if raw := it.Node().Raw; raw.Length > 0 {
				l.record(e, position{int(raw.Offset), int(raw.Offset)})
			}
			l.value(e, it.Node(), depth+1)
		}
	}
}

// record keeps the first position of a path.
func (l *locator) record(p Path, at position) {
	if _, ok := l.doc.positions[p]; !ok {
		l.doc.positions[p] = at
	}
}

func (l *locator) tooDeep(offset int) {
	l.doc.AddFault(l.doc.at(offset, Fault{Problem: "is nested too deeply", Remedy: tooDeep}))
}
