package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

// maxARCLine is the maximum length of the first line of a record of an ARC file, in bytes.
const maxARCLine = 64 << 10

// The number of fields in the first line of a record: of versions 1.0 and 1.1, and of version 2. The first field is the
// URI, in which some crawlers left spaces; the last is the length.
const (
	arcFields  = 5
	arc2Fields = 10
)

// readARC returns a function that reads an ARC file, as Heritrix 1 and the Internet Archive wrote them, plain or with
// one gzip member for each record. Positions are offsets in the file.
func readARC(file string, progress *warc.Progress) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		f, info, err := warc.OpenRegular(file)
		if err != nil {
			return report(unreadable(file, err))
		}
		defer f.Close() //nolint:errcheck // nothing was written
		r := &arcReader{file: f, size: info.Size(), name: filepath.Base(file)}
		magic := make([]byte, 2)
		_, _ = f.ReadAt(magic, 0) // a shorter file has no record
		r.gzip = string(magic) == "\x1f\x8b"
		r.seek(from)
		for before := from; ctx.Err() == nil && r.at() < r.size; {
			begin := r.at()
			found, ok, err := r.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				next := r.find(begin + 1)
				err := report(warc.Finding{
					File: file, Offset: begin, Severity: warc.Error, Kind: warc.BadHeader,
					Text: fmt.Sprintf("this record of an ARC file cannot be read: %v; reading resumes at %d", err, next),
				})
				if err != nil {
					return err
				}
				r.seek(next)
			}
			progress.AddBytes(r.at() - before)
			before = r.at()
			if err := receive(found, ok, before); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
}

// arcReader reads the records of an ARC file.
type arcReader struct {
	file io.ReaderAt
	name string
	size int64
	gzip bool

	base int64 // where reading began
	src  *countedReader
	raw  *bufio.Reader

	// What follows is used again for each place where a record may begin. A damaged file has millions of them.
	window []byte        // in which they are searched
	probe  *bufio.Reader // reads the first line there
	zip    *gzip.Reader
}

// shortReads reads little at a time: a line that is no record costs little then.
type shortReads struct{ io.Reader }

func (s shortReads) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), 512)]) }

