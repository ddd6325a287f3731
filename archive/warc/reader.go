package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// The sizes of the buffers of a Reader, in bytes. textBuffer limits the header of a record.
const (
	rawBuffer  = 128 << 10
	textBuffer = MaxHeader
)

// RecordEnd follows the block of a record.
const RecordEnd = "\r\n\r\n"

const (
	gzipMagic   = "\x1f\x8b\x08"
	recordMagic = "WARC/"
)

// Record is one record of a file. [Record.Read] reads its block.
type Record struct {
	File    string // the name that the Reader was given
	Offset  int64  // of its gzip member, or of its first byte in a plain file
	Length  int64  // bytes in the file; set by Close
	Version string // "1.1"
	Header  Header
	Size    int64 // of the block in bytes, by Content-Length

	// Framing is how the HTTP message holds its payload, see [digest.Framing]. A [Checker], [Record.Payload] and
	// [Record.ReadFraming] find it out. The head in a revisit says how the server sent the body.
	Framing string

	faults []string // faulty header lines
	left   int64
	r      *Reader
}

// Reader reads the records of one file, gzip or plain, in memory that does not depend on the file. Damage ends a
// record, not the file: the next call of Next continues after it. A Reader is not safe for concurrent use.
type Reader struct {
	name  string
	file  io.ReaderAt
	size  int64
	close func() error

	gzip     bool
	base     int64 // offset at which src began
	src      *counted
	raw      *bufio.Reader // of the file
	zip      *gzip.Reader
	text     *bufio.Reader // of records: raw itself in a plain file
	start    int64         // offset of the current member or record
	inMember bool          // text is within a member that has more bytes
	rec      *Record       // not closed yet
}

// OpenFile opens a file for reading from its beginning. If the file holds no WARC records, the error is a [*Finding]
// that says what it is.
func OpenFile(path string) (*Reader, error) { return OpenAt(path, 0) }

// OpenAt opens a file for reading from an offset at which a record begins, as known from an index.
func OpenAt(path string, offset int64) (*Reader, error) {
	f, info, err := OpenRegular(path)
	if sealed, open := strings.CutSuffix(path, OpenSuffix); open && errors.Is(err, fs.ErrNotExist) {
		path = sealed // the crawler has sealed the file since it was listed
		f, info, err = OpenRegular(path)
	}
	if err != nil {
		return nil, FileFinding(path, Unreadable, Cause(err))
	}
	r, err := NewReader(path, f, info.Size(), offset)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	r.close = f.Close
	return r, nil
}

// Cause returns an error of a file as a text without the name of the file, which findings have already.
func Cause(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Op + ": " + p.Err.Error()
	}
	return err.Error()
}

// NewReader returns a Reader of a file of size bytes, from offset on. name is used in records and findings.
func NewReader(name string, file io.ReaderAt, size, offset int64) (*Reader, error) {
	r := &Reader{
		name: name, file: file, size: size, raw: bufio.NewReaderSize(nil, rawBuffer),
		close: func() error { return nil },
	}
	if err := r.identify(); err != nil {
		return nil, err
	}
	r.text = r.raw
	if r.gzip {
		r.zip, r.text = new(gzip.Reader), bufio.NewReaderSize(nil, textBuffer)
	}
	r.seek(offset)
	return r, nil
}

