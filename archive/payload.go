package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	maxCodings    = 4       // of a payload, one over the other
	maxZstdWindow = 8 << 20 // what RFC 9659 allows on the web
)

// Payload is the payload of a capture, from its own record or the original's.
type Payload struct {
	io.Reader
	Head     Head    // of the record that holds the payload
	Original Capture // that record
	close    func() error
}

// Close gives the file back.
func (p *Payload) Close() error { return p.close() }

// Payload opens the payload of a capture. The record that holds it has been proved whole and equal to its digest before
// the first byte is given. With decode, its content coding (gzip, deflate, br, zstd) is undone.
func (l *Library) Payload(ctx context.Context, c Capture, decode bool) (*Payload, error) {
	original, err := l.Original(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := prove(ctx, original); err != nil {
		return nil, err
	}
	r, err := OpenAt(original.path, original.Offset)
	if err != nil {
		return nil, damaged(err)
	}
	rec, err := r.Next()
	if err != nil {
		return nil, errors.Join(damaged(err), r.Close())
	}
	head, body, err := open(rec)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s at %d: %w", original.path, original.Offset, err), r.Close())
	}
	if decode {
		if body, err = decoded(head, body); err != nil {
			return nil, errors.Join(fmt.Errorf("decode the payload of %s: %w; it can be had as it was sent", c.URL, err), r.Close())
		}
	}
	return &Payload{Reader: body, Head: head, Original: original, close: r.Close}, nil
}

// prove verifies one record by itself.
func prove(ctx context.Context, c Capture) error {
	r, err := OpenAt(c.path, c.Offset)
	if err != nil {
		return damaged(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil {
		return damaged(err)
	}
	s := newScan(File{Path: c.path}, 0, false, new(buffers), nil)
	s.record(rec)
	for _, f := range s.notes.list {
		if f.Severity == Error {
			return damaged(&f)
		}
	}
	return ctx.Err()
}

// decoded undoes the content codings of a payload. An empty payload needs none, whatever its head says.
func decoded(h Head, body io.Reader) (io.Reader, error) {
	var codings []string
	for _, v := range h.Header().Values("Content-Encoding") {
		for coding := range strings.SplitSeq(strings.ToLower(v), ",") {
			if coding = strings.TrimSpace(coding); coding != "" && coding != "identity" && coding != "none" {
				codings = append(codings, coding)
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings, one over the other", len(codings))
	}
	for i := len(codings) - 1; i >= 0; i-- {
		in := bufio.NewReader(body)
		begin, err := in.Peek(2)
		if len(begin) == 0 && errors.Is(err, io.EOF) {
			return in, nil
		}
		if body, err = undo(codings[i], in, begin); err != nil {
			return nil, fmt.Errorf("%s: %w", codings[i], err)
		}
	}
	return body, nil
}

func undo(coding string, in *bufio.Reader, begin []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(in)
	case "deflate": // zlib, as RFC 9110 has it, or bare, as it occurs
		if len(begin) == 2 && begin[0]&0x0f == 8 && (uint(begin[0])<<8|uint(begin[1]))%31 == 0 {
			return zlib.NewReader(in)
		}
		return flate.NewReader(in), nil
	case "br":
		return brotli.NewReader(in), nil
	case "zstd":
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	return nil, errors.New("an unknown content coding")
}
