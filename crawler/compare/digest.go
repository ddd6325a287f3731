package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
)

// Digest returns the digest that decides whether a page changed. It is the digest of the decoded content after
// scrubbing. If the content cannot be decoded, it is the digest of the payload as received.
func Digest(ctx context.Context, c *fetch.Capture, s config.Change) (digest.Comparison, error) {
	rules := s.Rules
	contentType := c.Header.Get("Content-Type")
	switch {
	case !c.Complete:
		return digest.Comparison{}, nil
	case c.ContentDigest.IsZero():
		return rules.Whole(c.PayloadDigest), nil
	case rules.Idle(contentType, c.ContentSize):
		return rules.Whole(c.ContentDigest), nil
	}
	content, err := c.Content()
	if err != nil {
		return digest.Comparison{}, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, s.MaxTime, digest.ErrTooSlow)
	defer cancel()
	compared, err := rules.Compare(ctx, content, contentType, c.ContentDigest)
	if errors.Is(err, fetch.ErrMaxContent) {
		return rules.Whole(c.ContentDigest), nil // longer than we may read; its digest is known from the download
	}
	return compared, err
}

// sight returns the digests of what a reader sees of a page; none if the page is not HTML, or was not read whole.
func sight(ctx context.Context, c *fetch.Capture, s *config.Change) (digest.Sight, error) {
	if s.Seen == nil || !c.Complete || c.ContentDigest.IsZero() {
		return digest.Sight{}, nil
	}
	content, err := c.Content()
	if err != nil {
		return digest.Sight{}, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, s.MaxTime, digest.ErrTooSlow)
	defer cancel()
	seen, err := s.Seen.Seen(ctx, content, c.Header.Get("Content-Type"))
	if errors.Is(err, fetch.ErrMaxContent) {
		return digest.Sight{}, nil
	}
	return seen, err
}
