package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// rewriter makes one new file.
type rewriter struct {
	*plan
	file  File
	found []Finding
	sum   Rewritten

	out     *newFile
	zip     *gzip.Writer
	offset  int64 // of the present record, and how many records of its member came before
	ordinal int
	infos   map[string]place // warcinfo records that nothing has called for yet, by id
}

// place is where a record is in the file that is read.
type place struct {
	offset, length int64
	ordinal        int
	shared         bool
}

func (w *rewriter) run(ctx context.Context) (err error) {
	if w.out, err = create(filepath.Join(w.o.Out, outName(w.file))); err != nil {
		return err
	}
	defer w.out.discard()
	w.zip, w.infos, w.offset = gzip.NewWriter(nil), map[string]place{}, -1
	if w.found, err = eachRecord(ctx, w.file, w.o.Progress, w.record); err != nil {
		return err
	}
	if w.sum.Records == 0 {
		return nil
	}
	return w.out.commit(false)
}

// record takes over one record, changed or as it is, once it is proved whole.
func (w *rewriter) record(rec *Record) error {
	if rec.Offset == w.offset {
		w.ordinal++
	} else {
		w.offset, w.ordinal = rec.Offset, 0
	}
	if err := rec.Close(); err != nil {
		return err
	}
	at := place{rec.Offset, rec.Length, w.ordinal, rec.SharesMember() || w.ordinal > 0}
	h := rec.Header
	if h.Type() == "warcinfo" && !w.o.Select.isZero() {
		w.infos[rec.ID()] = at
		return nil
	}
	if !w.wants(rec) {
		return nil
	}
	if info, ok := w.infos[h.ID("WARC-Warcinfo-ID")]; ok {
		delete(w.infos, h.ID("WARC-Warcinfo-ID"))
		if err := w.copy(info); err != nil {
			return err
		}
	}
	if ch, ok := w.changes[idKey(rec.ID())]; ok && h.Type() == "revisit" {
		if w.survey.idOf(ch.first) == rec.ID() {
			return w.fill(rec, ch, at)
		}
		return w.repoint(rec, ch, at)
	}
	if w.mentionsChanged(h) {
		return w.rename(rec, at)
	}
	return w.copy(at)
}

// wants tells whether a record is selected: as a capture, by what it accompanies, or by itself.
func (w *rewriter) wants(rec *Record) bool {
	if w.o.Select.isZero() {
		return true
	}
	h := rec.Header
	if slices.ContainsFunc(h.Values("WARC-Concurrent-To"), func(id string) bool { return w.chosen[idKey(trimID(id))] }) {
		return true
	}
	return h.Target() != "" && w.o.Select.has(h.Target(), h.Date())
}

// referring are the headers that hold ids of records that may have got another one.
var referring = []string{"WARC-Concurrent-To", "WARC-Refers-To"}

func (w *rewriter) mentionsChanged(h Header) bool {
	for _, name := range referring {
		for _, id := range h.Values(name) {
			if _, ok := w.changes[idKey(trimID(id))]; ok {
				return true
			}
		}
	}
	return false
}

// renamedIDs gives a header with the new ids of the records that it mentions.
func (w *rewriter) renamedIDs(h Header) Header {
	h = slices.Clone(h)
	for i, f := range h {
		if ch, ok := w.changes[idKey(trimID(f.Value))]; ok && slices.ContainsFunc(referring, func(name string) bool { return strings.EqualFold(name, f.Name) }) {
			h[i].Value = "<" + ch.newID + ">"
		}
	}
	return h
}

