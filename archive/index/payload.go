package index

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Payload is the payload of a capture, from its own record or from its original's.
type Payload struct {
	io.Reader
	Head     warc.Head // of the record that holds the payload
	Original Capture   // that record
	close    func() error
}

// Close closes the file.
func (p *Payload) Close() error { return p.close() }

// Payload opens the payload of a capture. It first checks that the record that holds the payload is whole and has the
// digests of its header. With decode, the content coding is removed (gzip, deflate, br, zstd).
func (l *Library) Payload(ctx context.Context, c Capture, decode bool) (*Payload, error) {
	original, err := l.Original(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(original.file.CheckAt(original.Offset), ctx.Err()); err != nil {
		return nil, err
	}
	return open(original, decode)
}

// Unchecked opens the payload of the record of a capture that is not a revisit. It compares no digest, so that only
// what is read of the payload is read of the file. The content coding is removed.
func (l *Library) Unchecked(c Capture) (*Payload, error) { return open(c, true) }

// open opens the payload of a record.
func open(c Capture, decode bool) (*Payload, error) {
	r, err := c.file.OpenAt(c.Offset)
	if err != nil {
		return nil, warc.Damaged(err)
	}
	rec, err := r.Next()
	if err != nil {
		return nil, errors.Join(warc.Damaged(err), r.Close())
	}
	head, body, err := rec.Payload()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s at %d: %w", c.file.Path, c.Offset, err), r.Close())
	}
	if decode {
		if body, err = head.Decode(body); err != nil {
			return nil, errors.Join(fmt.Errorf("decode the payload of %s: %w; read it without decoding", c.URL, err), r.Close())
		}
	}
	return &Payload{Reader: body, Head: head, Original: c, close: r.Close}, nil
}
