package warcout

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/digest"
)

// stampLayout is the format of WARC-Date, with the microseconds that WARC/1.1 allows.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// recordEnd follows each block.
const recordEnd = "\r\n\r\n"

// record is one WARC record that is not in the file yet.
type record struct {
	kind gowarc.RecordType
	id   string        // "urn:uuid:…"; empty if no other record may refer to it
	text []byte        // the whole record, or its header alone if the block comes from a reader
	from io.Reader     // the block of a response; nil for others
	size int64         // number of bytes in from
	sum  digest.Digest // of the bytes in from; zero if it need not be compared
}

// draft is a record that is being composed line by line, as it will be in the file. gowarc's builder and marshaller
// are not used: they clear and rename headers, refuse unusual URIs, which records are about, and take longer than
// compressing a short record.
type draft struct {
	record
	fault error // the first value that a header cannot hold
}

// begin starts a record with the headers that every record has, after the present content of text.
func begin(text []byte, kind gowarc.RecordType, id []byte, date string) draft {
	d := draft{record: record{kind: kind, text: append(text[len(text):], gowarc.V1_1.String()+"\r\n"...)}}
	d.add(gowarc.WarcType, kind.String())
	d.text = append(append(append(d.text, gowarc.WarcRecordID+": <"...), id...), ">\r\n"...)
	d.add(gowarc.WarcDate, date)
	return d
}

// add adds a header.
func (d *draft) add(name, value string) { d.addWithin(name, "", value, "") }

// addIf adds a header unless its value is empty.
func (d *draft) addIf(name, value string) {
	if value != "" {
		d.add(name, value)
	}
}

// addID adds the id of a record.
func (d *draft) addID(name, id string) { d.addWithin(name, "<", id, ">") }

// addWithin adds a header whose value is between two texts.
func (d *draft) addWithin(name, before, value, after string) {
	if d.fault == nil && (value == "" || !FitsHeader(value)) {
		d.fault = fmt.Errorf("%w: %s record: %s: a header cannot hold the value %q", ErrRefused, d.kind, name, value)
	}
	d.text = append(append(append(append(d.text, name...), ": "...), before...), value...)
	d.text = append(append(d.text, after...), "\r\n"...)
}

// addSum adds a digest.
func (d *draft) addSum(name string, sum digest.Digest) {
	d.text = append(append(d.text, name...), ": "...)
	d.text = append(sum.Append(d.text), "\r\n"...)
}

// with ends the record with a block that is in memory. An empty block has no content type and no digest.
func (d draft) with(contentType string, block []byte, infoID string) (record, error) {
	d.end(contentType, int64(len(block)), digest.Of(block), infoID)
	d.text = append(append(d.text, block...), recordEnd...)
	return d.record, d.fault
}

// streaming ends the record with a block that is read when the record is written.
func (d draft) streaming(
	contentType string, from io.Reader, size int64, sum digest.Digest, infoID string,
) (record, error) {
	d.end(contentType, size, sum, infoID)
	d.from, d.size, d.sum = from, size, sum
	return d.record, d.fault
}

// end adds the last headers of every record.
func (d *draft) end(contentType string, size int64, sum digest.Digest, infoID string) {
	if size > 0 {
		d.add(gowarc.ContentType, contentType)
		d.addSum(gowarc.WarcBlockDigest, sum)
	}
	if infoID != "" {
		d.addID(gowarc.WarcWarcinfoID, infoID)
	}
	d.text = append(d.text, gowarc.ContentLength+": "...)
	d.text = append(strconv.AppendInt(d.text, size, 10), "\r\n\r\n"...)
}

func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// Escape returns a text in a form that fits into one line of a warcinfo or metadata record. It writes each byte of
// control characters, invalid UTF-8 and outer blanks as \xNN. Other text stays unchanged, including backslashes. So
// the escape is meant for readers and cannot be reversed with certainty.
func Escape(s string) string {
	if FitsHeader(s) {
		return s
	}
	inner := strings.TrimFunc(s, isBlank)
	first := len(s) - len(strings.TrimLeftFunc(s, isBlank))
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		outside := i < first || i >= first+len(inner)
		if outside || isControl(r) || r == utf8.RuneError && n == 1 {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// FitsHeader reports whether a header of a record can hold s, and readers return it unchanged. The URI and the record
// id of an original must fit.
func FitsHeader(s string) bool {
	if isPlain(s) {
		return true
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, isControl) && strings.TrimFunc(s, isBlank) == s
}

// isPlain reports whether s is printable ASCII without outer blanks, as nearly all values are.
func isPlain[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) == 0 || s[0] != ' ' && s[len(s)-1] != ' '
}

// representable returns s, or an empty text if a header cannot hold it.
func representable(s string) string {
	if FitsHeader(s) {
		return s
	}
	return ""
}

// isControl reports whether r is a control character of ASCII or Latin-1, or a line end of Unicode.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

// isBlank reports whether some reader trims r from the ends of a value.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// tokenPunctuation holds the characters that RFC 9110, 5.6.2, allows in a token besides letters and digits.
const tokenPunctuation = "!#$%&'*+-.^_`|~"

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(tokenPunctuation, r)
	})
}

// fieldBlock returns the content of an application/warc-fields record.
func fieldBlock(fields []Field) ([]byte, error) {
	b := make([]byte, 0, 256)
	for _, f := range fields {
		if !isToken(f.Name) {
			return nil, fmt.Errorf("%w: field name %q is not a token of RFC 9110", ErrRefused, f.Name)
		}
		b = append(append(b, f.Name...), ": "...)
		b = append(append(b, Escape(f.Value)...), "\r\n"...)
	}
	return b, nil
}