// reopen goes to a record again, to read its block.
func (w *rewriter) reopen(at place) (*Reader, *Record, error) {
	r, err := OpenAt(w.file.Path, at.offset)
	if err != nil {
		return nil, nil, err
	}
	rec, err := r.Next()
	for range at.ordinal {
		if err == nil {
			rec, err = r.Next()
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, rec, nil
}

// copy takes over a record as it is: its gzip member byte for byte, if it has one of its own.
func (w *rewriter) copy(at place) error {
	r, rec, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	if !r.gzip || at.shared {
		return w.emit("WARC/"+rec.Version, rec.Header, rec)
	}
	n, err := io.Copy(w.out, io.NewSectionReader(r.file, at.offset, at.length))
	w.sum.Records++
	w.sum.Bytes += n
	if err == nil && n != at.length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("copy from %s at %d: %w", w.file.Path, at.offset, err)
	}
	return nil
}

// emit writes one record as a gzip member. The header says how long the block is.
func (w *rewriter) emit(version string, h Header, block io.Reader) error {
	counting := &countingWriter{w: w.out}
	w.zip.Reset(counting)
	var text strings.Builder
	text.WriteString(version + "\r\n")
	for _, f := range h {
		text.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	text.WriteString("\r\n")
	_, err := io.WriteString(w.zip, text.String())
	var n int64
	if err == nil {
		n, err = io.Copy(w.zip, block)
	}
	if want, badLength := contentLength(h); err == nil && (badLength != nil || n != want) {
		err = fmt.Errorf("the block has %d bytes, not %d", n, want)
	}
	if err == nil {
		_, err = io.WriteString(w.zip, recordEnd)
	}
	if err = errors.Join(err, w.zip.Close()); err != nil {
		return fmt.Errorf("write a record of %s: %w", w.out.path, err)
	}
	w.sum.Records++
	w.sum.Bytes += counting.n
	return nil
}

// rename takes over a record with new ids of the records that it mentions; its block and its own id stay.
func (w *rewriter) rename(rec *Record, at place) error {
	r, again, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	return w.emit("WARC/"+rec.Version, w.renamedIDs(rec.Header), again)
}

// repoint makes a revisit refer to the response that an earlier revisit of the same original became.
func (w *rewriter) repoint(rec *Record, ch change, at place) error {
	r, again, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	first := w.survey.capture(ch.first)
	h := without(w.renamedIDs(rec.Header), "WARC-Record-ID", "WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Payload-Digest", "Content-Length")
	h = append(h, Field{"WARC-Record-ID", "<" + ch.newID + ">"}, Field{"WARC-Refers-To", "<" + renamed(w.survey.idOf(ch.first)) + ">"},
		Field{"WARC-Refers-To-Target-URI", first.target}, Field{"WARC-Refers-To-Date", first.time().Format(warcDate)},
		Field{"WARC-Payload-Digest", w.payloads[ch.original].digest}, Field{"Content-Length", strconv.FormatInt(rec.Size, 10)})
	w.sum.Repointed++
	return w.emit("WARC/1.1", h, again)
}

// warcDate is a WARC-Date with microseconds.
const warcDate = "2006-01-02T15:04:05.000000Z"

func without(h Header, names ...string) Header {
	return slices.DeleteFunc(slices.Clone(h), func(f Field) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, f.Name) })
	})
}

// fill makes a response of a revisit: its own head, and the payload of its original.
func (w *rewriter) fill(rec *Record, ch change, at place) error {
	own, err := w.ownHead(at)
	if err != nil {
		return err
	}
	p := w.payloads[ch.original]
	from := w.survey.capture(ch.original)
	r, original, err := openCapture(w.survey.files[from.file].Path, from.offset, w.survey.idOf(ch.original))
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	head, body, err := open(original)
	if err != nil {
		return err
	}
	if len(own.Raw) > 0 && own.Status != 304 && fits(own, p.size) {
		head = own
	}
	block, size := framed(head, body, p.size)
	// The digest of the block has to stand before it: the payload is read twice.
	sum := newHash("sha1")
	if n, err := io.Copy(sum, block); err != nil || n != size {
		return fmt.Errorf("read %s at %d: %d bytes instead of %d: %w", original.File, original.Offset, n, size, err)
	}
	again, second, err := openCapture(original.File, from.offset, w.survey.idOf(ch.original))
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // nothing was written
	if _, body, err = open(second); err != nil {
		return err
	}
	block, _ = framed(head, body, p.size)
	if err := w.emit("WARC/1.1", w.filledHeader(rec.Header, ch, sum, size), block); err != nil {
		return err
	}
	w.sum.Filled++
	return w.explain(rec, ch, from)
}

