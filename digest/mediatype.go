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
