package discover

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// decodeHTML gives the document in UTF-8, and the encoding it was in if that is one that queries are escaped in.
//
// A browser looks for a declaration in the first 1,024 bytes and else takes windows-1252. A page that declares nothing,
// or declares something in a meta element, and is valid UTF-8 from beginning to end, is UTF-8 whatever it says; but
// ISO-2022-JP is all ASCII bytes, and valid UTF-8 proves nothing against it.
func decodeHTML(body []byte, contentType string) ([]byte, encoding.Encoding) {
	_, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && name != "iso-2022-jp" && validUTF8(body) {
		name = "utf-8"
	}
	return decode(body, name)
}

// decodeCSS gives a style sheet in UTF-8: by byte order mark, header, @charset rule, or else as it is.
func decodeCSS(body []byte, contentType string) []byte {
	const rule = `@charset "`
	name := "utf-8"
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		name = params["charset"]
	} else if bytes.HasPrefix(body, []byte(rule)) {
		declared, _, _ := bytes.Cut(body[len(rule):min(len(body), 1024)], []byte{'"'})
		if name = strings.ToLower(string(declared)); strings.HasPrefix(name, "utf-16") {
			name = "utf-8" // or the rule itself could not have been read
		}
	}
	switch {
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		name = "utf-16be"
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		name = "utf-16le"
	}
	text, _ := decode(body, name)
	return text
}

// decode turns body into UTF-8. What it does not know, and the encodings that browsers refuse for their dangers, it
// leaves as they are: most references are ASCII anyway.
func decode(body []byte, name string) ([]byte, encoding.Encoding) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	from, err := htmlindex.Get(name)
	if err != nil || from == encoding.Replacement {
		return body, nil
	}
	canonical, _ := htmlindex.Name(from)
	if canonical == "utf-8" {
		return body, nil
	}
	text, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return body, nil
	}
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	if canonical == "utf-16le" || canonical == "utf-16be" {
		return text, nil
	}
	return text, from
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

// escapeQuery escapes the query of a reference in the document's encoding, as forms and links of such pages are
// (URL standard, "percent-encode after encoding").
func escapeQuery(ref []byte, to encoding.Encoding) []byte {
	start := bytes.IndexByte(ref, '?')
	if start < 0 {
		return ref
	}
	query := ref[start:]
	if end := bytes.IndexByte(query, '#'); end >= 0 {
		query = query[:end]
	}
	if isASCII(query) {
		return ref
	}
	encoded, err := to.NewEncoder().Bytes(query)
	if err != nil {
		return ref
	}
	b := bytes.Clone(ref[:start])
	for _, c := range encoded {
		if c == '#' { // part of a character, as there is none in the query
			b = append(b, "%23"...)
			continue
		}
		b = appendEscaped(b, c)
	}
	return append(b, ref[start+len(query):]...)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
