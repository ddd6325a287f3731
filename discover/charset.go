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

// decodeHTML returns the document in UTF-8. It also returns the encoding that the document was in, if queries are
// escaped in that encoding.
//
// A browser searches the first 1,024 bytes for a declaration, and assumes windows-1252 if there is none. A page
// without a declaration, or with one in a meta element, is UTF-8 if all of it is valid UTF-8. ISO-2022-JP is the
// exception: it consists of ASCII bytes, so that it is always valid UTF-8.
func decodeHTML(body []byte, contentType string) ([]byte, encoding.Encoding) {
	if Charset(contentType) == "" && !mayBeJapanese(body) && ValidUTF8(body) {
		return decode(body, "utf-8") // no declaration that a browser could find says otherwise
	}
	_, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && name != "iso-2022-jp" && ValidUTF8(body) {
		name = "utf-8"
	}
	return decode(body, name)
}

// mayBeJapanese reports whether a page may have a declaration of ISO-2022-JP. Its labels contain "2022", which may be
// written as character references.
func mayBeJapanese(body []byte) bool {
	searched := body[:min(len(body), 1024)]
	return bytes.Contains(searched, []byte("2022")) || bytes.IndexByte(searched, '&') >= 0
}

// decodeCSS returns a style sheet in UTF-8. The byte order mark decides about its encoding, else the header, else the
// @charset rule. Without any of them it is returned unchanged.
func decodeCSS(body []byte, contentType string) []byte {
	const rule = `@charset "`
	name := "utf-8"
	if declared := Charset(contentType); declared != "" {
		name = declared
	} else if bytes.HasPrefix(body, []byte(rule)) {
		declared, _, _ := bytes.Cut(body[len(rule):min(len(body), 1024)], []byte{'"'})
		if name = strings.ToLower(string(declared)); strings.HasPrefix(name, "utf-16") {
			name = "utf-8" // otherwise the rule itself would be unreadable
		}
	}
	switch {
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		name = "utf-16be"
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		name = "utf-16le"
	}
	decoded, _ := decode(body, name)
	return decoded
}

// Charset returns the charset parameter of a Content-Type as it is written there. It is empty if there is no such
// parameter or if any parameter is faulty.
func Charset(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return params["charset"]
}

// decode returns body in UTF-8, and the encoding from which it was decoded, nil for Unicode encodings. If the encoding
// is unknown, or one that browsers refuse as dangerous, it returns body unchanged: most references are ASCII anyway.
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
	decoded, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return body, nil
	}
	decoded = bytes.TrimPrefix(decoded, []byte("\xEF\xBB\xBF"))
	if canonical == "utf-16le" || canonical == "utf-16be" {
		return decoded, nil
	}
	return decoded, from
}

// escapeQuery escapes the query of a reference in the document's encoding, as browsers do (URL standard,
// "percent-encode after encoding").
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
		if c == '#' { // part of a character: the query has no '#'
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
