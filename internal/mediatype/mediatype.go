// Package mediatype reads the values of Content-Type headers as servers really send them.
package mediatype

import (
	"mime"
	"strings"
)

// Of returns the media type of a Content-Type without its parameters, in lower case: "text/html" for
// "Text/HTML; charset=UTF-8". Faulty parameters do not matter. The result is empty if there is no media type, or if it
// contains a space or a quotation mark, as in "text/html, text/html".
func Of(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil && t == "" { // a parameter that is given twice, for example
		t, _, _ = strings.Cut(contentType, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	if strings.ContainsAny(t, " \"\\\t") {
		return ""
	}
	return t
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

// IsHTML reports whether a Content-Type is one of HTML or XHTML.
func IsHTML(contentType string) bool {
	t := Of(contentType)
	return t == "text/html" || t == "application/xhtml+xml"
}
