package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DateLayout is how an index writes dates: to the second.
const DateLayout = "20060102150405"

// RevisitMIME is the type that an index gives to revisits, instead of that of the payload.
const RevisitMIME = "warc/revisit"

// UnknownMIME is pywb's word for a payload without a type.
const UnknownMIME = "unk"

// Entry is one line of an index: a capture and where its record is. The fields are those of pywb.
type Entry struct {
	Key       string // see [uri.ReplayKey]
	Timestamp string // 14 digits
	URL       string
	MIME      string
	Status    string // empty when the record has none
	Digest    string // of the payload, as the record has it
	Length    int64  // bytes of the record in its file; 0 when another tool did not tell
	Offset    int64
	Filename  string
}

// Date is the timestamp as a time; the zero time when it is none.
func (e Entry) Date() time.Time {
	t, err := time.Parse(DateLayout, e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// fieldsOf is the JSON of a line. Other tools leave some out.
type fieldsOf struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   number `json:"length,omitempty"`
	Offset   number `json:"offset"`
	Filename string `json:"filename"`
}

// number is a number as a text; other tools write it as a number, which is read too.
type number string

// UnmarshalJSON takes both forms.
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

// AppendTo adds the entry as a line of CDXJ, with its end: the fields of pywb in pywb's order, numbers as texts, as pywb writes
// them.
func (e Entry) AppendTo(b []byte) []byte {
	b = append(append(b, e.Key...), ' ')
	b = append(append(b, e.Timestamp...), ' ')
	b = appendText(append(b, `{"url":`...), e.URL)
	for _, f := range [...]struct{ Key, value string }{{`,"mime":`, e.MIME}, {`,"status":`, e.Status}, {`,"digest":`, e.Digest}} {
		if f.value != "" {
			b = appendText(append(b, f.Key...), f.value)
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

// appendText adds a string of JSON.
func appendText(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	out := bytes.NewBuffer(b)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)                 // & is frequent in URIs
	_ = enc.Encode(s)                        // a text, to memory: no error is possible
	return out.Bytes()[:out.Len()-len("\n")] // that ends what is encoded
}

// isPlain reports whether a text stands in JSON as it is, as nearly all do.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ParseEntry reads a line of CDXJ, also as other tools write it: further fields are passed over.
func ParseEntry(line string) (Entry, error) {
	line = strings.TrimRight(line, "\r\n")
	key, rest, ok := strings.Cut(line, " ")
	stamp, object, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || key == "" || !isStamp(stamp) {
		return Entry{}, fmt.Errorf("CDXJ line %.80q: want a key, 14 digits and a JSON object", line)
	}
	var f fieldsOf
	if err := json.Unmarshal([]byte(object), &f); err != nil {
		return Entry{}, fmt.Errorf("CDXJ line %.80q: %w", line, err)
	}
	e := Entry{Key: key, Timestamp: stamp, URL: f.URL, MIME: f.MIME, Status: f.Status, Digest: f.Digest, Filename: f.Filename}
	var errs [2]error
	e.Offset, errs[0] = f.Offset.int()
	e.Length, errs[1] = f.Length.int()
	if err := errors.Join(errs[:]...); err != nil {
		return Entry{}, fmt.Errorf("CDXJ line %.80q: %w", line, err)
	}
	return e, nil
}

func isStamp(s string) bool {
	return len(s) == len(DateLayout) && strings.Trim(s, "0123456789") == ""
}
