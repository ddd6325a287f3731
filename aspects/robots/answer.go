package robots

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// Unreachable reports whether a robots.txt could not be fetched, so that everything is forbidden for a while
// (RFC 9309, 2.3.1.4). 429 means a server in trouble, not a missing file. The other 4xx mean that there are no rules.
func Unreachable(got *fetch.Capture) bool {
	status := got.Status
	return status < http.StatusOK || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status < http.StatusMultipleChoices && !got.Complete && got.Truncated != fetch.TruncatedLength
}

// Read returns the content of a robots.txt, as far as it counts.
func Read(got *fetch.Capture) ([]byte, error) {
	content, err := got.Content()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	defer content.Close()
	body, err := io.ReadAll(io.LimitReader(content, maxBody))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	return body, nil
}

// Sitemaps returns the sitemaps that a robots.txt names; none if the host has no robots.txt, or a page in its place. It
// reports false if the answer does not say.
func Sitemaps(got *fetch.Capture) (named []string, ok bool) {
	switch {
	case got.Status >= http.StatusBadRequest:
		return nil, !Unreachable(got)
	case got.Status != http.StatusOK:
		return nil, false
	}
	body, err := Read(got)
	switch {
	case err != nil:
		return nil, false
	case IsHTML(body):
		return nil, true
	}
	return Parse(body).Sitemaps(), true
}

// Meaning returns the meaning of an answer for robots.txt, in words.
func Meaning(c frontier.RobotsCopy) string {
	switch {
	case c.Unreachable:
		return "robots.txt unreachable: nothing of the host is visited meanwhile"
	case discover.IsRedirect(c.Status):
		return "robots.txt is elsewhere: the rules there are in force"
	case c.Status >= http.StatusBadRequest:
		return "no robots.txt: everything is allowed"
	}
	return "robots.txt is in force"
}

// IsHTML reports whether a content is an HTML page, whatever its type says. Sites redirect unknown paths to such pages;
// they hold no rules.
func IsHTML(content []byte) bool {
	const beginning = 1 << 10
	content = bytes.TrimSpace(bytes.TrimPrefix(content[:min(len(content), beginning)], []byte("\xEF\xBB\xBF")))
	if len(content) == 0 || content[0] != '<' {
		return false
	}
	lower := bytes.ToLower(content)
	return strings.HasPrefix(http.DetectContentType(content), "text/html") ||
		bytes.Contains(lower, []byte("<html")) || bytes.Contains(lower, []byte("<!doctype html"))
}
