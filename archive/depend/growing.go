package depend

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
)

const (
	// maxWaiting is the maximum size, in bytes, of the captures of a file that wait in memory.
	maxWaiting = 1 << 20
	// maxGrowing is the maximum number of files whose captures are kept.
	maxGrowing = 64
	// maxText is the maximum length of a text that is read back.
	maxText = 1 << 20
)

// Growing collects the captures of WARC files while these are written, so that nobody has to read them for the index
// once they are finished. It keeps them in memory and, when they are many, in unnamed files: a crash leaves nothing.
// Its methods may be called concurrently.
type Growing struct {
	dir     string // for the unnamed files
	spillAt int    // bytes of captures of a file that wait in memory

	mu    sync.Mutex
	files map[string]*growing // by the final name of the WARC file
}

// growing holds the captures of one file.
type growing struct {
	waiting  []byte
	spilled  *os.File // nil until waiting is full
	captures int64
	err      error // of the first failure; nothing is kept after it
}

// NewGrowing returns a Growing that makes its unnamed files in a folder; "" is the temporary folder of the system.
func NewGrowing(dir string) *Growing {
	return &Growing{dir: dir, spillAt: maxWaiting, files: map[string]*growing{}}
}

// Add adds a capture that is in a file. original is the record that holds the payload of a revisit; it is zero for
// other captures.
func (g *Growing) Add(record, original digest.Origin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.files[record.File]
	if f == nil {
		if len(g.files) == maxGrowing {
			return
		}
		f = &growing{}
		g.files[record.File] = f
	}
	if f.err != nil {
		return
	}
	b := binary.AppendUvarint(f.waiting, uint64(record.Offset))
	b = appendText(binary.AppendVarint(b, record.Date.UnixMicro()), record.URI)
	b = append(b, record.Payload[:]...)
	b = appendText(b, original.URI)
	if original.URI != "" {
		b = binary.AppendVarint(b, original.Date.UnixMicro())
	}
	f.waiting = b
	f.captures++
	if len(b) >= g.spillAt {
		f.err = f.spill(g.dir)
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// spill moves the waiting captures to the unnamed file.
func (f *growing) spill(dir string) error {
	if f.spilled == nil {
		s, err := os.CreateTemp(dir, "arcrawl-deps-*.tmp")
		if err != nil {
			return err
		}
		if err := os.Remove(s.Name()); err != nil {
			return errors.Join(err, s.Close())
		}
		f.spilled = s
	}
	_, err := f.spilled.Write(f.waiting)
	f.waiting = f.waiting[:0]
	return err
}

// Take returns a collector with the captures of a finished file, and forgets them. ok is false if not exactly as many
// captures were added as the file has. Then they are kept, because the last one may still come.
func (g *Growing) Take(file warc.File, captures int64) (c *Collector, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.files[file.Name]
	if f == nil || f.err != nil || f.captures != captures {
		return nil, false
	}
	c, err := f.collector(file)
	g.forget(file.Name)
	return c, err == nil
}

// Forget forgets the captures of a file.
func (g *Growing) Forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(name)
}

// forget does the work of Forget. The lock is held.
func (g *Growing) forget(name string) {
	if f := g.files[name]; f != nil && f.spilled != nil {
		_ = f.spilled.Close() // its content is read or not wanted
	}
	delete(g.files, name)
}

func (f *growing) collector(file warc.File) (*Collector, error) {
	c := NewCollector(file)
	var in reader = bytes.NewReader(f.waiting)
	if f.spilled != nil {
		if err := f.spill(filepath.Dir(file.Path)); err != nil {
			return nil, err
		}
		if _, err := f.spilled.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		in = bufio.NewReaderSize(f.spilled, runBuffer)
	}
	c.captures = make([]capture, 0, f.captures)
	for range f.captures {
		one, err := readCapture(in)
		if err != nil {
			return nil, err
		}
		c.captures = append(c.captures, one)
	}
	return c, nil
}

// reader reads what Add wrote.
type reader interface {
	io.Reader
	io.ByteReader
}

// readCapture reads a capture. Each error is kept until the end, because the fields of a capture belong together.
func readCapture(in reader) (capture, error) {
	offset, err1 := binary.ReadUvarint(in)
	date, err2 := binary.ReadVarint(in)
	uri, err3 := readText(in)
	var payload digest.Digest
	_, err4 := io.ReadFull(in, payload[:])
	original, err5 := readText(in)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return capture{}, err
	}
	c := capture{
		offset: int64(offset), date: time.UnixMicro(date).UTC(), digest: noDigest, uri: clean(uri), revisit: original != "",
	}
	if !payload.IsZero() {
		c.digest = hashOf(digestName+string(payload[:]), digestWidth)
	}
	if c.revisit {
		at, err := binary.ReadVarint(in)
		if err != nil {
			return capture{}, err
		}
		c.to = momentOf(clean(original), time.UnixMicro(at))
	}
	return c, nil
}

// digestName is the algorithm of a [digest.Digest] as [warc.ParseDigest] names it.
const digestName = "sha1"

func readText(in reader) (string, error) {
	n, err := binary.ReadUvarint(in)
	if err == nil && n > maxText {
		err = fmt.Errorf("a text of %d bytes is too long", n)
	}
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(in, b)
	return string(b), err
}
