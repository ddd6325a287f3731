package feeds

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/internal/mediatype"
)

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decode returns the content in UTF-8, and its beginning without leading white space.
//
// The byte order mark decides about the encoding, else the header, else the XML declaration. Where UTF-8 is declared, a
// content with other bytes in its first 4 KiB is read as windows-1252; later faulty bytes become U+FFFD.
func decode(r io.Reader, contentType string) (content io.Reader, head []byte, err error) {
	raw := bufio.NewReaderSize(r, headLength)
	head, err = raw.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	decoded := bufio.NewReaderSize(transform.NewReader(raw, encodingOf(head, contentType).NewDecoder()), headLength)
	head, err = decoded.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return decoded, bytes.TrimLeft(head, " \t\r\n"), nil
}

// encodingOf returns the encoding of a content with this beginning and Content-Type.
func encodingOf(head []byte, contentType string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		return unicode.UTF8BOM
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\x00<\x00")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	name := mediatype.Charset(contentType)
	if name == "" {
		if m := xmlEncoding.FindSubmatch(head); m != nil {
			name = string(m[1])
		}
	}
	if e, err := htmlindex.Get(strings.TrimSpace(name)); err == nil && e != encoding.Replacement && !isUTF16(e) {
		if canonical, _ := htmlindex.Name(e); canonical != "utf-8" {
			return e
		}
	}
	if !discover.ValidUTF8(head) {
		return charmap.Windows1252
	}
	return unicode.UTF8
}

// isUTF16 reports whether e is UTF-16. A content whose beginning was read as ASCII cannot be in UTF-16.
func isUTF16(e encoding.Encoding) bool {
	name, _ := htmlindex.Name(e)
	return strings.HasPrefix(name, "utf-16")
}
