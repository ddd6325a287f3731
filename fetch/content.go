package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// Errors of [Capture.Content].
var (
	ErrCoding     = errors.New("content coding cannot be undone")
	ErrMaxContent = errors.New("content is longer than the limit")
)

const (
	// maxCodings is how many codings in sequence are undone. Two occur in practice (a proxy that compresses again).
	maxCodings = 4

	// maxZstdWindow is the maximum window of zstd on the web, by RFC 9659.
	maxZstdWindow = 8 << 20

	// codingBuffer is how many bytes each decoder reads ahead.
	codingBuffer = 4 << 10
)

// codecs undoes content codings and keeps the decoders for reuse.
type codecs struct {
	readers sync.Pool // of *bufio.Reader
	gzips   sync.Pool // of *gzip.Reader
	brotlis sync.Pool // of *brotli.Reader
	zstds   sync.Pool // of *zstd.Decoder
}

// content is a decoded stream.
type content struct {
	io.Reader
	layers []*layer
}

// release releases the decoders.
func (c *content) release() {
	for _, l := range c.layers {
		l.release()
	}
	c.layers = nil
}

// open returns a reader of src with its codings undone, of at most maxBytes at each step. It reads nothing yet.
func (c *codecs) open(codings []string, src io.Reader, maxBytes int64) (*content, error) {
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%w: %d codings in sequence", ErrCoding, len(codings))
	}
	out := &content{Reader: &bounded{r: src, left: maxBytes}}
	for i := len(codings) - 1; i >= 0; i-- {
		switch codings[i] {
		case "gzip", "x-gzip", "deflate", "br", "zstd":
		default:
			return nil, fmt.Errorf("%w: unknown coding %.40q", ErrCoding, codings[i])
		}
		l := &layer{codecs: c, coding: codings[i], from: src}
		out.layers = append(out.layers, l)
		out.Reader = &bounded{r: l, left: maxBytes}
		src = out.Reader
	}
	return out, nil
}

// digest decodes p as far as possible and returns the digest and the size of the decoded bytes.
func (c *codecs) digest(codings []string, p io.Reader, maxBytes int64, buf []byte) (digest.Digest, int64, error) {
	decoded, err := c.open(codings, p, maxBytes)
	if err != nil {
		return digest.Digest{}, 0, err
	}
	defer decoded.release()
	hash, size := digest.New(), int64(0)
	for {
		n, err := decoded.Read(buf)
		_, _ = hash.Write(buf[:n]) // never fails
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return hash.Sum(), size, nil
		}
		if err != nil {
			return digest.Digest{}, size, err
		}
	}
}

// bounded reads at most left bytes, and then returns ErrMaxContent if there are more.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left > 0 {
		n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
		return n, err
	}
	if n, err := b.r.Read(make([]byte, 1)); n == 0 {
		return 0, err
	}
	return 0, ErrMaxContent
}

// layer undoes one coding. The decoder is chosen at the first read, when the first bytes are there.
type layer struct {
	codecs *codecs
	coding string
	from   io.Reader

	src     *bufio.Reader
	decoder io.Reader
	err     error // permanent
}

func (l *layer) Read(p []byte) (int, error) {
	if l.err == nil && l.decoder == nil {
		l.err = l.start()
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := panics.Catch(func() (int, error) { return l.decoder.Read(p) })
	if panicked := (*panics.Error)(nil); errors.As(err, &panicked) {
		l.decoder = nil // it is not used again, for any response
	}
	l.err = l.explain(err)
	return n, l.err
}

// explain returns err as an [ErrCoding], unless it is the end of the stream or an error of a layer below.
func (l *layer) explain(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, ErrMaxContent) || errors.Is(err, ErrCoding) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrCoding, l.coding, err)
}

// start gets a decoder. An empty stream decodes to an empty stream, because servers announce gzip for empty bodies too.
func (l *layer) start() error {
	l.src = l.codecs.getReader(l.from)
	first, err := l.src.Peek(1)
	if len(first) == 0 {
		return l.explain(err)
	}
	switch l.coding {
	case "gzip", "x-gzip":
		z, ok := l.codecs.gzips.Get().(*gzip.Reader)
		if !ok {
			z = new(gzip.Reader)
		}
		g := &gunzip{z: z, src: l.src}
		l.decoder, err = g, g.member()
	case "deflate":
		l.decoder, err = inflate(l.src)
	case "br":
		if z, ok := l.codecs.brotlis.Get().(*brotli.Reader); ok {
			l.decoder, err = z, z.Reset(l.src)
		} else {
			l.decoder, err = brotli.NewReader(l.src), nil
		}
	case "zstd":
		z, ok := l.codecs.zstds.Get().(*zstd.Decoder)
		if ok {
			err = z.Reset(l.src)
		} else {
			z, err = zstd.NewReader(l.src,
				zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		}
		l.decoder = z
	}
	return l.explain(err)
}

// release returns the decoder to its pool. The layer cannot be read any more.
func (l *layer) release() {
	switch z := l.decoder.(type) {
	case *gunzip:
		l.codecs.gzips.Put(z.z)
	case *brotli.Reader:
		l.codecs.brotlis.Put(z)
	case *zstd.Decoder:
		if z != nil && z.Reset(nil) == nil {
			l.codecs.zstds.Put(z)
		}
	}
	if l.src != nil {
		l.codecs.putReader(l.src)
	}
	l.decoder, l.src, l.err = nil, nil, ErrClosed
}

// getReader returns a buffered reader from the pool.
func (c *codecs) getReader(from io.Reader) *bufio.Reader {
	if br, ok := c.readers.Get().(*bufio.Reader); ok {
		br.Reset(from)
		return br
	}
	return bufio.NewReaderSize(from, codingBuffer)
}

// putReader returns a buffered reader to the pool.
func (c *codecs) putReader(br *bufio.Reader) {
	br.Reset(nil)
	c.readers.Put(br)
}

// inflate undoes the coding "deflate" as it occurs: with the zlib wrapper that RFC 9110 section 8.4.1.2 demands, or
// without it.
func inflate(src *bufio.Reader) (io.Reader, error) {
	two, _ := src.Peek(2) // if bytes are missing, the decoder reports it
	if len(two) == 2 && two[0]&0x0f == 8 && (uint(two[0])<<8|uint(two[1]))%31 == 0 {
		return zlib.NewReader(src)
	}
	return flate.NewReader(src), nil
}

// gunzip reads consecutive gzip members. Like browsers, it ignores other bytes after the last member.
type gunzip struct {
	z   *gzip.Reader
	src *bufio.Reader
}

// member starts the next member.
func (g *gunzip) member() error {
	if err := g.z.Reset(g.src); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if magic, _ := g.src.Peek(2); string(magic) != "\x1f\x8b" {
			return n, io.EOF
		}
		if err := g.member(); err != nil || n > 0 {
			return n, err
		}
	}
}
