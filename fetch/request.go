package fetch

import (
	"errors"
	"fmt"
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