// identify finds out from its first bytes whether a file is gzip or plain. The error is a finding about any other
// format.
func (r *Reader) identify() error {
	fault := func(k Kind, text string) error { return FileFinding(r.name, k, text) }
	if r.size == 0 {
		return fault(Empty, "the file is empty")
	}
	r.seek(0)
	begin, _ := r.raw.Peek(len(gzipMagic))
	r.gzip = string(begin) == gzipMagic
	var content io.Reader = r.raw
	if r.gzip {
		z, err := gzip.NewReader(r.raw)
		if err != nil {
			return nil // damage at the beginning: Next reports it and searches for a record
		}
		content = z
	}
	first := make([]byte, len("filedesc:"))
	n, err := io.ReadFull(content, first)
	if r.src.fault != nil {
		return fault(Unreadable, Cause(r.src.fault))
	}
	switch begin := string(first[:n]); {
	case begin == "filedesc:":
		return fault(ARC, "this is an ARC file; only WARC files are read")
	case strings.HasPrefix(begin, recordMagic), r.gzip && err != nil:
		return nil
	case strings.HasPrefix(begin, "PK\x03\x04"):
		return fault(NotWARC, "this is a ZIP file; if it is a WACZ package, its name must end in .wacz for commands "+
			"that read packages; for everything else unpack its WARC files first")
	case r.hasRecord():
		return nil
	}
	return fault(NotWARC, "this is not a WARC file")
}

// hasRecord reports whether there is a record after a damaged beginning, plain or compressed.
func (r *Reader) hasRecord() bool {
	for _, r.gzip = range []bool{r.gzip, !r.gzip} {
		if at, err := r.find(0); err == nil && at < r.size {
			return true
		}
	}
	return false
}

// Close closes the file.
func (r *Reader) Close() error { return r.close() }

// Offset returns how far the file has been read.
func (r *Reader) Offset() int64 { return r.base + r.src.n - int64(r.raw.Buffered()) }

func (r *Reader) seek(at int64) {
	r.base, r.src = at, &counted{from: io.NewSectionReader(r.file, at, r.size-at)}
	r.raw.Reset(r.src)
	r.inMember = false
}

// Raw returns a reader of the bytes of a record as they are in the file, and whether they are compressed.
func (r *Reader) Raw(offset, length int64) (raw io.Reader, zipped bool) {
	return io.NewSectionReader(r.file, offset, length), r.gzip
}

// Next returns the next record. The error is io.EOF at the end of the file, a [*Finding] for damage (call Next again to
// continue after it), and any other error if the disk cannot be read. Next closes the previous record, if it is not
// closed yet.
func (r *Reader) Next() (*Record, error) {
	if r.rec != nil {
		if err := r.rec.Close(); err != nil {
			return nil, err
		}
	}
	if !r.inMember {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	text, err := r.headerText()
	if err != nil {
		return nil, err
	}
	rec := &Record{File: r.name, Offset: r.start, Framing: UnknownFraming, r: r}
	rec.Version, rec.Header, rec.faults = ParseHeader(text)
	if rec.Size, err = rec.Header.ContentLength(); err != nil {
		return nil, r.skip(rec, BadHeader, err.Error())
	}
	rec.left = rec.Size
	r.rec = rec
	return rec, nil
}

// begin starts the next gzip member, or the next record of a plain file.
func (r *Reader) begin() error {
	r.start = r.Offset()
	if _, err := r.raw.Peek(1); err != nil {
		return r.ended(err)
	}
	if !r.gzip {
		return nil
	}
	if err := r.zip.Reset(r.raw); err != nil {
		return r.damaged(nil, err)
	}
	r.zip.Multistream(false)
	r.text.Reset(r.zip)
	r.inMember = true
	return nil
}

// ended returns the error for the end of the file: io.EOF, or the reason why the disk could not be read.
func (r *Reader) ended(err error) error {
	if r.src.fault != nil {
		return fmt.Errorf("read %s: %w", r.name, r.src.fault)
	}
	return err
}

// headerText reads a header up to its empty line.
func (r *Reader) headerText() (string, error) {
	if begin, err := r.text.Peek(len(recordMagic)); err != nil || string(begin) != recordMagic {
		if err == nil || errors.Is(err, io.EOF) && (r.gzip || !strings.HasPrefix(recordMagic, string(begin))) {
			begin, _ = r.text.Peek(max(len(begin), min(r.text.Buffered(), 20)))
			return "", r.skip(nil, BadHeader, fmt.Sprintf("no record begins here; the bytes are %.20q", begin))
		}
		return "", r.damaged(nil, err)
	}
	for n := 1; ; {
		seen, err := r.text.Peek(n)
		seen, _ = r.text.Peek(max(len(seen), r.text.Buffered()))
		if end := bytes.Index(seen, []byte(RecordEnd)); end >= 0 {
			text := string(seen[:min(end, MaxHeader)])
			_, err := r.text.Discard(end + len(RecordEnd))
			return text, err
		}
		if err != nil {
			return "", r.damaged(nil, err)
		}
		if n = len(seen) + 1; n > MaxHeader {
			return "", r.skip(nil, BadHeader, fmt.Sprintf("the header does not end within %d bytes", MaxHeader))
		}
	}
}

// finding returns a finding about a record. If rec is nil, it is about the place where no record could be read.
func (r *Reader) finding(rec *Record, k Kind, text string) *Finding {
	f := &Finding{File: r.name, Offset: r.start, Severity: Error, Kind: k, Text: text}
	if rec != nil {
		f.Record, f.URI = rec.Header.ID("WARC-Record-ID"), rec.Header.Target()
	}
	return f
}

// damaged returns a finding for an error of reading a record, and moves to the next record.
func (r *Reader) damaged(rec *Record, err error) error {
	if r.src.fault != nil {
		return fmt.Errorf("read %s at %d: %w", r.name, r.Offset(), r.src.fault)
	}
	from := r.start + 1
	f := r.finding(rec, Gzip, fmt.Sprintf("the gzip member is damaged: %v", err))
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		f.Kind, f.Text = Truncated, "the file ends within this record"
	}
	return r.resume(f, from)
}

