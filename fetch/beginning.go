package fetch

import (
	"errors"
	"fmt"
	"io"
)

// Beginning returns the first bytes of the content, at most limit, as far as they were received. It returns nothing if
// the content coding cannot be undone.
func (c *Capture) Beginning(limit int64) ([]byte, error) {
	content, err := c.Content()
	if errors.Is(err, ErrCoding) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	if all, ok := content.(interface{ Bytes() []byte }); ok {
		return all.Bytes()[:min(int64(len(all.Bytes())), limit)], nil
	}
	b, err := io.ReadAll(io.LimitReader(content, limit))
	if err != nil && !IsIncomplete(err) {
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	return b, nil
}

// IsIncomplete reports whether an error says that the content was received incomplete, which is not a fault of our own.
func IsIncomplete(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrMaxContent) || errors.Is(err, ErrCoding)
}
