package captures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Payload is the payload of a capture, from its own record or from its original's.
type Payload struct {
	io.Reader
	Head     warc.Head // of the record that holds the payload
	Original Capture   // that record
	close    func() error
}

// Close closes the file.
func (p *Payload) Close() error { return p.close() }

// Payload opens the payload of a capture. It first checks that the record that holds the payload is whole and has the
// digests of its header. With decode, the content coding is removed (gzip, deflate, br, zstd).
func (l *Library) Payload(ctx context.Context, c Capture, decode bool) (*Payload, error) {
	original, err := l.Original(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(original.file.CheckAt(original.Offset), ctx.Err()); err != nil {
		return nil, err
	}
	return open(original, decode)
}

// Unchecked opens the payload of the record of a capture that is not a revisit. It compares no digest, so that only
// what is read of the payload is read of the file. The content coding is removed.
func (l *Library) Unchecked(c Capture) (*Payload, error) { return open(c, true) }

// open opens the payload of a record.
func open(c Capture, decode bool) (*Payload, error) {
	r, rec, err := c.file.RecordAt(c.Offset)
	if err != nil {
		return nil, err
	}
	head, body, err := rec.Payload()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s at %d: %w", c.file.Path, c.Offset, err), r.Close())
	}
	if decode {
		if body, err = head.Decode(body); err != nil {
			return nil, errors.Join(fmt.Errorf("decode the payload of %s: %w; read it without decoding", c.URL, err), r.Close())
		}
	}
	return &Payload{Reader: body, Head: head, Original: c, close: r.Close}, nil
}

// MaxText is the maximum size of a text, in bytes. Nobody compares longer ones by reading.
const MaxText = 16 << 20

// ErrNoText means that a payload is not a text.
var ErrNoText = errors.New("the payload is not a text")

// Text returns the decoded payload of a capture as UTF-8. If scrub is not nil, it is first applied to the payload,
// together with the Content-Type, as the crawler does. The error wraps [ErrNoText] if the payload is not a text, or is
// too long.
func (l *Library) Text(ctx context.Context, c Capture, scrub func(content []byte, mime string) []byte) (string, error) {
	p, err := l.Payload(ctx, c, true)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(p, MaxText+1))
	if err = errors.Join(err, p.Close()); err != nil {
		return "", fmt.Errorf("decode the payload of %s at %s: %w", c.URL, c.Timestamp, err)
	}
	if len(b) > MaxText {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrNoText, MaxText)
	}
	mime := p.Head.MIME()
	binary := strings.ContainsRune(string(b[:min(len(b), 1024)]), 0)
	if !isText(mime) && !utf8.Valid(b) || binary && !strings.HasPrefix(mime, "text/") {
		return "", fmt.Errorf("%w: its media type is %q", ErrNoText, mime)
	}
	contentType := p.Head.Header().Get("Content-Type")
	e, _, _ := charset.DetermineEncoding(b, contentType) // before scrubbing, which may remove it
	if scrub != nil {
		b = scrub(b, contentType)
	}
	if utf8.Valid(b) {
		return string(b), nil
	}
	text, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoText, err)
	}
	return string(text), nil
}

// isText reports whether a media type is one of texts.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "xml") ||
		strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "javascript")
}

// Group calls do with the record of an entry, and then with the records next to it that belong to the same visit, such
// as its request and its metadata. The first error of do ends it. What is damaged behind the first record is left out.
func (l *Library) Group(e index.Entry, do func(r *warc.Reader, rec *warc.Record) error) error {
	_, r, rec, err := l.openRecord(e)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	if err := do(r, rec); err != nil {
		return err
	}
	for more := range companions(r, rec.ID()) {
		if err := do(r, more); err != nil {
			return err
		}
	}
	return nil
}

// goneError says which file is not in the folder.
type goneError struct {
	file string
	error
}

func (g goneError) Unwrap() error { return g.error }

// GoneFile returns the name of the file that is not in the folder, if an error says that.
func GoneFile(err error) (name string, ok bool) {
	g, ok := errors.AsType[goneError](err)
	return g.file, ok
}

// openRecord opens the record of an entry, and checks that it is the one that the entry is about.
func (l *Library) openRecord(e index.Entry) (warc.File, *warc.Reader, *warc.Record, error) {
	f, ok := l.FileOf(e.Filename)
	if !ok {
		return f, nil, nil, goneError{e.Filename, fmt.Errorf("%w: bring %s back to %s to read the record at %d",
			ErrElsewhere, e.Filename, l.dir, e.Offset)}
	}
	r, rec, err := f.RecordAt(e.Offset)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %s ends before %d, where the index has %s", warc.ErrDamaged, f.Path, e.Offset, e.URL)
	}
	if err != nil {
		if _, errStat := os.Stat(cmp.Or(f.Package(), f.Path)); errors.Is(errStat, fs.ErrNotExist) {
			err = goneError{e.Filename, err} // it was removed since the library was opened
		}
		return f, nil, nil, err
	}
	if rec.Header.Target() != e.URL {
		err = errors.Join(fmt.Errorf("%w: at %s:%d the index has %s and the file %s",
			warc.ErrDamaged, f.Path, e.Offset, e.URL, rec.Header.Target()), r.Close())
	}
	return f, r, rec, err
}

// EntryAt returns the entry of the capture whose record is at an offset of a file. The error wraps [warc.ErrNotFound]
// if there is none.
func (l *Library) EntryAt(file string, offset int64) (e index.Entry, err error) {
	f, ok := l.FileOf(file)
	if !ok {
		return e, warc.ErrNotFound
	}
	r, rec, err := f.RecordAt(offset)
	if err != nil {
		return e, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	e, ok, err = index.EntryOf(rec, file, warc.NewHeadReader())
	if err == nil && !ok {
		err = warc.ErrNotFound
	}
	return e, err
}

// OriginalOf returns the entry of the capture that holds the payload of e: e itself, unless it is a revisit.
func (l *Library) OriginalOf(ctx context.Context, e index.Entry) (index.Entry, error) {
	if e.MIME != index.RevisitMIME {
		return e, nil
	}
	c, err := l.load(e)
	if err != nil {
		return index.Entry{}, err
	}
	c, err = l.Original(ctx, c)
	return c.Entry, err
}
