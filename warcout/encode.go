package warcout

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// copyBuffer is how much of a block is in memory at a time.
const copyBuffer = 64 << 10

// builderMemory is what gowarc takes for its own buffer, at once. Blocks are streamed past it, so it stays empty; zero makes
// gowarc panic.
const builderMemory = 16

// builders is held while gowarc makes a record builder: each time it writes a variable of the uuid package, without a
// lock, and a race is a race also when the value is the same.
var builders sync.Mutex

// encoder turns records into gzip members. It is used by one visit at a time.
type encoder struct {
	zip   *gzip.Writer
	block []byte // copyBuffer bytes
}

func newEncoder(level int) (*encoder, error) {
	zip, err := gzip.NewWriterLevel(io.Discard, level)
	if err != nil {
		return nil, err
	}
	return &encoder{zip: zip, block: make([]byte, copyBuffer)}, nil
}

// encode appends r to dst as one gzip member. When the block is not what the record says of it, that is an error.
func (e *encoder) encode(dst io.Writer, r record) error {
	built, err := build(r)
	if err != nil {
		return fmt.Errorf("build %s record: %w", r.kind, err)
	}
	content := &block{from: r.block, size: r.size, buffer: e.block, hash: digest.New()}
	e.zip.Reset(dst)
	_, _, err = gowarc.NewMarshaler().Marshal(e.zip, streamed{built, content}, 0)
	if err = errors.Join(err, e.zip.Close(), built.Close()); err != nil {
		return fmt.Errorf("write %s record: %w", r.kind, err)
	}
	if got := content.hash.Sum(); got != r.sum {
		return fmt.Errorf("write %s record: block has digest %s, not %s as announced", r.kind, got, r.sum)
	}
	return nil
}

// build makes gowarc's record of r, still without its block, and makes sure that every header is what was asked for:
// gowarc has blanked and renamed headers, and a record that is wrong is worse than none.
func build(r record) (gowarc.WarcRecord, error) {
	for _, f := range r.header {
		if !fits(f.Value) || f.Value == "" {
			return nil, fmt.Errorf("%s: value %q cannot stand in a header", f.Name, f.Value)
		}
	}
	builders.Lock()
	// No validation: it refuses or blanks unusual URIs, which are what a record is about. We check by ourselves.
	b := gowarc.NewRecordBuilder(r.kind, gowarc.WithNoValidation(), gowarc.WithAddMissingDigest(false),
		gowarc.WithBufferMaxMemBytes(builderMemory))
	builders.Unlock()
	for _, f := range r.header {
		b.AddWarcHeader(f.Name, f.Value)
	}
	built, _, err := b.Build()
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	want := append([]Field{{gowarc.WarcType, r.kind.String()}}, r.header...)
	got := *built.WarcHeader()
	if len(got) != len(want) {
		return nil, errors.Join(fmt.Errorf("%d headers became %d", len(want), len(got)), built.Close())
	}
	for i, f := range want {
		if !strings.EqualFold(got[i].Name, f.Name) || got[i].Value != f.Value {
			return nil, errors.Join(fmt.Errorf("header %s: %q became %s: %q", f.Name, f.Value, got[i].Name, got[i].Value), built.Close())
		}
		got[i].Name = f.Name // gowarc writes those it does not know as "Warc-Etag"
	}
	return built, nil
}

// streamed is a record whose block passes straight from its reader to the file, so that it is not spooled once more.
type streamed struct {
	gowarc.WarcRecord
	content *block
}

func (s streamed) Block() gowarc.Block { return s.content }

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
