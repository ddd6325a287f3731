package warc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/digest"
)

// MaxHeader is the maximum size of a record header, in bytes. Heritrix and arcrawl stay below 10 KiB. A header that
// does not end within this limit is damage.
const MaxHeader = 64 << 10

// Field is one line of a record header.
type Field struct{ Name, Value string }

// Header is the header of a record. The fields are in the order of the file.
type Header []Field

// Get returns the first value of a name, or an empty text. Case does not matter.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Values returns all values of a name.
func (h Header) Values(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// ID returns the first value of a name without its angle brackets. It is meant for headers that hold a record id.
func (h Header) ID(name string) string { return TrimID(h.Get(name)) }

// TrimID removes the angle brackets around a record id or URI.
func TrimID(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">") }

// Target returns WARC-Target-URI, without the angle brackets that GNU wget puts around it.
func (h Header) Target() string { return TrimID(h.Get("WARC-Target-URI")) }

// Type returns WARC-Type.
func (h Header) Type() string { return h.Get("WARC-Type") }

// MIME returns the media type of the block in lower case, without parameters. It is empty if there is none that can be
// read.
func (h Header) MIME() string { return digest.MediaType(h.Get("Content-Type")) }

// Date returns WARC-Date. It is the zero time if the header cannot be read.
func (h Header) Date() time.Time {
	t, _ := ParseDate(h.Get("WARC-Date"))
	return t
}

// DateLayout is the layout of a WARC-Date with microseconds.
const DateLayout = "2006-01-02T15:04:05.000000Z"

// dateLayouts holds the forms of W3C's date and time profile that WARC/1.1 allows. time.Parse also accepts a fraction
// of a second.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"}

// ParseDate parses a WARC-Date.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("date %.40q does not have the form 2026-11-21T09:00:00Z", s)
}

// ParseHeader parses a header without its empty last line. faults describes faulty lines. The other lines are still
// valid: they say where the record ends.
func ParseHeader(text string) (version string, h Header, faults []string) {
	first, rest, _ := strings.Cut(text, "\r\n")
	version = strings.TrimPrefix(first, "WARC/")
	if !utf8.ValidString(text) {
		faults = append(faults, "the header is not UTF-8")
	}
	h = make(Header, 0, strings.Count(rest, "\r\n")+1)
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\r\n")
		if (line[:min(1, len(line))] == " " || line[:min(1, len(line))] == "\t") && len(h) > 0 {
			h[len(h)-1].Value += " " + strings.Trim(line, " \t") // a folded line, as WARC/1.0 allows
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) {
			faults = append(faults, fmt.Sprintf("the header line %.60q has no valid name", line))
			continue
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			faults = append(faults, fmt.Sprintf("the header %s contains a control character", name))
		}
		h = append(h, Field{name, strings.Trim(value, " \t")})
	}
	return version, h, faults
}

// FieldsMIME is the media type of a block of fields.
const FieldsMIME = "application/warc-fields"

// ParseFields parses a block of the type [FieldsMIME].
func ParseFields(block []byte) Header {
	_, fields, _ := ParseHeader("\r\n" + string(bytes.TrimRight(block, "\r\n")))
	return fields
}

// isToken reports whether a text is a valid header name.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// ContentLength returns Content-Length. It is required, because nothing else says where a record ends.
func (h Header) ContentLength() (int64, error) {
	s := h.Get("Content-Length")
	if s == "" {
		return 0, errors.New("Content-Length is missing")
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("Content-Length is %.40q, which is not a number of bytes", s)
	}
	return int64(n), nil
}
