package fetch

import (
	"bufio"
	"fmt"
	"io"
)

// Payload reads the body without transfer coding, and with its content coding: the bytes that PayloadDigest is of. Of a
// response that is not Complete it ends with [io.ErrUnexpectedEOF] where the body breaks off. It must be closed.
func (c *Capture) Payload() (io.ReadCloser, error) {
	if c.spool.closed {
		return nil, fmt.Errorf("read payload of %s: %w", c.URI, ErrClosed)
	}
	if c.Status < 0 {
		return nil, fmt.Errorf("read payload of %s: no response: %w", c.URI, c.Misfortune)
	}
	parser := c.client.codecs.reader(nil)
	body := io.NewSectionReader(c.spool, int64(len(c.Head)), c.BlockSize-int64(len(c.Head)))
	res, err := parse(parser, &feed{body: body}, c.Head)
	if err != nil {
		c.client.codecs.giveReader(parser)
		return nil, fmt.Errorf("read payload of %s: %w", c.URI, err)
	}
	return &payloadReader{cut: cut{r: res.Body, complete: c.Complete}, codecs: c.client.codecs, parser: parser}, nil
}

// payloadReader is what Payload gives.
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

// Close gives back the parser. It may be called again.
func (r *payloadReader) Close() error {
	if r.parser != nil {
		r.codecs.giveReader(r.parser)
		r.parser = nil
	}
	return nil
}
