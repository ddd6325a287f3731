package fetch

import (
	"bytes"
	"io"
	"sync"
)

// maxWhole is the maximum size of a content that is kept decoded until its capture is closed. All readers share it, so
// that it is decoded only once. The bound limits the memory of a visit. Nearly all pages are smaller.
const maxWhole = 256 << 10

// whole is the content of a capture, read once.
type whole struct {
	once sync.Once
	buf  *[]byte // from the client's pool; nil before it is read, and after an error
	err  error
}

// isWhole reports whether the content is kept decoded.
func (c *Capture) isWhole() bool {
	return c.Complete && !c.ContentDigest.IsZero() && c.ContentSize <= maxWhole
}

// wholeContent returns a reader of the decoded content, which the first call decodes.
func (c *Capture) wholeContent() (io.ReadCloser, error) {
	c.whole.once.Do(func() {
		buf := c.client.getWhole()
		*buf, c.whole.err = c.readWhole((*buf)[:0])
		if c.whole.err != nil {
			c.client.wholes.Put(buf)
			return
		}
		c.whole.buf = buf
	})
	if c.whole.err != nil {
		return nil, c.whole.err
	}
	return &wholeReader{Reader: bytes.NewReader(*c.whole.buf), all: *c.whole.buf, capture: c}, nil
}

// readWhole appends the content to b.
func (c *Capture) readWhole(b []byte) ([]byte, error) {
	var from io.Reader = io.NewSectionReader(c.spool, int64(len(c.Head)), c.PayloadSize)
	if c.coded || c.BlockSize-int64(len(c.Head)) != c.PayloadSize {
		content, err := c.stream()
		if err != nil {
			return b, err
		}
		defer content.Close()
		from = content
	}
	if need := int(c.ContentSize); cap(b) < need {
		b = make([]byte, 0, need)
	}
	b = b[:c.ContentSize]
	n, err := io.ReadFull(from, b)
	return b[:n], err
}

// getWhole returns a buffer for a decoded content.
func (c *Client) getWhole() *[]byte {
	if b, ok := c.wholes.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// wholeReader reads a decoded content in memory.
type wholeReader struct {
	*bytes.Reader
	all     []byte
	capture *Capture
	closed  bool
}

// Bytes returns the whole content without a copy. It must not be changed, nor used after the capture is closed.
func (r *wholeReader) Bytes() []byte { return r.all }

// Read reads decoded bytes.
func (r *wholeReader) Read(p []byte) (int, error) {
	if r.closed || r.capture.spool.closed {
		return 0, ErrClosed
	}
	return r.Reader.Read(p)
}

// Close ends reading. It may be called again.
func (r *wholeReader) Close() error {
	r.closed = true
	return nil
}
