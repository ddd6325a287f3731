package h2

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// head is a whole header block: one HEADERS frame and the CONTINUATION frames after it.
type head struct {
	*http2.HeadersFrame
	status    string // of the pseudo field; "" = it has none
	fields    []hpack.HeaderField
	repaired  int  // fields that HTTP/2 forbids: dropped, repaired, or with capital letters in their names
	truncated bool // it is longer than the maximum, and fields are missing

	left int64 // bytes of fields that may still come
}

// head reads a header block that begins with a frame. The fields of blocks that belong to no answer are decoded too,
// because the compression of later ones builds on them.
func (c *Conn) head(first *http2.HeadersFrame) (*head, error) {
	h := &head{HeadersFrame: first, left: c.maxFields}
	c.dec.SetEmitEnabled(true)
	c.dec.SetEmitFunc(func(f hpack.HeaderField) {
		if h.add(f); h.truncated {
			c.dec.SetEmitEnabled(false)
		}
	})
	part, ends := first.HeaderBlockFragment(), first.HeadersEnded()
	for {
		if _, err := c.dec.Write(part); err != nil {
			return nil, fmt.Errorf("%w: its header compression is invalid: %w", ErrProtocol, err)
		}
		if ends {
			break
		}
		f, err := c.framer.ReadFrame()
		if err != nil {
			return nil, c.explain(err)
		}
		next, ok := f.(*http2.ContinuationFrame)
		if !ok {
			return nil, fmt.Errorf("%w: a header block is interrupted", ErrProtocol)
		}
		part, ends = next.HeaderBlockFragment(), next.HeadersEnded()
	}
	if err := c.dec.Close(); err != nil {
		return nil, fmt.Errorf("%w: its header compression is invalid: %w", ErrProtocol, err)
	}
	return h, nil
}

const fieldOverhead = 32 // bytes that each field counts besides its own (RFC 9113, 10.5.1)

// add adds a field, in a form that HTTP/1.1 allows.
func (h *head) add(f hpack.HeaderField) {
	if h.left -= int64(len(f.Name)+len(f.Value)) + fieldOverhead; h.left < 0 {
		h.truncated = true
		return
	}
	switch {
	case f.Name == ":status" && h.status == "" && len(h.fields) == 0:
		h.status = f.Value
	case !httpguts.ValidHeaderFieldName(f.Name), // nor is the name of another pseudo field, or of the same again
		slices.Contains(connectionFields, strings.ToLower(f.Name)):
		h.repaired++
	default:
		value := withoutControls(f.Value)
		if value != f.Value || f.Name != strings.ToLower(f.Name) {
			h.repaired++
		}
		h.fields = append(h.fields, hpack.HeaderField{Name: f.Name, Value: value})
	}
}

// withoutControls returns a value with blanks in place of control characters, which could end a line of HTTP/1.1.
func withoutControls(value string) string {
	if httpguts.ValidHeaderFieldValue(value) {
		return value
	}
	b := []byte(value)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}

// code returns the status of an answer, 0 if it has none.
func (h *head) code() int {
	code, err := strconv.Atoi(h.status)
	if err != nil || len(h.status) != 3 || code < 100 {
		return 0
	}
	return code
}

// form returns a head in the form of HTTP/1.1.
func (h *head) form(code int) (text []byte) {
	text = strconv.AppendInt(append(text, "HTTP/1.1 "...), int64(code), 10)
	text = append(append(append(text, ' '), http.StatusText(code)...), "\r\n"...)
	for _, field := range h.fields {
		text = append(append(append(append(text, field.Name...), ": "...), field.Value...), "\r\n"...)
	}
	return append(text, "\r\n"...)
}

// connectionFields lists the fields that an answer over HTTP/2 must not have (RFC 9113, 8.2.2).
var connectionFields = []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}
