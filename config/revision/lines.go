package revision

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// ownLines holds the lines of a main file that belong to one machine. They are moved as they are, with their comments.
type ownLines struct {
	Top    []string // dotted keys before the first table
	Admin  []string // keys of [admin]
	Tables []string // [cluster] and [storage]
}

// adminKeys are the keys of [admin] that belong to one machine: where it can be reached.
const adminKeys = `listen|socket|replay_listen|replay_url|url|names`

var (
	header   = regexp.MustCompile(`^\[\[?\s*([A-Za-z0-9_-]+)[^\[\]]*\]\]?\s*(#.*)?$`)
	ownTop   = regexp.MustCompile(`^(cluster|storage)\s*[.=]|^admin\s*\.\s*(` + adminKeys + `)\s*=`)
	ownAdmin = regexp.MustCompile(`^(` + adminKeys + `)\s*=`)
)

// splitter goes through the lines of a main file.
type splitter struct {
	shared  []string
	own     ownLines
	table   string   // that the line is in; "" = before the first one
	waiting []string // empty lines and comments, which belong to what follows
	quotes  string   // that end the text of several lines that the line is in; "" = there is none
	last    *[]string
}

// splitMain divides the text of a main file. It returns an error if its lines do not separate the keys of a machine
// from the others.
func splitMain(main []byte) (shared string, own ownLines, err error) {
	var s splitter
	for line := range strings.SplitSeq(strings.TrimRight(string(main), "\n"), "\n") {
		s.line(line)
	}
	s.shared = append(s.shared, s.waiting...)
	shared = withoutEmptyAdmin(s.shared)
	if !same(main, joinMain(shared, s.own)) || hasOwn(shared) {
		return "", ownLines{}, errors.New("cannot separate the keys of [cluster], [storage] and the addresses in [admin] from the others: " +
			"write [cluster] and [storage] as tables of their own, and each key of [admin] on one line")
	}
	return shared, s.own, nil
}

// line takes one line.
func (s *splitter) line(line string) {
	if s.quotes != "" {
		*s.last = append(*s.last, line)
		s.toggle(line)
		return
	}
	text := strings.TrimSpace(line)
	if text == "" || text[0] == '#' {
		s.waiting = append(s.waiting, line)
		return
	}
	if m := header.FindStringSubmatch(text); m != nil {
		s.table = m[1]
	}
	switch {
	case s.table == "cluster" || s.table == "storage":
		s.last = &s.own.Tables
	case s.table == "admin" && ownAdmin.MatchString(text):
		s.last = &s.own.Admin
	case s.table == "" && ownTop.MatchString(text):
		s.last = &s.own.Top
	default:
		s.last = &s.shared
	}
	*s.last = append(*s.last, s.described(line)...)
	s.toggle(line)
}

// toggle notes whether a text of several lines begins or ends in a line.
func (s *splitter) toggle(line string) {
	for _, quotes := range []string{`"""`, "'''"} {
		if (s.quotes == "" || s.quotes == quotes) && strings.Count(line, quotes)%2 == 1 {
			if s.quotes == "" {
				s.quotes = quotes
			} else {
				s.quotes = ""
			}
			return
		}
	}
}

// described returns a line with the comments directly before it. Earlier comments are shared.
func (s *splitter) described(line string) []string {
	from := len(s.waiting)
	for from > 0 && strings.TrimSpace(s.waiting[from-1]) != "" {
		from--
	}
	lines := append(append([]string{}, s.waiting[from:]...), line)
	s.shared = append(s.shared, s.waiting[:from]...)
	s.waiting = nil
	return lines
}

// withoutEmptyAdmin returns the text of shared lines without a table [admin] that has no keys left, and without empty
// lines at both ends.
func withoutEmptyAdmin(lines []string) string {
	for i, line := range lines {
		if !isAdmin(line) {
			continue
		}
		rest := strings.TrimSpace(strings.Join(lines[i+1:], "\n"))
		if rest == "" || rest[0] == '[' {
			lines = append(append([]string{}, lines[:i]...), lines[i+1:]...)
		}
		break
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

func isAdmin(line string) bool {
	m := header.FindStringSubmatch(strings.TrimSpace(line))
	return m != nil && m[1] == "admin"
}

// joinMain returns the text of a main file from what all machines share and what is the machine's own.
func joinMain(shared string, own ownLines) string {
	lines := strings.Split(strings.TrimRight(shared, "\n"), "\n")
	if len(own.Admin) > 0 {
		at := len(lines)
		for i, line := range lines {
			if isAdmin(line) {
				at = i + 1
				break
			}
		}
		with := own.Admin
		if at == len(lines) && (at == 0 || !isAdmin(lines[at-1])) {
			with = append([]string{"", "[admin]"}, own.Admin...)
		}
		lines = append(lines[:at:at], append(append([]string{}, with...), lines[at:]...)...)
	}
	lines = append(append([]string{}, own.Top...), lines...)
	if len(own.Tables) > 0 {
		lines = append(append(lines, ""), own.Tables...)
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n") + "\n"
}

// same reports whether two texts have the same values.
func same(before []byte, after string) bool {
	a, b := schema.Parse(before, ""), schema.Parse([]byte(after), "")
	return reflect.DeepEqual(a.Root, b.Root)
}

// hasOwn reports whether a text has keys of a machine, or cannot be read.
func hasOwn(shared string) bool {
	root := schema.Parse([]byte(shared), "").Root
	if root == nil || root["cluster"] != nil || root["storage"] != nil {
		return true
	}
	admin, _ := root["admin"].(map[string]any)
	for key := range strings.SplitSeq(adminKeys, "|") {
		if _, has := admin[key]; has {
			return true
		}
	}
	return false
}
