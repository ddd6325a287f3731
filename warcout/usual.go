package warcout

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// The fields by which records say what was sent, if a revisit has no request record.
const (
	// UsualField is the name of the fields of a warcinfo record that hold the usual request, one line each, in order.
	// [UsualPath], [UsualHost] and [UsualConditions] stand for what differs between visits.
	UsualField = "usualRequest"
	// RequestField is the name of the fields of a metadata record that say that the visit sent the usual request, each
	// with one of its conditions.
	RequestField = "request"

	UsualPath       = "{path}"       // the path and query of the URI
	UsualHost       = "{host}"       // the host and port of the URI
	UsualConditions = "{conditions}" // a line for each condition, or none

	usual     = "usual"
	usualWith = usual + ", with "
)

// Usual is the request that nearly all visits send: GET, the path and query, the host, and then these texts with the
// conditions between them. Both are whole lines, and After ends with the empty line. The zero Usual is no request.
type Usual struct{ Before, After string }

// maxConditions is the longest text of conditions that is stored in fields.
const maxConditions = 2 << 10

// conditions returns the lines of a request that the usual request does not have. It returns false unless the request
// can be made again from them, byte by byte.
func (u Usual) conditions(request []byte, of uri.URI) (lines []byte, ok bool) {
	if u.After == "" {
		return nil, false
	}
	for _, part := range [...]string{"GET ", of.RequestTarget(), " HTTP/1.1\r\nHost: ", of.Authority(), "\r\n", u.Before} {
		if len(request) < len(part) || string(request[:len(part)]) != part {
			return nil, false
		}
		request = request[len(part):]
	}
	n := len(request) - len(u.After)
	if n < 0 || n > maxConditions || string(request[n:]) != u.After || bytes.Contains(request[:n], []byte("=?")) {
		return nil, false
	}
	lines = request[:n]
	for line := range bytes.Lines(lines) {
		line, whole := bytes.CutSuffix(line, []byte("\r\n"))
		known := bytes.HasPrefix(line, []byte("If-None-Match: ")) || bytes.HasPrefix(line, []byte("If-Modified-Since: "))
		if !whole || !known || !isPlain(line) && !FitsHeader(string(line)) {
			return nil, false
		}
	}
	return lines, true
}

// appendConditions appends fields that say that the usual request was sent with these conditions.
func appendConditions(block, lines []byte) []byte {
	if len(lines) == 0 {
		return append(block, RequestField+": "+usual+"\r\n"...)
	}
	for line := range bytes.Lines(lines) {
		block = append(append(block, RequestField+": "+usualWith...), line...)
	}
	return block
}

// fields returns the fields of a warcinfo record that show the usual request.
func (u Usual) fields() (out []Field) {
	if u.After == "" {
		return nil
	}
	before := "GET " + UsualPath + " HTTP/1.1\r\nHost: " + UsualHost + "\r\n" + u.Before + UsualConditions + "\r\n"
	for line := range strings.SplitSeq(strings.TrimRight(before+u.After, "\r\n"), "\r\n") {
		out = append(out, Field{UsualField, line})
	}
	return out
}

// MakeRequest makes the request of a visit that has no request record. lines are the values of the fields [UsualField]
// of the warcinfo record of its file, and said the values of the fields [RequestField] of its metadata record.
func MakeRequest(lines, said []string, of uri.URI) (string, error) {
	if len(lines) == 0 || len(said) == 0 {
		return "", errors.New("the warcinfo record has no usual request, or the metadata record names none")
	}
	conditions := ""
	for _, s := range said {
		if condition, with := strings.CutPrefix(s, usualWith); with {
			conditions += condition + "\r\n"
		} else if s != usual {
			return "", fmt.Errorf("the metadata record says %q of the request", s)
		}
	}
	var out strings.Builder
	differs := strings.NewReplacer(UsualPath, of.RequestTarget(), UsualHost, of.Authority())
	for i, line := range lines {
		switch {
		case line == UsualConditions:
			out.WriteString(conditions)
			continue
		case i < len("GH"): // the lines of the path and the host; others are as they are
			line = differs.Replace(line)
		}
		out.WriteString(line + "\r\n")
	}
	return out.String() + "\r\n", nil
}
