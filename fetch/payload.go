package fetch

import (
	"bufio"
	"fmt"
	"io"
)

// Payload returns a reader of the body without transfer coding but with its content coding. PayloadDigest is the
// digest of these bytes. Where a body that is not Complete ends, the reader returns [io.ErrUnexpectedEOF]. It must be
// closed.
func (c *Capture) Payload() (io.ReadCloser, error) {
	if c.spool.closed {
		return nil, fmt.Errorf("read payload of %s: %w", c.URI, ErrClosed)
	}
	if c.Status < 0 {
		return nil, fmt.Errorf("read payload of %s: no response: %w", c.URI, c.Misfortune)
	}
	parser := c.client.codecs.getReader(nil)
	body := io.NewSectionReader(c.spool, int64(len(c.Head)), c.BlockSize-int64(len(c.Head)))
	res, _, err := parse(parser, &gatedReader{body: body}, c.Head)
	if err != nil {
		c.client.codecs.putReader(parser)
		return nil, fmt.Errorf("read payload of %s: %w", c.URI, err)
	}
	return &payloadReader{cut: cut{r: res.Body, complete: c.Complete}, codecs: c.client.codecs, parser: parser}, nil
}

// payloadReader is the reader that [Capture.Payload] returns.
type payloadReader struct {
	cut
	codecs *codecs
	parser *bufio.Reader
}

// Read reads bytes of the payload.
func (r *payloadReader) Read(p []byte) (int, error) {
	if r.parser == nil {
		return 0, ErrClosed
	}
	return r.cut.Read(p)
}

// Close releases the parser. It may be called again.
func (r *payloadReader) Close() error {
	if r.parser != nil {
		r.codecs.putReader(r.parser)
		r.parser = nil
	}
	return nil
}
