package fetch

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// ownFields are those that fetch sets itself, or that a request without a body must not have.
var ownFields = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding"}

// requestBytes is the request as it goes over the wire. It refuses what would break the framing of the request.
func requestBytes(r Request, keepAlive bool) ([]byte, error) {
	if r.URI.IsZero() {
		return nil, errors.New("build request: no URI")
	}
	// A URI that was parsed has none of these; one taken back from a store may.
	for i := range len(r.URI.String()) {
		if c := r.URI.String()[i]; c <= ' ' || c == 0x7f {
			return nil, fmt.Errorf("build request: white space or control character in %q", r.URI)
		}
	}
	b := make([]byte, 0, 512)
	b = append(append(append(b, "GET "...), r.URI.RequestTarget()...), " HTTP/1.1\r\n"...)
	b = append(append(append(b, "Host: "...), r.URI.Authority()...), "\r\n"...)
	for _, f := range r.Header {
		if err := checkField(f); err != nil {
			return nil, err
		}
		b = append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	if keepAlive {
		return append(b, "Connection: keep-alive\r\n\r\n"...), nil
	}
	return append(b, "Connection: close\r\n\r\n"...), nil
}

func checkField(f Field) error {
	if !httpguts.ValidHeaderFieldName(f.Name) {
		return fmt.Errorf("build request: header name %q is no token", f.Name)
	}
	if !httpguts.ValidHeaderFieldValue(f.Value) {
		return fmt.Errorf("build request: value %q of header %s has a line end or control character", f.Value, f.Name)
	}
	for _, own := range ownFields {
		if strings.EqualFold(f.Name, own) {
			return fmt.Errorf("build request: header %s is set by fetch alone", own)
		}
	}
	return nil
}
