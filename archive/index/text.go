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

// MaxText is the maximum size of a text, in bytes. Nobody compares longer ones by reading.
const MaxText = 16 << 20

// ErrNoText means that a payload is not a text.
var ErrNoText = errors.New("the payload is not a text")

// Text returns the decoded payload of a capture as UTF-8. If scrub is not nil, it is first applied to the payload,
// together with the Content-Type, as the crawler does. The error wraps [ErrNoText] if the payload is not a text, or is
// too long.
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
	binary := strings.ContainsRune(string(b[:min(len(b), 1024)]), 0)
	if !isText(mime) && !utf8.Valid(b) || binary && !strings.HasPrefix(mime, "text/") {
		return "", fmt.Errorf("%w: its media type is %q", ErrNoText, mime)
	}
	contentType := p.Head.Header().Get("Content-Type")
	e, _, _ := charset.DetermineEncoding(b, contentType) // before scrubbing, which may remove it
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

// isText reports whether a media type is one of texts.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "xml") ||
		strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "javascript")
}
