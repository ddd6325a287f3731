package warcout

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/digest"
)

// copyBuffer is the number of bytes of a block that are in memory at a time.
const copyBuffer = 64 << 10

// encoder compresses records of any length into gzip members. One visit uses it at a time.
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

// encode appends r to dst as one gzip member. It returns an error if the block differs from its announced size or
// digest.
func (e *encoder) encode(dst io.Writer, r record) error {
	e.zip.Reset(dst)
	_, err := e.zip.Write(r.text)
	if err == nil && r.from != nil {
		err = e.stream(r)
	}
	if err = errors.Join(err, e.zip.Close()); err != nil {
		return fmt.Errorf("write %s record: %w", r.kind, err)
	}
	return nil
}

// stream copies the block, which must have the announced size and digest, and ends the record.
func (e *encoder) stream(r record) error {
	hash, compare := digest.Hash{}, !r.sum.IsZero()
	if compare {
		hash = digest.New()
	}
	for total := int64(0); ; {
		n, err := r.from.Read(e.block)
		if total += int64(n); total > r.size {
			return fmt.Errorf("block is longer than the %d bytes announced", r.size)
		}
		if compare {
			_, _ = hash.Write(e.block[:n])
		}
		if _, err := e.zip.Write(e.block[:n]); err != nil {
			return err
		}
		if err == nil {
			continue
		}
		if err != io.EOF {
			return fmt.Errorf("read block: %w", err)
		}
		if total < r.size {
			return fmt.Errorf("block has %d bytes, not %d as announced: %w", total, r.size, io.ErrUnexpectedEOF)
		}
		break
	}
	if compare {
		if got := hash.Sum(); got != r.sum {
			return fmt.Errorf("block has digest %s, not %s as announced", got, r.sum)
		}
	}
	_, err := io.WriteString(e.zip, recordEnd)
	return err
}

// minEncoders is the minimum number of visits that can be compressed at the same time.
const minEncoders = 4

// encoders is a pool of encoders. Each has tables of a megabyte, so there are fewer than visits, but more than
// processor cores, so that a long visit does not delay all others. The encoder returned last is taken first: its
// tables are still in the processor's cache, which saves a third of the time of a page.
type encoders struct {
	level  int
	places chan struct{} // a token for each encoder in use
	mu     sync.Mutex    // guards free; nothing is called while it is held
	free   []*encoder
}

func newEncoders(level int) *encoders {
	return &encoders{level: level, places: make(chan struct{}, max(minEncoders, 2*runtime.GOMAXPROCS(0)))}
}

// take waits for an encoder. The caller must call release or drop afterwards.
func (p *encoders) take() (*encoder, error) {
	p.places <- struct{}{}
	p.mu.Lock()
	var e *encoder
	if n := len(p.free); n > 0 {
		e, p.free = p.free[n-1], p.free[:n-1]
	}
	p.mu.Unlock()
	if e != nil {
		return e, nil
	}
	e, err := newEncoder(p.level)
	if err != nil {
		p.drop()
	}
	return e, err
}

// release returns an encoder to the pool.
func (p *encoders) release(e *encoder) {
	p.mu.Lock()
	p.free = append(p.free, e)
	p.mu.Unlock()
	p.drop()
}

// drop frees the place of an encoder that must not be used again.
func (p *encoders) drop() { <-p.places }
