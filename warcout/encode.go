package warcout

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// copyBuffer is how much of a block is in memory at a time.
const copyBuffer = 64 << 10

// headBuffer holds the header of a record, so that it is compressed in one piece.
const headBuffer = 4 << 10

// encoder turns records into gzip members. It is used by one visit at a time.
type encoder struct {
	zip   *gzip.Writer
	head  *bufio.Writer // in front of zip
	block []byte        // copyBuffer bytes
}

func newEncoder(level int) (*encoder, error) {
	zip, err := gzip.NewWriterLevel(io.Discard, level)
	if err != nil {
		return nil, err
	}
	return &encoder{zip: zip, head: bufio.NewWriterSize(zip, headBuffer), block: make([]byte, copyBuffer)}, nil
}

// encode appends r to dst as one gzip member. When the block is not what the record says of it, that is an error.
func (e *encoder) encode(dst io.Writer, r record) error {
	header, err := headerOf(r)
	if err != nil {
		return fmt.Errorf("build %s record: %w", r.kind, err)
	}
	content := &block{from: r.block, size: r.size, buffer: e.block, hash: digest.New()}
	e.zip.Reset(dst)
	e.head.Reset(e.zip)
	_, _, err = gowarc.NewMarshaler().Marshal(e.head, streamed{header: header, content: content}, 0)
	if err = errors.Join(err, e.head.Flush(), e.zip.Close()); err != nil {
		return fmt.Errorf("write %s record: %w", r.kind, err)
	}
	if got := content.hash.Sum(); got != r.sum {
		return fmt.Errorf("write %s record: block has digest %s, not %s as announced", r.kind, got, r.sum)
	}
	return nil
}

// headerOf gives the header of r in gowarc's terms, and makes sure that every line is what was asked for: gowarc has
// blanked and renamed headers, and a record that is wrong is worse than none. A builder of gowarc is not asked: with its
// validation it refuses unusual URIs, which are what a record is about, and without it does no more than this.
func headerOf(r record) (*gowarc.WarcFields, error) {
	header := make(gowarc.WarcFields, 0, len(r.header)+1)
	header.Add(gowarc.WarcType, r.kind.String())
	for _, f := range r.header {
		if !fits(f.Value) || f.Value == "" {
			return nil, fmt.Errorf("%s: value %q cannot stand in a header", f.Name, f.Value)
		}
		header.Add(f.Name, f.Value)
	}
	for i, f := range r.header {
		got := header[i+1]
		if !strings.EqualFold(got.Name, f.Name) || got.Value != f.Value {
			return nil, fmt.Errorf("header %s: %q became %s: %q", f.Name, f.Value, got.Name, got.Value)
		}
		got.Name = f.Name // gowarc writes those it does not know as "Warc-Etag"
	}
	return &header, nil
}

// streamed is what the marshaller asks of a record. The block passes straight from its reader to the file.
type streamed struct {
	gowarc.WarcRecord // none: nothing else is asked
	header            *gowarc.WarcFields
	content           *block
}

func (s streamed) Version() *gowarc.WarcVersion   { return gowarc.V1_1 }
func (s streamed) WarcHeader() *gowarc.WarcFields { return s.header }
func (s streamed) Block() gowarc.Block            { return s.content }

// block is read once, by the marshaller.
type block struct {
	from   io.Reader
	size   int64
	buffer []byte
	hash   digest.Hash
}

// WriteTo copies exactly size bytes and digests them. It is what the marshaller's io.Copy calls.
func (b *block) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		n, err := b.from.Read(b.buffer)
		if total += int64(n); total > b.size {
			return total, fmt.Errorf("block is longer than the %d bytes announced", b.size)
		}
		_, _ = b.hash.Write(b.buffer[:n])
		if _, err := w.Write(b.buffer[:n]); err != nil {
			return total, err
		}
		switch {
		case err == io.EOF && total < b.size:
			return total, fmt.Errorf("block has %d bytes, not %d as announced: %w", total, b.size, io.ErrUnexpectedEOF)
		case err == io.EOF:
			return total, nil
		case err != nil:
			return total, fmt.Errorf("read block: %w", err)
		}
	}
}

func (b *block) Read([]byte) (int, error)     { return 0, errors.ErrUnsupported }
func (b *block) RawBytes() (io.Reader, error) { return b, nil }
func (b *block) BlockDigest() string          { return b.hash.Sum().String() }
func (b *block) Size() int64                  { return b.size }
func (b *block) IsCached() bool               { return false }
func (b *block) Cache() error                 { return errors.ErrUnsupported }
func (b *block) Close() error                 { return nil }
