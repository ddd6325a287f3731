package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// MaxText is the longest text, in bytes, that versions are compared in. Longer ones are not read by people.
const MaxText = 16 << 20

// ErrNoText says that a payload is no text.
var ErrNoText = errors.New("the payload is no text")

// Text gives the decoded payload of a capture as UTF-8, after scrub has had the payload and its Content-Type, as the crawler
// scrubs it; scrub may be nil. The error wraps [ErrNoText] when it is none, or too long.
func (l *Library) Text(ctx context.Context, c Capture, scrub func(content []byte, mime string) []byte) (string, error) {
	p, err := l.Payload(ctx, c, true)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(p, MaxText+1))
	if err = errors.Join(err, p.Close()); err != nil {
		return "", fmt.Errorf("decode the payload of %s at %s: %w", c.URL, c.Timestamp, err)
	}
	if len(b) > MaxText {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrNoText, MaxText)
	}
	mime := p.Head.MIME()
	if !isText(mime) && !utf8.Valid(b) || strings.ContainsRune(string(b[:min(len(b), 1024)]), 0) && !strings.HasPrefix(mime, "text/") {
		return "", fmt.Errorf("%w, but %s", ErrNoText, mime)
	}
	contentType := p.Head.Header().Get("Content-Type")
	e, _, _ := charset.DetermineEncoding(b, contentType) // before a declaration in it is scrubbed away
	if scrub != nil {
		b = scrub(b, contentType)
	}
	if utf8.Valid(b) {
		return string(b), nil
	}
	text, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoText, err)
	}
	return string(text), nil
}

func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "xml") || strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "javascript")
}
