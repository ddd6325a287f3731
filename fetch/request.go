package fetch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The last fields of a request.
const (
	keepAlive = "Connection: keep-alive\r\n"
	closeNow  = "Connection: close\r\n"
	overHTTP2 = "" // a request over HTTP/2 in the form of HTTP/1.1
)

// ownFields are header fields that fetch sets itself, or that a request without a body must not have.
var ownFields = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding"}

// CheckHeaderName accepts the name of a header field that a file may set.
func CheckHeaderName(name string) (problem, remedy string) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > 100:
		return "is not the name of a header field", `write for example "Accept-Language"`
	case slices.Contains(framing, lower) || strings.HasPrefix(lower, "proxy-"):
		return "is a header field of the connection, which arcrawl sets itself", "remove it"
	case strings.HasPrefix(lower, "if-") || lower == "range":
		return "would bring an answer without the page, or a part of it", "remove it: arcrawl asks whether a page has changed by itself"
	case lower == "accept-encoding":
		return "may only name codings that arcrawl undoes", "remove it: gzip, deflate, br and zstd are asked for"
	case lower == "user-agent":
		return "names the crawler and its operator, by which webmasters and robots.txt know it",
			"remove it; set operator.contact, and ask the site to let the crawler in"
	}
	return "", ""
}

// framing lists the header fields of the connection and of the message, in lower case.
var framing = []string{
	"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive",
	"expect", "http2-settings",
}

// span is a part of a request, from its first byte to the one after its last.
type span struct{ from, to int }

// redact returns the part of a request that was sent, with [Redacted] instead of the secrets in it.
func redact(sent []byte, secrets []span) []byte {
	if len(secrets) == 0 {
		return sent
	}
	shown, at := make([]byte, 0, len(sent)), 0
	for _, s := range secrets {
		if s.from >= len(sent) {
			break
		}
		shown = append(append(shown, sent[at:s.from]...), Redacted...)
		at = min(s.to, len(sent))
	}
	return append(shown, sent[at:]...)
}

// requestBytes returns the exact bytes of a request, and where the secrets are in them. It refuses a URI or a field
// that would break the framing. last holds the last fields; over HTTP/2 the names of all others are in lower case.
func requestBytes(r Request, last string) (b []byte, secrets []span, _ error) {
	if r.URI.IsZero() {
		return nil, nil, errors.New("build request: no URI")
	}
	// A URI that was parsed has none of these characters. One from a damaged store may.
	for i := range len(r.URI.String()) {
		if c := r.URI.String()[i]; c <= ' ' || c == 0x7f {
			return nil, nil, fmt.Errorf("build request: white space or control character in %q", r.URI)
		}
	}
	b = make([]byte, 0, 512)
	method := "GET "
	if len(r.Form) > 0 {
		method = "POST "
	}
	b = append(append(append(b, method...), r.URI.RequestTarget()...), " HTTP/1.1\r\n"...)
	b = append(append(append(b, "Host: "...), r.URI.Authority()...), "\r\n"...)
	for _, f := range r.Header {
		if err := checkField(f); err != nil {
			return nil, nil, err
		}
		b = append(append(append(appendName(b, f.Name, last), ": "...), f.Value...), "\r\n"...)
	}
	for _, f := range r.Secrets {
		if err := checkField(f); err != nil {
			return nil, nil, fmt.Errorf("build request: the secret header %s is not allowed, or has a line end", f.Name)
		}
		b = append(appendName(b, f.Name, last), ": "...)
		secrets = append(secrets, span{len(b), len(b) + len(f.Value)})
		b = append(append(b, f.Value...), "\r\n"...)
	}
	if len(r.Form) > 0 {
		for _, f := range formFields(r) {
			b = append(append(append(appendName(b, f.Name, last), ": "...), f.Value...), "\r\n"...)
		}
	}
	b = append(append(b, last...), "\r\n"...)
	if len(r.Form) > 0 {
		secrets = append(secrets, span{len(b), len(b) + len(r.Form)})
		b = append(b, r.Form...)
	}
	return b, secrets, nil
}

// PlainRequest returns what a plain request has before and behind its conditions: header fields that begin it, and its
// end. The lines of the path and the host are before them.
func PlainRequest(first []Field) (before, after string) {
	for _, f := range first {
		before += f.Name + ": " + f.Value + "\r\n"
	}
	return before, keepAlive + "\r\n"
}

// formFields returns the header fields of a form.
func formFields(r Request) []Field {
	return []Field{
		{"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Length", strconv.Itoa(len(r.Form))},
	}
}

// appendName appends the name of a field, as the request has it that ends with these last fields.
func appendName(b []byte, name, last string) []byte {
	if last == overHTTP2 {
		return append(b, strings.ToLower(name)...)
	}
	return append(b, name...)
}

// checkField returns an error if a header field is not allowed.
func checkField(f Field) error {
	if !httpguts.ValidHeaderFieldName(f.Name) {
		return fmt.Errorf("build request: header name %q is not a token", f.Name)
	}
	if !httpguts.ValidHeaderFieldValue(f.Value) {
		return fmt.Errorf("build request: value %q of header %s has a line end or control character", f.Value, f.Name)
	}
	for _, own := range ownFields {
		if strings.EqualFold(f.Name, own) {
			return fmt.Errorf("build request: header %s is not allowed: fetch sets it", own)
		}
	}
	return nil
}