// skip returns a finding about a record whose end is unknown, and moves to the next record. In a gzip file that is
// after the member.
func (r *Reader) skip(rec *Record, k Kind, text string) error {
	f := r.finding(rec, k, text)
	if !r.gzip {
		return r.resume(f, max(r.start+1, r.Offset()-int64(len(RecordEnd))))
	}
	if _, err := io.Copy(io.Discard, r.text); err != nil {
		return r.damaged(rec, err)
	}
	r.inMember = false
	return f
}

// resume moves to the first record at or after an offset, and returns the finding that made this necessary.
func (r *Reader) resume(f *Finding, from int64) error {
	at, err := r.find(from)
	if err != nil {
		return err
	}
	if f.Kind == Truncated && at < r.size {
		f.Kind, f.Text = Length, fmt.Sprintf("this record runs into the next one at %d, or its data is damaged", at)
	}
	r.rec = nil
	r.seek(at)
	return f
}

// find returns the offset of the first record at or after from. It is the size of the file if there is none.
func (r *Reader) find(from int64) (int64, error) {
	magic, skip := []byte(gzipMagic), 0
	if !r.gzip {
		magic, skip = []byte(RecordEnd+recordMagic+"1."), len(RecordEnd)
	}
	buf := make([]byte, rawBuffer)
	for pos := from; pos < r.size; pos += int64(len(buf) - len(magic) + 1) {
		n, err := r.file.ReadAt(buf, pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read %s at %d: %w", r.name, pos, err)
		}
		for done := 0; ; {
			i := bytes.Index(buf[done:n], magic)
			if i < 0 {
				break
			}
			done += i + 1
			if place := pos + int64(done-1+skip); !r.gzip || r.beginsRecord(place) {
				return place, nil
			}
		}
	}
	return r.size, nil
}

// beginsRecord reports whether a gzip member with a record begins at an offset.
func (r *Reader) beginsRecord(at int64) bool {
	z, err := gzip.NewReader(io.NewSectionReader(r.file, at, r.size-at))
	if err != nil {
		return false
	}
	begin := make([]byte, len(recordMagic))
	_, err = io.ReadFull(z, begin)
	return err == nil && string(begin) == recordMagic
}

// counted counts the bytes that are read, and keeps the error of reading, which the decompressor hides.
type counted struct {
	from  io.Reader
	n     int64
	fault error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.fault = err
	}
	return n, err
}
