package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/digest"
)

// originReads is the number of bytes that are read of a record to find its type. The type is its first header.
const originReads = 2 << 10

// IsOrigin returns a function that reports whether the record at an origin is a response or resource, in files of the
// given folders. The function reads only the beginning of the record, and returns an error if that is not possible.
func IsOrigin(folders ...string) func(o digest.Origin) (bool, error) {
	return func(o digest.Origin) (is bool, err error) {
		path, err := locate(folders, o.File)
		if err != nil {
			return false, err
		}
		f, err := os.Open(path)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		kind, err := typeAt(f, o.Offset)
		if err != nil {
			return false, fmt.Errorf("read the record at %s:%d: %w", path, o.Offset, err)
		}
		return kind == "response" || kind == "resource", nil
	}
}

// typeAt returns the type of the record at an offset.
func typeAt(f io.ReaderAt, offset int64) (string, error) {
	raw := make([]byte, originReads)
	n, err := f.ReadAt(raw, offset)
	if n == 0 {
		return "", err
	}
	text := raw[:n]
	if strings.HasPrefix(string(text), gzipMagic) {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return "", Damaged(err)
		}
		text = make([]byte, originReads)
		n, _ := io.ReadFull(z, text) // the member continues after what was read
		text = text[:n]
	}
	header, _, found := bytes.Cut(text, []byte("\r\n\r\n"))
	if !bytes.HasPrefix(header, []byte(recordMagic)) {
		return "", fmt.Errorf("%w: no record begins there", ErrDamaged)
	}
	if !found {
		header = header[:bytes.LastIndex(header, []byte("\r\n"))+1]
	}
	_, h, _ := ParseHeader(string(header))
	if h.Type() == "" {
		return "", fmt.Errorf("%w: the record has no type", ErrDamaged)
	}
	return h.Type(), nil
}
