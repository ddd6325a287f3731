package rewrite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// rewriter makes one new file.
type rewriter struct {
	*plan
	file  warc.File
	name  string // of the new file
	found []warc.Finding
	sum   Summary

	out     *bufio.Writer
	zip     *gzip.Writer
	offset  int64            // of the gzip member of the current record
	ordinal int              // number of records before it in this member
	begun   bool             // the file has its warcinfo record
	dates   map[int32]string // of captures, as their records have them
	infos   map[string]place // warcinfo records that no copied record has needed yet, by id
}

// place is where a record is in the old file.
type place struct {
	offset, length int64
	ordinal        int
	shared         bool
}

// run copies the records to the new file.
func (w *rewriter) run(ctx context.Context) error {
	if err := os.MkdirAll(w.o.Out, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	file, err := fileio.Create(w.name, 0o644)
	if err != nil {
		return err
	}
	defer file.Discard()
	w.out = bufio.NewWriterSize(file, 128<<10)
	w.zip, w.infos, w.dates, w.offset = gzip.NewWriter(nil), map[string]place{}, map[int32]string{}, -1
	notes := warc.NewFindings(w.file)
	err = warc.EachRecord(ctx, w.file, w.o.Progress, notes, w.record)
	w.found = notes.All()
	if err != nil {
		return err
	}
	if w.sum.Records == 0 {
		return nil
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	err = file.New()
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: nothing is overwritten", err)
	}
	return err
}

// record copies one record, changed or as it is, after checking that it is whole.
func (w *rewriter) record(rec *warc.Record) error {
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
	if h.Type() == "warcinfo" && !w.o.Select.IsZero() {
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
	if ch, ok := w.changes[depend.IDKey(rec.ID())]; ok && h.Type() == "revisit" {
		if w.survey.IDOf(ch.first) == rec.ID() {
			return w.fill(rec, ch, at)
		}
		return w.repoint(rec, ch, at)
	}
	if renamed, changed := w.renamedIDs(h); changed {
		return w.rename(rec.Version, renamed, at)
	}
	return w.copy(at)
}

// wants reports whether a record is selected, directly or as a companion of a selected capture.
func (w *rewriter) wants(rec *warc.Record) bool {
	if w.o.Select.IsZero() {
		return true
	}
	h := rec.Header
	chosen := func(id string) bool { return w.chosen[depend.IDKey(warc.TrimID(id))] }
	if slices.ContainsFunc(h.Values("WARC-Concurrent-To"), chosen) {
		return true
	}
	return h.Target() != "" && w.selects(h.Target(), h.Date())
}

// referring are the headers with ids of records that may have changed.
var referring = []string{"WARC-Concurrent-To", "WARC-Refers-To"}

// renamedIDs returns a header with the new ids of the records that it mentions, and whether it mentions one.
func (w *rewriter) renamedIDs(h warc.Header) (_ warc.Header, changed bool) {
	h = slices.Clone(h)
	for i, f := range h {
		if !slices.ContainsFunc(referring, func(name string) bool { return strings.EqualFold(name, f.Name) }) {
			continue
		}
		if ch, ok := w.changes[depend.IDKey(warc.TrimID(f.Value))]; ok {
			h[i].Value, changed = "<"+ch.newID+">", true
		}
	}
	return h, changed
}

// reopen opens a record again, to read its block.
func (w *rewriter) reopen(at place) (*warc.Reader, *warc.Record, error) {
	r, err := w.file.OpenAt(at.offset)
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

// copy copies a record as it is: byte for byte, if it has a gzip member of its own.
func (w *rewriter) copy(at place) error {
	if err := w.begin(); err != nil {
		return err
	}
	r, rec, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	raw, zipped := r.Raw(at.offset, at.length)
	if !zipped || at.shared {
		return w.emit("WARC/"+rec.Version, rec.Header, rec)
	}
	n, err := io.Copy(w, raw)
	w.sum.Records++
	if err == nil && n != at.length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("copy from %s at %d: %w", w.file.Path, at.offset, err)
	}
	return nil
}

// emit writes one record as a gzip member. The header must have the Content-Length of the block.
func (w *rewriter) emit(version string, h warc.Header, block io.Reader) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.zip.Reset(w)
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
	if want, badLength := h.ContentLength(); err == nil && (badLength != nil || n != want) {
		err = fmt.Errorf("the block has %d bytes, not %d", n, want)
	}
	if err == nil {
		_, err = io.WriteString(w.zip, warc.RecordEnd)
	}
	if err = errors.Join(err, w.zip.Close()); err != nil {
		return fmt.Errorf("write a record of %s: %w", w.name, err)
	}
	w.sum.Records++
	return nil
}

// Write writes to the new file and counts the bytes.
func (w *rewriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.sum.Bytes += int64(n)
	return n, err
}

// rename copies a record with the new ids of the records that it mentions in its header. Its block and its own id stay.
func (w *rewriter) rename(version string, h warc.Header, at place) error {
	r, again, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	return w.emit("WARC/"+version, h, again)
}

// repoint copies a revisit so that it refers to the response that an earlier revisit of the same original became.
func (w *rewriter) repoint(rec *warc.Record, ch change, at place) error {
	r, again, err := w.reopen(at)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	first := w.survey.At(ch.first)
	date, err := w.dateOf(ch.first)
	if err != nil {
		return err
	}
	h, _ := w.renamedIDs(rec.Header)
	h = append(without(h, "WARC-Record-ID", "WARC-Refers-To", "WARC-Refers-To-Target-URI",
		"WARC-Refers-To-Date", "WARC-Payload-Digest", "Content-Length"), fields(
		"WARC-Record-ID", "<"+ch.newID+">",
		"WARC-Refers-To", "<"+renamed(w.survey.IDOf(ch.first))+">",
		"WARC-Refers-To-Target-URI", first.Target,
		"WARC-Refers-To-Date", date,
		"WARC-Payload-Digest", w.payloads[ch.original].digest,
		"Content-Length", strconv.FormatInt(rec.Size, 10),
	)...)
	w.sum.Repointed++
	return w.emit("WARC/1.1", h, again)
}

// dateOf returns the date of a capture as its record has it. Some readers compare dates as texts.
func (w *rewriter) dateOf(capture int32) (string, error) {
	if date, ok := w.dates[capture]; ok {
		return date, nil
	}
	c := w.survey.At(capture)
	r, rec, err := openCapture(w.survey.Files[c.File], c.Offset, w.survey.IDOf(capture))
	if err != nil {
		return "", err
	}
	date := rec.Header.Get("WARC-Date")
	w.dates[capture] = date
	return date, r.Close()
}

func without(h warc.Header, names ...string) warc.Header {
	return slices.DeleteFunc(slices.Clone(h), func(f warc.Field) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, f.Name) })
	})
}

