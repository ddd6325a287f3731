package warc

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// message is the HTTP message of a record, as far as it was read.
type message struct {
	is   bool
	head Head
	err  error
}

// isMessage reports whether the block of a record should begin with an HTTP head.
func isMessage(h Header) bool {
	switch h.Type() {
	case "response", "request", "revisit":
		segment := h.Get("WARC-Segment-Number")
		return h.IsHTTP() && (segment == "" || segment == "1")
	}
	return false
}

// message checks the HTTP message of a record.
func (c *Checker) message(rec *Record, m message) {
	h := rec.Header
	cut := h.Get("WARC-Truncated") != "" || h.Get("WARC-Segment-Number") != ""
	switch {
	case !m.is:
	case m.err != nil:
		c.fail(rec, HTTP, "the %s cannot be read: %v", h.Type(), m.err)
	case !m.head.ended() && !cut && h.Type() == "revisit":
		c.warn(rec, HTTP, "the HTTP head has no empty line at its end")
	case !m.head.ended() && !cut:
		c.fail(rec, HTTP, "the HTTP head has no empty line at its end: the head is not finished")
	case h.Type() == "response" && !cut:
		if want, ok := m.head.bodyLength(); ok && rec.Size-int64(len(m.head.Raw)) < want {
			c.failButWget(rec, HTTP, "the body has %d bytes, the Content-Length of its head is %d, "+
				"and no WARC-Truncated says why", rec.Size-int64(len(m.head.Raw)), want)
		}
	}
}

// ended reports whether the head ends with an empty line.
func (h Head) ended() bool {
	return bytes.HasSuffix(h.Raw, []byte("\n\r\n")) || bytes.HasSuffix(h.Raw, []byte("\n\n"))
}

// bodyLength returns the length of the body, if the head of a response announces a body and its length.
func (h Head) bodyLength() (int64, bool) {
	switch s := h.Status; {
	case s < http.StatusOK, s == http.StatusNoContent, s == http.StatusNotModified, h.Chunked():
		return 0, false
	}
	const name = "content-length"
	length, found := "", false
	for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
		at := bytes.IndexByte(line, ':')
		if at < len(name) || !bytes.EqualFold(bytes.TrimSpace(line[:at]), []byte(name)) {
			continue
		}
		value := string(bytes.TrimSpace(line[at+1:]))
		if found && value != length {
			return 0, false
		}
		length, found = value, true
	}
	n, err := strconv.ParseUint(length, 10, 63)
	return int64(n), err == nil
}

// noteWriter notes who wrote the file, if the record is a warcinfo record.
func (c *Checker) noteWriter(rec *Record) {
	if rec.Header.Type() != "warcinfo" {
		return
	}
	_, fields, _ := ParseHeader("\r\n" + string(bytes.TrimRight(c.info, "\r\n")))
	c.second.on = strings.HasPrefix(fields.Get("software"), "arcrawl/")
	c.wget = strings.HasPrefix(strings.ToLower(fields.Get("software")), "wget/")
}

// failButWget reports an error. In a file by GNU Wget, which writes all its files like this, it is a warning.
func (c *Checker) failButWget(rec *Record, k Kind, format string, args ...any) {
	if c.wget {
		c.warn(rec, k, format, args...)
		return
	}
	c.fail(rec, k, format, args...)
}

// hasEmpty reports whether a header is there without a value.
func hasEmpty(h Header, name string) bool {
	for _, v := range h.Values(name) {
		if v == "" {
			return true
		}
	}
	return false
}
