package digest

import "strings"

// MediaType returns the media type of a Content-Type, as servers really send it, without its parameters and in lower
// case: "text/html" for "Text/HTML; charset=UTF-8". Faulty parameters do not matter. The result is empty if there is no
// media type, or if it contains a space or a quotation mark, as in "text/html, text/html".
func MediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	if strings.ContainsAny(t, " \"\\\t") {
		return ""
	}
	return t
}

// IsHTML reports whether a Content-Type is one of HTML or XHTML. Only such contents have elements that a selector
// matches.
func IsHTML(contentType string) bool {
	t := MediaType(contentType)
	return t == "text/html" || t == "application/xhtml+xml"
}

// ContentCodings returns the codings in the values of Content-Encoding, in lower case and in the order in which they
// were applied.
func ContentCodings(values []string) (codings []string) {
	for _, value := range values {
		for coding := range strings.SplitSeq(strings.ToLower(value), ",") {
			if coding = strings.TrimSpace(coding); coding != "" && coding != "identity" && coding != "none" {
				codings = append(codings, coding)
			}
		}
	}
	return codings
}

// Chunked is the [Framing] of a payload in chunks.
const Chunked = "chunked"

// Framing returns how a body holds its payload: [Chunked] if it is in chunks, and the content codings. It is empty for
// a body that is the payload itself. Readers of archives put the head of a revisit before the body of its original, so
// both need the same framing.
func Framing(chunked bool, codings []string) string {
	if chunked {
		codings = append([]string{Chunked}, codings...)
	}
	return strings.Join(codings, " ")
}
