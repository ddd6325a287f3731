package warcout

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

// scanBuffer is the number of bytes read at a time.
const scanBuffer = 64 << 10

// gzipMagic begins each member.
var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// recordMagic begins each record.
const recordMagic = "WARC/1."

// scan reads members from an extent of a file on, and returns the largest extent. An incomplete or damaged member ends
// it without an error. A read error of the disk is an error, as nothing may be cut off because of it.
func scan(f io.ReaderAt, from extent, size int64) (extent, error) {
	src := &source{from: io.NewSectionReader(f, from.size, size-from.size)}
	in := bufio.NewReaderSize(src, scanBuffer)
	var zip gzip.Reader
	whole := from
	for whole.size < size && isWhole(&zip, in) {
		whole.size = from.size + src.n - int64(in.Buffered())
		whole.records++
	}
	return whole, src.fault
}

// isWhole reads one member and reports whether it is complete and holds a record.
func isWhole(zip *gzip.Reader, in *bufio.Reader) bool {
	if zip.Reset(in) != nil {
		return false
	}
	zip.Multistream(false)
	begin := make([]byte, len(recordMagic))
	if _, err := io.ReadFull(zip, begin); err != nil || string(begin) != recordMagic {
		return false
	}
	_, err := io.Copy(io.Discard, zip)
	return err == nil
}

// hasWholeRecord reports whether a part of f contains a complete record.
func hasWholeRecord(f io.ReaderAt, from, size int64) (bool, error) {
	var zip gzip.Reader
	buf := make([]byte, scanBuffer)
	for pos := from; pos < size; pos += scanBuffer - int64(len(gzipMagic)) + 1 {
		n, err := f.ReadAt(buf, pos)
		if err != nil && err != io.EOF {
			return false, err
		}
		window := buf[:n]
		for i := bytes.Index(window, gzipMagic); i >= 0; {
			start := pos + int64(i)
			src := &source{from: io.NewSectionReader(f, start, size-start)}
			if isWhole(&zip, bufio.NewReader(src)) {
				return true, nil
			}
			if src.fault != nil {
				return false, src.fault
			}
			next := bytes.Index(window[i+1:], gzipMagic)
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return false, nil
}

// source counts the bytes read, and keeps a read error, which the decompressor hides among its own errors.
type source struct {
	from  io.Reader
	n     int64
	fault error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.fault = err
	}
	return n, err
}