// fill makes a response from a revisit: its own HTTP head, and the payload of its original.
func (w *rewriter) fill(rec *warc.Record, ch change, at place) error {
	own, err := w.ownHead(at)
	if err != nil {
		return err
	}
	p := w.payloads[ch.original]
	from := w.survey.At(ch.original)
	r, original, err := openCapture(w.survey.Files[from.File], from.Offset, w.survey.IDOf(ch.original))
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	head, body, err := original.Payload()
	if err != nil {
		return err
	}
	if len(own.Raw) > 0 && own.Status != 304 && fits(own, p.size) {
		head = own
	}
	block, size := framed(head, body, p.size)
	// The header with the digest of the block comes before the block, so the payload is read twice.
	sum := warc.NewHash("sha1")
	if n, err := io.Copy(sum, block); err != nil || n != size {
		return fmt.Errorf("read %s at %d: %d bytes instead of %d: %w", original.File, original.Offset, n, size, err)
	}
	again, second, err := openCapture(w.survey.Files[from.File], from.Offset, w.survey.IDOf(ch.original))
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // nothing was written
	if _, body, err = second.Payload(); err != nil {
		return err
	}
	block, _ = framed(head, body, p.size)
	if err := w.emit("WARC/1.1", w.filledHeader(rec.Header, ch, sum, size), block); err != nil {
		return err
	}
	w.sum.Filled++
	return w.explain(rec, ch, from, original.Header.Get("WARC-Date"))
}

