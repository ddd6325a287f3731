package index

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DateLayout is the layout of an [Entry.Timestamp] with 14 digits, to the second.
const DateLayout = "20060102150405"

// maxStamp is the maximum length of a timestamp: to the nanosecond.
const maxStamp = len(DateLayout) + 9

// Stamp returns a date as a timestamp of 14 digits, or with milliseconds of 17.
func Stamp(date time.Time, milliseconds bool) string {
	if milliseconds {
		return strings.Replace(date.UTC().Format(DateLayout+".000"), ".", "", 1)
	}
	return date.UTC().Format(DateLayout)
}

// ParseStamp parses a timestamp of 14 digits, or with a fraction of a second of up to 23. js-wacz and Browsertrix write
// 17 digits.
func ParseStamp(s string) (time.Time, error) {
	if !isStamp(s) {
		return time.Time{}, fmt.Errorf("timestamp %.40q: want 14 digits, or 17 with milliseconds", s)
	}
	second, fraction := s[:len(DateLayout)], s[len(DateLayout):]
	return time.Parse(DateLayout, strings.TrimSuffix(second+"."+fraction, "."))
}

// RevisitMIME is the media type of a revisit in an index.
const RevisitMIME = "warc/revisit"

// UnknownMIME is the media type of a payload without one. The word is pywb's.
const UnknownMIME = "unk"

// Entry is one line of an index: a capture and the place of its record. The fields are pywb's.
type Entry struct {
	Key       string // see [uri.ReplayKey]
	Timestamp string // 14 digits, or more with a fraction of a second
	URL       string
	MIME      string
	Status    string // empty if the record has none
	Digest    string // of the payload, in the form of the record
	Length    int64  // bytes of the record in its file; 0 = unknown, because another tool left it out
	Offset    int64
	Filename  string
	Visit     *Visit // nil unless the index was made with [Options.Visits]
}

// Visit holds what the metadata record of the visit says about a capture.
type Visit struct {
	State       string `json:"contentState,omitempty"` // changed, unchanged or unknown
	StateReason string `json:"contentStateReason,omitempty"`
	Comparison  string `json:"comparisonDigest,omitempty"` // of the payload after scrubbing; empty if nothing is scrubbed
	VisitReason string `json:"visitReason,omitempty"`      // why the URI was due
	Wait        string `json:"waitSec,omitempty"`          // the wait by which it was due, in seconds

	// Changes are the kinds of what a reader sees that changed, with commas between them. Only entries whose MIME is
	// [ChangeMIME] have some.
	Changes string `json:"changes,omitempty"`
}

// ChangeMIME marks an entry that is no capture: it says what changed with the last capture of its URL before it.
const ChangeMIME = "urn:change"

// Date returns the timestamp as a time. It is the zero time if the timestamp is not valid.
func (e Entry) Date() time.Time {
	t, _ := ParseStamp(e.Timestamp)
	return t
}

// jsonFields is the JSON object of a line. Other tools leave some fields out.
type jsonFields struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   number `json:"length,omitempty"`
	Offset   number `json:"offset"`
	Filename string `json:"filename"`
	*Visit
}

// number is a number in a JSON text. Other tools write a JSON number instead, which is read too.
type number string

// UnmarshalJSON accepts both forms.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number(strings.Trim(string(b), `"`))
	return nil
}

func (n number) int() (int64, error) {
	if n == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(string(n), 10, 63)
	return int64(v), err
}

// AppendTo appends the entry to b as a line of CDXJ with its line end. The fields are in the order of pywb, and numbers
// are texts, as pywb writes them.
func (e Entry) AppendTo(b []byte) []byte {
	b = append(append(b, e.Key...), ' ')
	b = append(append(b, e.Timestamp...), ' ')
	b = appendText(append(b, `{"url":`...), e.URL)
	type field struct{ name, value string }
	fields := [...]field{
		{`,"mime":`, cutMIME(e.MIME)}, {`,"status":`, e.Status}, {`,"digest":`, e.Digest}, {}, {}, {}, {}, {}, {},
	}
	if v := e.Visit; v != nil {
		copy(fields[3:], []field{
			{`,"contentState":`, v.State},
			{`,"contentStateReason":`, v.StateReason},
			{`,"comparisonDigest":`, v.Comparison},
			{`,"visitReason":`, v.VisitReason},
			{`,"waitSec":`, v.Wait},
			{`,"changes":`, v.Changes},
		})
	}
	for _, f := range fields {
		if f.value != "" {
			b = appendText(append(b, f.name...), f.value)
		}
	}
	if e.Length > 0 {
		b = append(b, `,"length":"`...)
		b = append(strconv.AppendInt(b, e.Length, 10), '"')
	}
	b = append(b, `,"offset":"`...)
	b = append(strconv.AppendInt(b, e.Offset, 10), '"')
	b = appendText(append(b, `,"filename":`...), e.Filename)
	return append(b, "}\n"...)
}

func appendText(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	out := bytes.NewBuffer(b)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)                 // & is frequent in URIs
	_ = enc.Encode(s)                        // encoding a text to memory never fails
	return out.Bytes()[:out.Len()-len("\n")] // the encoder ends it with a newline
}