// countedReader counts the bytes that are read.
type countedReader struct {
	io.Reader
	n int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (r *arcReader) seek(at int64) {
	r.base, r.src = at, &countedReader{Reader: io.NewSectionReader(r.file, at, r.size-at)}
	r.raw = bufio.NewReaderSize(r.src, maxARCLine)
}

// at returns how far the file has been read.
func (r *arcReader) at() int64 { return r.base + r.src.n - int64(r.raw.Buffered()) }

// next reads one record. The error is io.EOF if only empty lines are left.
func (r *arcReader) next() (found dedup.Found, ok bool, err error) {
	begin, text := r.at(), r.raw
	var member *gzip.Reader
	if r.gzip {
		if member, err = gzip.NewReader(r.raw); err != nil {
			return found, false, err
		}
		member.Multistream(false)
		text = bufio.NewReaderSize(member, maxARCLine)
	}
	line, skipped, err := firstLine(text)
	if errors.Is(err, io.EOF) && r.gzip {
		return found, false, nil // a member without a record
	}
	if err != nil {
		return found, false, err
	}
	h, err := parseARCLine(line)
	if err != nil {
		return found, false, err
	}
	content := &io.LimitedReader{R: text, N: h.length}
	found, ok = h.found(content)
	if _, err := io.Copy(io.Discard, content); err != nil {
		return found, false, err
	}
	if content.N > 0 {
		return found, false, fmt.Errorf("the file ends within the record: %w", io.ErrUnexpectedEOF)
	}
	if r.gzip {
		if _, err := io.Copy(io.Discard, text); err != nil { // reads the checksum
			return found, false, err
		}
	} else {
		begin += skipped
	}
	found.Origin.File, found.Origin.Offset, found.Origin.Length = r.name, begin, r.at()-begin
	return found, ok, nil
}

// firstLine returns the first line that is not empty, and the number of bytes before it.
func firstLine(text *bufio.Reader) (line string, skipped int64, err error) {
	for {
		b, err := text.ReadSlice('\n')
		if line = strings.TrimRight(string(b), "\r\n"); line != "" && err == nil {
			return line, skipped, nil
		}
		if err != nil {
			return "", 0, err
		}
		skipped += int64(len(b))
	}
}

// arcLine is the first line of a record.
type arcLine struct {
	uri, mime string
	date      time.Time
	length    int64
}

// parseARCLine parses the first line of a record: URI, address, date, media type and length. Version 2 has five more
// fields before the length.
func parseARCLine(line string) (h arcLine, err error) {
	fields := strings.Split(line, " ")
	for _, n := range []int{arc2Fields, arcFields} {
		if len(fields) < n {
			continue
		}
		rest := fields[len(fields)-n+1:]
		h.uri, h.mime = strings.Join(fields[:len(fields)-n+1], "%20"), rest[2]
		h.length, err = strconv.ParseInt(rest[len(rest)-1], 10, 64)
		if err != nil || h.length < 0 || !strings.Contains(h.uri, ":") {
			continue
		}
		stamp := rest[1]
		if len(stamp) == len("200101010000") { // the oldest files of the Internet Archive have no seconds
			stamp += "00"
		}
		if h.date, err = index.ParseStamp(stamp); err == nil {
			return h, nil
		}
	}
	return h, fmt.Errorf("the line %.80q has no URI, date and length", line)
}

// found returns what the dedup index needs from the content of a record. ARC files do not say that a response was cut,
// so a payload that is shorter than its Content-Length is not used.
func (h arcLine) found(content io.Reader) (f dedup.Found, ok bool) {
	if u, err := url.Parse(h.uri); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return f, false
	}
	in := bufio.NewReader(content)
	head, err := warc.ReadHead(in)
	if err != nil || !bytes.HasPrefix(head.Raw, []byte("HTTP/")) {
		return f, false
	}
	body, chunks := head.Payload(in)
	sum := sha1.New()
	size, err := io.Copy(sum, body)
	if err != nil || size == 0 {
		return f, false
	}
	if want := head.Header().Get("Content-Length"); want != "" && !head.Chunked() && want != strconv.FormatInt(size, 10) {
		return f, false
	}
	f.Payload = digest.Digest(sum.Sum(nil))
	f.Status, f.MIME, f.Framing = head.Status, head.MIME(), head.Framing(chunks)
	f.Origin = digest.Origin{URI: h.uri, Date: h.date, Payload: f.Payload, Size: size}
	return f, usable(f)
}

// find returns the offset of the first record at or after an offset, or the size of the file.
func (r *arcReader) find(from int64) int64 {
	magic, skip := []byte("\x1f\x8b\x08"), int64(0)
	if !r.gzip {
		magic, skip = []byte("\nhttp"), 1
	}
	if r.window == nil {
		r.window = make([]byte, 1<<20)
		r.probe = bufio.NewReaderSize(nil, maxARCLine)
		r.zip = new(gzip.Reader)
	}
	const first = 1 << 10 // the next record is often near
	for pos, buf := from, r.window[:first]; pos < r.size; {
		n, err := r.file.ReadAt(buf, pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return r.size
		}
		for done := 0; ; {
			i := bytes.Index(buf[done:n], magic)
			if i < 0 {
				break
			}
			done += i + 1
			if place := pos + int64(done-1) + skip; r.beginsRecord(place) {
				return place
			}
		}
		pos += int64(len(buf) - len(magic) + 1)
		buf = r.window[:min(2*len(buf), len(r.window))]
	}
	return r.size
}

// beginsRecord reports whether a record begins at an offset. One that is longer than the rest of the file does not.
func (r *arcReader) beginsRecord(at int64) bool {
	var in io.Reader = shortReads{io.NewSectionReader(r.file, at, r.size-at)}
	if r.gzip {
		if err := r.zip.Reset(in); err != nil {
			return false
		}
		in = r.zip
	}
	r.probe.Reset(in)
	line, _, err := firstLine(r.probe)
	if err != nil {
		return false
	}
	h, err := parseARCLine(line)
	return err == nil && (r.gzip || h.length <= r.size-at)
}
