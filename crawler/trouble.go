package crawler

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
)

// misfortune reports whether a capture says nothing about the page: the connection or the server failed, or the server
// would not answer us. A body cut at our own size limit is no misfortune: it will be cut there every time.
func misfortune(c *fetch.Capture) bool {
	switch c.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests, statusNotModified:
		return true
	}
	cut := !c.Complete && c.Truncated != fetch.TruncatedLength
	return c.Status < http.StatusOK || c.Status >= http.StatusInternalServerError || cut
}

// isGone reports whether the server says that there is no such page.
func isGone(c *fetch.Capture) bool {
	return c.Complete && (c.Status == http.StatusNotFound || c.Status == http.StatusGone)
}

// recognise looks whether the answer stands in for the page that was asked for. The error is of our own: the content
// could not be read back from where it was spooled.
func (v *visit) recognise(s config.Trouble) error {
	got := v.capture
	if got.Status <= 0 || !s.KnownBlocks && len(s.Blocked)+len(s.NotFound) == 0 {
		return nil
	}
	answer := evaluators.Answer{Status: got.Status, Header: got.Header}
	if media, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type")); media == "text/html" || media == "application/xhtml+xml" {
		var err error
		if answer.Content, err = beginning(got); err != nil {
			return err
		}
	}
	if s.KnownBlocks {
		v.block = evaluators.Block(answer)
	}
	if v.block != "" || got.Status != http.StatusOK {
		return nil
	}
	for _, re := range s.Blocked {
		if re.Match(answer.Content) {
			v.block = "challenge:configured"
		}
	}
	for _, re := range s.NotFound {
		if re.Match(answer.Content) {
			v.block = evaluators.NotFound + "configured"
		}
	}
	return nil
}

// beginning is the first part of a page's content, so far as it came.
func beginning(c *fetch.Capture) ([]byte, error) {
	content, err := c.Content()
	if errors.Is(err, fetch.ErrCoding) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	if all, ok := content.(interface{ Bytes() []byte }); ok {
		return all.Bytes()[:min(len(all.Bytes()), evaluators.BlockReads)], nil
	}
	b, err := io.ReadAll(io.LimitReader(content, evaluators.BlockReads))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, fetch.ErrMaxContent), errors.Is(err, fetch.ErrCoding):
		return b, nil
	case err != nil:
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	return b, nil
}
