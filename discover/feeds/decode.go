package feeds

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decoded gives the content in UTF-8, whatever its encoding is, and a look at how it begins, without leading blanks.
//
// The encoding is that of the byte order mark, else the one of the header, else the one of the XML declaration. Bytes that
// are no UTF-8 where UTF-8 is claimed are taken for windows-1252 if that shows within the first 4 KiB, and become U+FFFD
// later on.
func decoded(r io.Reader, contentType string) (io.Reader, []byte, error) {
	raw := bufio.NewReaderSize(r, headLength)
	head, err := raw.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	text := bufio.NewReaderSize(transform.NewReader(raw, encodingOf(head, contentType).NewDecoder()), headLength)
	head, err = text.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return text, bytes.TrimLeft(head, " \t\r\n"), nil
}

// encodingOf tells the encoding by header and beginning.
func encodingOf(head []byte, contentType string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		return unicode.UTF8BOM
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\x00<\x00")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	name := ""
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		name = params["charset"]
	}
	if name == "" {
		if m := xmlEncoding.FindSubmatch(head); m != nil {
			name = string(m[1])
		}
	}
	if e, err := htmlindex.Get(strings.TrimSpace(name)); err == nil && e != encoding.Replacement && !utf16(e) {
		if canonical, _ := htmlindex.Name(e); canonical != "utf-8" {
			return e
		}
	}
	if !validUTF8(head) {
		return charmap.Windows1252
	}
	return unicode.UTF8
}

// utf16 tells the encodings that cannot be, since the beginning was read as ASCII.
func utf16(e encoding.Encoding) bool {
	name, _ := htmlindex.Name(e)
	return strings.HasPrefix(name, "utf-16")
}

// validUTF8 forgives a last character that is cut.
func validUTF8(b []byte) bool {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				b = b[:i]
			}
			break
		}
	}
	return utf8.Valid(b)
}
