package fileio

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// magic begins each gzip file.
const magic = "\x1f\x8b"

// bufferSize is the size of the buffers before and behind the decompression.
const bufferSize = 64 << 10

// NewTextReader returns a reader of the text in r, decompressed if r is gzipped. It reads ahead in r.
func NewTextReader(r io.Reader) (*bufio.Reader, error) {
	text, _, err := newReader(r)
	return text, err
}

func newReader(r io.Reader) (text *bufio.Reader, compressed bool, err error) {
	text = bufio.NewReaderSize(r, bufferSize)
	if begin, _ := text.Peek(len(magic)); string(begin) != magic { // an error comes again with the first Read
		return text, false, nil
	}
	z, err := gzip.NewReader(text)
	if err != nil {
		return nil, true, fmt.Errorf("decompress: %w", err)
	}
	return bufio.NewReaderSize(z, bufferSize), true, nil
}

// Text is a text that is being read from a file.
type Text struct {
	*bufio.Reader
	file       *os.File
	compressed bool
}

// OpenText opens the named file to read its text.
func OpenText(name string) (*Text, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return TextOf(f)
}

// TextOf reads the text of an open file from its beginning. It closes the file if it returns an error; otherwise
// [Text.Close] does.
func TextOf(f *os.File) (*Text, error) {
	text, compressed, err := newReader(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &Text{Reader: text, file: f, compressed: compressed}, nil
}

// Close closes the file.
func (f *Text) Close() error { return f.file.Close() }

// Compressed reports whether the file is gzipped.
func (f *Text) Compressed() bool { return f.compressed }

// Consumed returns how many bytes of the file were read, including what is still in buffers. With the size of the
// file it shows progress.
func (f *Text) Consumed() (int64, error) { return f.file.Seek(0, io.SeekCurrent) }

// Skip moves to byte n of the text. It must be called before anything is read. In a file that is not compressed it
// takes no time, and may lead beyond the end.
func (f *Text) Skip(n int64) error {
	if f.compressed {
		_, err := io.CopyN(io.Discard, f.Reader, n)
		return err
	}
	if _, err := f.file.Seek(n, io.SeekStart); err != nil {
		return err
	}
	f.Reset(f.file)
	return nil
}

// ReadAt reads bytes of the file as stored.
func (f *Text) ReadAt(p []byte, at int64) (int, error) { return f.file.ReadAt(p, at) }

// Size returns the size of the file, in bytes as stored.
func (f *Text) Size() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