// ownHead reads the HTTP head that a revisit has kept; there may be none.
func (w *rewriter) ownHead(at place) (Head, error) {
	r, rec, err := w.reopen(at)
	if err != nil {
		return Head{}, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h, err := readHead(bufio.NewReader(rec))
	if err != nil {
		return Head{}, nil // no head: the original's is taken
	}
	if !bytes.HasSuffix(h.Raw, []byte("\n\r\n")) && !bytes.HasSuffix(h.Raw, []byte("\n\n")) {
		h.Raw = append(h.Raw, "\r\n"...)
	}
	return h, nil
}

// fits tells whether a payload of a size can follow a head.
func fits(h Head, size int64) bool {
	length := h.Header().Get("Content-Length")
	return h.chunked() || length == "" || length == strconv.FormatInt(size, 10)
}

// framed is a message of a head and a payload, with the payload as one chunk when the head says that there are chunks. A
// resource has no head, and is its payload.
func framed(h Head, body io.Reader, size int64) (io.Reader, int64) {
	begin, end := string(h.Raw), ""
	if h.chunked() {
		end = "0\r\n\r\n"
		if size > 0 {
			begin, end = begin+strconv.FormatInt(size, 16)+"\r\n", "\r\n"+end
		}
	}
	return io.MultiReader(strings.NewReader(begin), io.LimitReader(body, size), strings.NewReader(end)), int64(len(begin)+len(end)) + size
}

func (w *rewriter) filledHeader(old Header, ch change, sum hash.Hash, size int64) Header {
	p := w.payloads[ch.original]
	h := without(w.renamedIDs(old), "WARC-Type", "WARC-Record-ID", "WARC-Target-URI", "WARC-Profile", "WARC-Refers-To", "WARC-Refers-To-Target-URI",
		"WARC-Refers-To-Date", "WARC-Truncated", "WARC-Etag", "WARC-Last-Modified", "WARC-Block-Digest", "WARC-Payload-Digest", "Content-Type", "Content-Length")
	h = append(Header{{"WARC-Type", "response"}, {"WARC-Record-ID", "<" + ch.newID + ">"}, {"WARC-Target-URI", old.Target()}}, h...)
	if p.truncated != "" {
		h = append(h, Field{"WARC-Truncated", p.truncated})
	}
	block := sumText("sha1", sum)
	return append(h, Field{"Content-Type", "application/http;msgtype=response"}, Field{"WARC-Block-Digest", block},
		Field{"WARC-Payload-Digest", p.digest}, Field{"Content-Length", strconv.FormatInt(size, 10)})
}

// explain writes the record that says what a new response was made of. WARC-Refers-To may not stand on the response itself.
func (w *rewriter) explain(rec *Record, ch change, from holding) error {
	var text strings.Builder
	for _, f := range []Field{
		{"madeFrom", rec.ID()},
		{"madeFromProfile", rec.Header.Get("WARC-Profile")},
		{"payloadFrom", w.survey.idOf(ch.original)},
		{"payloadFromURI", from.target},
		{"payloadFromDate", from.time().Format(warcDate)},
		{"payloadFromFile", filepath.Base(w.survey.files[from.file].Path)},
	} {
		if f.Value != "" {
			text.WriteString(f.Name + ": " + f.Value + "\r\n")
		}
	}
	sum := newHash("sha1")
	_, _ = io.WriteString(sum, text.String()) // never fails
	h := Header{
		{"WARC-Type", "metadata"},
		{"WARC-Record-ID", "<" + renamed("metadata of "+rec.ID()) + ">"},
		{"WARC-Date", rec.Header.Get("WARC-Date")},
		{"WARC-Target-URI", rec.Header.Target()},
		{"WARC-Concurrent-To", "<" + ch.newID + ">"},
		{"Content-Type", "application/warc-fields"},
		{"WARC-Block-Digest", sumText("sha1", sum)},
		{"Content-Length", strconv.Itoa(text.Len())},
	}
	if info := rec.Header.Get("WARC-Warcinfo-ID"); info != "" {
		h = append(h, Field{"WARC-Warcinfo-ID", info})
	}
	return w.emit("WARC/1.1", h, strings.NewReader(text.String()))
}

// countingWriter counts what goes through it.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// openCapture opens the record of a capture whose id is known: several records may share a gzip member.
func openCapture(path string, offset int64, id string) (*Reader, *Record, error) {
	r, err := OpenAt(path, offset)
	if err != nil {
		return nil, nil, damaged(err)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return nil, nil, errors.Join(damaged(err), r.Close())
		}
		if rec.ID() == id {
			return r, rec, nil
		}
	}
}

// provide proves an original and measures its payload, with the digest that WARC/1.1 section 6.3.2 asks for.
func (p *plan) provide(ctx context.Context, o int32) *provided {
	c := p.survey.capture(o)
	path := p.survey.files[c.file].Path
	if err := prove(ctx, Capture{Entry: Entry{Offset: c.offset}, path: path}); err != nil {
		return &provided{err: err}
	}
	r, rec, err := openCapture(path, c.offset, p.survey.idOf(o))
	if err != nil {
		return &provided{err: err}
	}
	defer r.Close() //nolint:errcheck // nothing was written
	_, body, err := open(rec)
	if err != nil {
		return &provided{err: err}
	}
	if !hasHTTP(rec.Header) {
		return &provided{err: errors.New("it is no HTTP response")}
	}
	algorithm := c.method
	if newHash(algorithm) == nil {
		algorithm = "sha1"
	}
	sum := newHash(algorithm)
	out := &provided{truncated: rec.Header.Get("WARC-Truncated")}
	if out.size, err = io.Copy(sum, body); err != nil && (out.truncated == "" || !errors.Is(err, io.ErrUnexpectedEOF)) {
		out.err = err
	}
	out.digest = sumText(algorithm, sum)
	return out
}