// ownHead reads the HTTP head in a revisit. It is empty if there is none.
func (w *rewriter) ownHead(at place) (warc.Head, error) {
	r, rec, err := w.reopen(at)
	if err != nil {
		return warc.Head{}, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h, err := warc.ReadHead(bufio.NewReader(rec))
	if err != nil {
		return warc.Head{}, nil // without a head, the one of the original is used
	}
	if !h.Ended() {
		h.Raw = append(h.Raw, "\r\n"...)
	}
	return h, nil
}

// fits reports whether a payload of a size can follow a head.
func fits(h warc.Head, size int64) bool {
	length := h.Header().Get("Content-Length")
	return h.Chunked() || length == "" || length == strconv.FormatInt(size, 10)
}

// framed returns an HTTP message of a head and a payload, and its size. If the head says that the body is chunked, the
// payload becomes one chunk. Without a head, as in a resource record, the result is the payload.
func framed(h warc.Head, body io.Reader, size int64) (io.Reader, int64) {
	begin, end := string(h.Raw), ""
	if h.Chunked() {
		end = "0\r\n\r\n"
		if size > 0 {
			begin, end = begin+strconv.FormatInt(size, 16)+"\r\n", "\r\n"+end
		}
	}
	message := io.MultiReader(strings.NewReader(begin), io.LimitReader(body, size), strings.NewReader(end))
	return message, int64(len(begin)+len(end)) + size
}

// filledHeader returns the header of the response that is made from a revisit.
func (w *rewriter) filledHeader(old warc.Header, ch change, sum hash.Hash, size int64) warc.Header {
	p := w.payloads[ch.original]
	h, _ := w.renamedIDs(old)
	h = without(h, "WARC-Type", "WARC-Record-ID", "WARC-Target-URI", "WARC-Profile",
		"WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Truncated", "WARC-Etag",
		"WARC-Last-Modified", "WARC-Block-Digest", "WARC-Payload-Digest", "Content-Type", "Content-Length")
	h = append(fields("WARC-Type", "response", "WARC-Record-ID", "<"+ch.newID+">", "WARC-Target-URI", old.Target()), h...)
	if p.truncated != "" {
		h = append(h, fields("WARC-Truncated", p.truncated)...)
	}
	return append(h, fields(
		"Content-Type", "application/http;msgtype=response",
		"WARC-Block-Digest", warc.FormatDigest("sha1", sum),
		"WARC-Payload-Digest", p.digest,
		"Content-Length", strconv.FormatInt(size, 10),
	)...)
}

// explain writes the metadata record that says from what a new response was made. The response itself may not have the
// header WARC-Refers-To.
func (w *rewriter) explain(rec *warc.Record, ch change, from depend.Capture, date string) error {
	var text strings.Builder
	for _, f := range fields(
		"madeFrom", rec.ID(),
		"madeFromProfile", rec.Header.Get("WARC-Profile"),
		"payloadFrom", w.survey.IDOf(ch.original),
		"payloadFromURI", from.Target,
		"payloadFromDate", date,
		"payloadFromFile", fileLabel(w.survey.Files[from.File]),
	) {
		if f.Value != "" {
			text.WriteString(f.Name + ": " + f.Value + "\r\n")
		}
	}
	sum := warc.NewHash("sha1")
	_, _ = io.WriteString(sum, text.String()) // a hash never fails
	h := fields(
		"WARC-Type", "metadata",
		"WARC-Record-ID", "<"+renamed("metadata of "+rec.ID())+">",
		"WARC-Date", rec.Header.Get("WARC-Date"),
		"WARC-Target-URI", rec.Header.Target(),
		"WARC-Concurrent-To", "<"+ch.newID+">",
		"Content-Type", warc.FieldsMIME,
		"WARC-Block-Digest", warc.FormatDigest("sha1", sum),
		"Content-Length", strconv.Itoa(text.Len()),
	)
	if info := rec.Header.Get("WARC-Warcinfo-ID"); info != "" {
		h = append(h, fields("WARC-Warcinfo-ID", info)...)
	}
	return w.emit("WARC/1.1", h, strings.NewReader(text.String()))
}

// fileLabel returns the name of a file, with its package if it is in one.
func fileLabel(f warc.File) string {
	name := filepath.Base(f.Path)
	if f.Package() != "" {
		name = filepath.Base(f.Package()) + "/archive/" + name
	}
	return name
}

// fields returns header lines, given as pairs of name and value.
func fields(pairs ...string) warc.Header {
	h := make(warc.Header, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, warc.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

// openCapture opens the record with an id at an offset, where several records may share a gzip member.
func openCapture(f warc.File, offset int64, id string) (*warc.Reader, *warc.Record, error) {
	r, rec, err := f.RecordAt(offset)
	for err == nil && rec.ID() != id {
		if rec, err = r.Next(); err != nil {
			err = errors.Join(warc.Damaged(err), r.Close())
		}
	}
	return r, rec, err
}

// provide checks an original and returns size and digest of its payload. The digest is of the payload without transfer
// encoding (WARC/1.1, section 6.3.2).
func (p *plan) provide(ctx context.Context, o int32) *provided {
	c := p.survey.At(o)
	file := p.survey.Files[c.File]
	if err := file.CheckAt(c.Offset); err != nil {
		return &provided{err: err}
	}
	r, rec, err := openCapture(file, c.Offset, p.survey.IDOf(o))
	if err != nil {
		return &provided{err: err}
	}
	defer r.Close() //nolint:errcheck // nothing was written
	_, body, err := rec.Payload()
	if err != nil {
		return &provided{err: err}
	}
	if !rec.Header.IsHTTP() {
		return &provided{err: errors.New("it is not an HTTP response")}
	}
	algorithm := c.Method
	if warc.NewHash(algorithm) == nil {
		algorithm = "sha1"
	}
	sum := warc.NewHash(algorithm)
	out := &provided{truncated: rec.Header.Get("WARC-Truncated")}
	if out.size, err = io.Copy(sum, body); err != nil && (out.truncated == "" || !errors.Is(err, io.ErrUnexpectedEOF)) {
		out.err = err
	}
	out.digest = warc.FormatDigest(algorithm, sum)
	return out
}
