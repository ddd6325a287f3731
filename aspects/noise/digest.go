package noise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
)

// Digest returns the digest that decides whether a page changed. It is the digest of the decoded content after
// scrubbing by rules, which may take maxTime. If the content cannot be decoded, it is the digest of the payload as
// received.
func Digest(
	ctx context.Context, c *fetch.Capture, rules *digest.Rules, maxTime time.Duration,
) (digest.Comparison, error) {
	contentType := c.Header.Get("Content-Type")
	switch {
	case !c.Complete:
		return digest.Comparison{}, nil
	case c.ContentDigest.IsZero():
		return rules.Whole(c.PayloadDigest), nil
	case rules.Idle(contentType, c.ContentSize):
		return rules.Whole(c.ContentDigest), nil
	}
	whole := rules.Whole(c.ContentDigest) // for a content longer than we may read; known from the download
	return read(ctx, c, maxTime, whole, func(ctx context.Context, content io.Reader) (digest.Comparison, error) {
		return rules.Compare(ctx, content, contentType, c.ContentDigest)
	})
}

// sight returns the digests of what a reader sees of a page under rules; none if the page is not HTML, or was not read
// whole.
func sight(ctx context.Context, c *fetch.Capture, o *Options, rules *digest.Rules) (digest.Sight, error) {
	if rules == nil || !c.Complete || c.ContentDigest.IsZero() {
		return digest.Sight{}, nil
	}
	return read(ctx, c, o.MaxTime, digest.Sight{}, func(ctx context.Context, content io.Reader) (digest.Sight, error) {
		return rules.Seen(ctx, content, c.Header.Get("Content-Type"))
	})
}

// read returns what f makes of the content of a capture in the given time. It returns tooLong if the content is longer
// than we may read.
func read[T any](
	ctx context.Context, c *fetch.Capture, maxTime time.Duration, tooLong T,
	f func(ctx context.Context, content io.Reader) (T, error),
) (T, error) {
	content, err := c.Content()
	if err != nil {
		var none T
		return none, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, digest.ErrTooSlow)
	defer cancel()
	result, err := f(ctx, content)
	if errors.Is(err, fetch.ErrMaxContent) {
		return tooLong, nil
	}
	return result, err
}