// isPlain reports whether a text needs no escaping in JSON. That is true of nearly all texts.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ParseEntry parses a line of CDXJ. Other tools may have written it: additional fields are ignored.
func ParseEntry(line string) (Entry, error) {
	line = strings.TrimRight(line, "\r\n")
	key, rest, ok := strings.Cut(line, " ")
	stamp, object, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || key == "" || !isStamp(stamp) {
		return Entry{}, fmt.Errorf("CDXJ line %.80q: want a key, 14 or 17 digits and a JSON object", line)
	}
	f, ok := parsePlain(object)
	if !ok {
		f = jsonFields{}
		if err := json.Unmarshal([]byte(object), &f); err != nil {
			return Entry{}, fmt.Errorf("CDXJ line %.80q: %w", line, err)
		}
	}
	e := Entry{
		Key: key, Timestamp: stamp, URL: f.URL, MIME: f.MIME, Status: f.Status, Digest: f.Digest, Filename: f.Filename,
		Visit: f.Visit,
	}
	var err, errLength error
	e.Offset, err = f.Offset.int()
	e.Length, errLength = f.Length.int()
	if err := errors.Join(err, errLength); err != nil {
		return Entry{}, fmt.Errorf("CDXJ line %.80q: %w", line, err)
	}
	return e, nil
}

// parsePlain parses an object that [Entry.AppendTo] may have written, if it has no escapes: nearly all lines are so. It
// reports false about any other object. A page may have thousands of lines.
func parsePlain(object string) (f jsonFields, ok bool) {
	rest, ok := strings.CutPrefix(object, `{"`)
	for ok {
		name, after, found := strings.Cut(rest, `":"`)
		value, next, closed := strings.Cut(after, `"`)
		if !found || !closed || !isPlain(value) {
			return f, false
		}
		switch name {
		case "url":
			f.URL = value
		case "mime":
			f.MIME = value
		case "status":
			f.Status = value
		case "digest":
			f.Digest = value
		case "length":
			f.Length = number(value)
		case "offset":
			f.Offset = number(value)
		case "filename":
			f.Filename = value
		default:
			return f, false
		}
		if next == "}" {
			return f, true
		}
		rest, ok = strings.CutPrefix(next, `,"`)
	}
	return f, false
}

func isStamp(s string) bool {
	return len(s) >= len(DateLayout) && len(s) <= maxStamp && strings.Trim(s, "0123456789") == ""
}

// AppendCDX appends the entry to b as a line of CDX with eleven fields, " CDX N b a m s k r M S V g", and its line end.
// An unknown field is "-". The timestamp has 14 digits. As in other CDX files, the digest has no scheme. White space in
// a field is percent-encoded, because it separates fields.
func (e Entry) AppendCDX(b []byte) []byte {
	_, sum, ok := strings.Cut(e.Digest, ":")
	if !ok {
		sum = e.Digest
	}
	length := ""
	if e.Length > 0 {
		length = strconv.FormatInt(e.Length, 10)
	}
	fields := [...]string{
		e.Key, e.Timestamp[:min(len(e.Timestamp), len(DateLayout))], e.URL, cutMIME(e.MIME), e.Status, sum, "", "", length,
		strconv.FormatInt(e.Offset, 10), e.Filename,
	}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ' ')
		}
		if f == "" {
			f = "-"
		}
		for _, c := range []byte(f) {
			if c <= ' ' || c == 0x7f {
				b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '\n')
}

// Compare compares entries by key and time. Entries of one second are compared by their places.
func Compare(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Timestamp, b.Timestamp),
		strings.Compare(a.Filename, b.Filename), cmp.Compare(a.Offset, b.Offset))
}

// MaxLine is the maximum length of a line of an index, in bytes. Longer lines are skipped.
const MaxLine = 1 << 20

// MaxMIME is the maximum length of a media type in an index, in bytes (RFC 6838, 4.2, bounds each half of it). Servers
// send anything as Content-Type.
const MaxMIME = 127

// cutMIME returns a media type as an index has it.
func cutMIME(mime string) string {
	if len(mime) <= MaxMIME {
		return mime
	}
	end := MaxMIME
	for end > MaxMIME-utf8.UTFMax && !utf8.RuneStart(mime[end]) {
		end--
	}
	return strings.TrimSpace(mime[:end])
}

// NewLines returns a scanner of the lines of an index. It skips lines that are longer than [MaxLine].
func NewLines(r io.Reader) *bufio.Scanner { return newLines(r, nil) }

// tailOfLine is the length of the end of a skipped line that is kept, in bytes. It holds the name of a WARC file.
const tailOfLine = 4 << 10

// newLines is NewLines. skipped is called with the last bytes of each line that is skipped, without its line end; nil
// is not called.
func newLines(r io.Reader, skipped func(tail []byte)) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	var tail []byte
	skipping := false
	lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		end := bytes.IndexByte(data, '\n')
		switch {
		case end < 0 && !atEOF && len(data) < MaxLine:
			return 0, nil, nil
		case end < 0 && !atEOF:
			tail = append(tail, data...)
			tail = append(tail[:0], tail[max(0, len(tail)-tailOfLine):]...)
			skipping = true
			return len(data), nil, nil
		case end < 0 && !skipping:
			return bufio.ScanLines(data, atEOF)
		case end < 0:
			end, advance = len(data), len(data)
		default:
			advance = end + 1
		}
		if !skipping {
			return advance, bytes.TrimSuffix(data[:end], []byte("\r")), nil
		}
		tail = append(tail, data[:end]...)
		if skipped != nil {
			skipped(tail)
		}
		tail, skipping = tail[:0], false
		return advance, nil, nil
	})
	return lines
}
