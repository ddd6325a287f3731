package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/warcout"
)

// maxFileNames bounds the file names that are stored with one collection. Records in further files of a removed
// collection are not recognised by the name of their file.
const maxFileNames = 10_000

// maxImportBatch is the maximum number of records that are added to the index at once.
const maxImportBatch = 256

// importResult is a part of what was read from a file. Only one of finding, collection and found is set; the last two
// fields belong to found.
type importResult struct {
	finding    *warc.Finding
	collection *dedup.Collection // the file itself; reading begins at its Position
	found      []dedup.Found

	skipped, position int64
}

// all reads several files at a time, and adds their records to the index in the order of the files.
func (im *importing) all(ctx context.Context, tasks []importTask) error {
	var now *fileImport
	named := func(i int, err error) error {
		if err != nil {
			err = fmt.Errorf("import %s: %w", tasks[i].file, err)
		}
		return err
	}
	produce := func(ctx context.Context, i int, send func(importResult) error) error {
		return named(i, im.read(ctx, tasks[i], send))
	}
	take := func(i int, s importResult) error {
		if now == nil {
			now = &fileImport{importing: im, task: tasks[i]}
		}
		return named(i, now.take(s))
	}
	finish := func(i int) error {
		defer im.o.Progress.AddFile()
		f := now
		if now = nil; f == nil {
			return nil
		}
		return named(i, f.finish())
	}
	return warc.InTurn(ctx, len(tasks), produce, take, finish)
}

// read reads one file and sends the results. It does not change the index.
func (im *importing) read(ctx context.Context, t importTask, send func(importResult) error) error {
	report := func(f warc.Finding) error { return send(importResult{finding: &f}) }
	fault := func(k warc.Kind, text string) error { return report(*warc.FileFinding(t.file, k, text)) }
	if t.missing != "" {
		return fault(warc.Unreadable, t.missing)
	}
	hash, size, err := warc.HashFile(t.file)
	if err != nil {
		return fault(warc.Unreadable, warc.Cause(err))
	}
	switch {
	case size == 0:
		return fault(warc.Empty, "the file is empty")
	case t.wantHash != "" && hash != t.wantHash:
		return fault(warc.BlockDigest,
			fmt.Sprintf("the file has the hash %s, the manifest says %s; it is skipped", hash, t.wantHash))
	case t.wantSize > 0 && size != t.wantSize:
		return fault(warc.Length, fmt.Sprintf("the file has %d bytes, the manifest says %d; it is skipped", size, t.wantSize))
	}
	read, err := im.reader(t)
	if err != nil {
		return warc.ReportFinding(err, report)
	}
	c := dedup.Collection{Name: t.name, Hash: hash, Size: size, Crawl: t.crawl, Manifest: t.manifest}
	before, known := im.indexed(c)
	if known && before.State == dedup.Importing {
		c.Position = before.Position
	}
	if err := send(importResult{collection: &c}); err != nil || known && before.State != dedup.Importing {
		return err
	}
	return readInBatches(ctx, c.Position, read, send, report)
}

func readInBatches(
	ctx context.Context, from int64, read readFunc, send func(importResult) error, report func(warc.Finding) error,
) error {
	batch := importResult{position: from}
	flush := func() error {
		err := send(batch)
		batch = importResult{position: batch.position}
		return err
	}
	add := func(f dedup.Found, ok bool, after int64) error {
		if ok {
			batch.found = append(batch.found, f)
		} else {
			batch.skipped++
		}
		if after >= 0 {
			batch.position = after
		}
		if len(batch.found) < maxImportBatch && batch.skipped < 100*maxImportBatch {
			return nil
		}
		return flush()
	}
	if err := read(ctx, from, add, report); err != nil {
		return err
	}
	return flush()
}

// indexed returns what the index has of a collection.
func (im *importing) indexed(c dedup.Collection) (before dedup.Collection, ok bool) {
	all := im.index.Collections()
	i := slices.IndexFunc(all, func(o dedup.Collection) bool { return o.Hash == c.Hash && o.Crawl == c.Crawl })
	if i < 0 {
		return dedup.Collection{}, false
	}
	return all[i], true
}

// activate makes the records of a collection count. Its files have been read, or the operator says that they exist.
func (im *importing) activate(c dedup.Collection) error {
	if err := im.index.Recall(c.Files...); err != nil {
		return err
	}
	c.State, c.Changed = dedup.Active, im.o.Now()
	return im.index.Store(c)
}

// removeCollection marks the records of a collection as missing. [dedup.Index.Find] no longer returns them.
func removeCollection(i *dedup.Index, c dedup.Collection, now time.Time) error {
	c.State, c.Changed = dedup.Removed, now
	return i.Store(c)
}

// fileImport adds the records of one file to the index.
type fileImport struct {
	*importing
	task    importTask
	c       dedup.Collection // its number is 0 until begin, and if the index has the file already
	known   bool
	resumed bool
	size    int64
}

func (f *fileImport) take(s importResult) error {
	switch {
	case s.finding != nil:
		if f.known {
			return nil // it was reported when the file was read for the first time
		}
		return f.report(*s.finding)
	case s.collection != nil:
		return f.begin(*s.collection)
	case f.c.Number == 0:
		return nil
	}
	err := f.add(s)
	if err == nil && f.o.Added != nil {
		err = f.o.Added()
	}
	return err
}

// begin begins the import of the file, or resumes it. If the index has the file already, it counts, even if it was
// removed.
func (f *fileImport) begin(c dedup.Collection) error {
	f.size = c.Size
	before, ok := f.indexed(c)
	same := c.Manifest == "" || c.Manifest == before.Manifest
	if !same {
		before.Manifest = c.Manifest
	}
	switch {
	case !ok:
		c.Number = 1
		if all := f.index.Collections(); len(all) > 0 {
			c.Number += all[len(all)-1].Number
		}
		f.c, f.c.State, f.c.Changed = c, dedup.Importing, f.o.Now()
		return f.index.Store(f.c)
	case before.State == dedup.Importing && before.Position != c.Position:
		return fmt.Errorf("it was read from %d on, but the index has it up to %d: is another import running?",
			c.Position, before.Position)
	case before.State == dedup.Importing:
		f.c, f.resumed = before, c.Position > 0
		return nil
	}
	f.known = true
	if before.State == dedup.Active && same {
		return nil
	}
	return f.activate(before)
}

// add takes some records. They count after activate. Added records survive a crash, and a later import of the same file
// continues behind them.
func (f *fileImport) add(s importResult) error {
	c := f.c
	c.Files = slices.Clone(c.Files)
	c.Position, c.Skipped = s.position, c.Skipped+s.skipped
	for _, r := range s.found {
		if r.Revisit {
			c.Refs++
			continue
		}
		c.Entries++
		file, last := r.Origin.File, c.Files[max(0, len(c.Files)-16):] // most records are in one of the last files
		if len(c.Files) < maxFileNames && file != "" && !slices.Contains(last, file) && !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
	}
	f.c = c
	return f.index.Store(c, s.found...)
}

// finish ends the import of the file and counts it.
func (f *fileImport) finish() error {
	if f.known {
		f.sum.Known++
		f.o.Progress.AddBytes(f.size)
		return f.done(importedFile{File: f.task.file, Known: true})
	}
	c := f.c
	if c.Number == 0 {
		return nil // the file could not be read
	}
	if err := f.activate(c); err != nil {
		return err
	}
	f.sum.Files++
	f.sum.Entries += c.Entries
	f.sum.Revisits += c.Refs
	f.sum.Skipped += c.Skipped
	return f.done(importedFile{
		File: f.task.file, Resumed: f.resumed, Entries: c.Entries, Revisits: c.Refs, Skipped: c.Skipped,
	})
}

// receiver receives each record of a collection. ok is false if the dedup index cannot use the record. after is the
// position after the record, at which an interrupted import can resume. It is -1 if that is not possible there.
type receiver func(f dedup.Found, ok bool, after int64) error

// readFunc reads a collection from a position on. It reports damage and reads the rest.
type readFunc func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error

// readWARC returns a function that reads a WARC file. Positions are offsets in the file.
func readWARC(file string, progress *warc.Progress) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		r, err := warc.OpenAt(file, from)
		if err != nil {
			return warc.ReportFinding(err, report)
		}
		defer r.Close() //nolint:errcheck // nothing was written
		return readRecords(ctx, r, filepath.Base(file), from, receive, report, progress)
	}
}

func readRecords(
	ctx context.Context, r *warc.Reader, name string, from int64,
	receive receiver, report func(warc.Finding) error, progress *warc.Progress,
) error {
	in := [2]*bufio.Reader{warc.NewHeadReader(), warc.NewHeadReader()}
	for before := from; ctx.Err() == nil; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var f dedup.Found
		ok := false
		if err == nil {
			f, ok, err = foundIn(rec, name, in)
		}
		if err != nil {
			if err := warc.ReportFinding(err, report); err != nil {
				return err
			}
		}
		progress.AddBytes(r.Offset() - before)
		before = r.Offset()
		after := before
		if rec != nil && rec.SharesMember() {
			after = -1
		}
		if err := receive(f, ok, after); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// foundIn returns what the dedup index needs from a record, after checking that the record is whole. It computes the
// digest of the payload again, and also the one of the header if that is not a SHA-1. A record whose header has another
// digest, for example of the chunked body, is not used: no revisit could match it.
func foundIn(rec *warc.Record, file string, readers [2]*bufio.Reader) (f dedup.Found, ok bool, err error) {
	h := rec.Header
	want, _ := warc.ParseDigest(h.Get("WARC-Payload-Digest"))
	switch {
	case h.Type() == "revisit" && len(want.Value) == len(f.Payload):
		copy(f.Payload[:], want.Value)
		f.Revisit = true
		f.Origin = digest.Origin{
			RecordID: h.ID("WARC-Refers-To"), URI: warc.TrimID(h.Get("WARC-Refers-To-Target-URI")), Payload: f.Payload,
		}
		if f.Origin.Date, err = warc.ParseDate(h.Get("WARC-Refers-To-Date")); err != nil {
			f.Origin.URI = ""
		}
		return f, !f.Origin.IsZero(), rec.Close()
	case h.Type() != "response" || !h.IsHTTP() || h.Date().IsZero() ||
		h.Get("WARC-Truncated") != "" || h.Get("WARC-Segment-Number") != "":
		return f, false, rec.Close()
	}
	in := readers[0]
	in.Reset(rec)
	head, err := warc.ReadHead(in)
	if err != nil {
		return f, false, rec.Close()
	}
	sum, sent, other := sha1.New(), sha1.New(), io.Discard
	theirs := warc.NewHash(want.Algorithm) // Browsertrix writes SHA-256
	if want.Algorithm != "sha1" && theirs != nil {
		other = theirs
	}
	if head.Chunked() { // some writers digest the chunks as they were sent
		readers[1].Reset(io.TeeReader(in, sent))
		in = readers[1]
	}
	body, chunks := head.Payload(in)
	size, bad := io.Copy(io.MultiWriter(sum, other), body)
	_, _ = io.Copy(io.Discard, in) // closing the record returns the error
	if err := rec.Close(); err != nil {
		return f, false, err
	}
	f.Payload = digest.Digest(sum.Sum(nil))
	if want.Algorithm == "sha1" && !want.Matches(sum) && !(head.Chunked() && want.Matches(sent)) {
		wrong := rec.Finding(warc.PayloadDigest, want.Differs("payload", sum)+"; no revisit is going to refer to this record")
		return f, false, &wrong
	}
	f.Status, f.MIME, f.Framing = head.Status, head.MIME(), head.Framing(chunks)
	f.Origin = digest.Origin{
		RecordID: rec.ID(), URI: h.Target(), Date: h.Date(), Payload: f.Payload,
		File: file, Offset: rec.Offset, Length: rec.Length, Size: size,
	}
	fits := want.IsZero() || len(want.Value) == len(f.Payload) && digest.Digest(want.Value) == f.Payload ||
		other != io.Discard && want.Matches(theirs)
	return f, bad == nil && size > 0 && fits && usable(f), nil
}

// waczMember divides a position in a package: the quotient is the number of the WARC file, the rest the offset in it.
const waczMember = 1 << 44

func readWACZ(file string, progress *warc.Progress) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		fault := func(text string) error { return report(*warc.FileFinding(file, warc.NotWARC, text)) }
		z, err := zip.OpenReader(file)
		if err != nil {
			return fault("this is not a WACZ package: " + warc.Cause(err))
		}
		defer z.Close() //nolint:errcheck // nothing was written
		number := int64(-1)
		for _, m := range z.File {
			if path.Dir(m.Name) != "archive" || !warc.IsArchive(m.Name) {
				continue
			}
			if number++; number < from/waczMember {
				continue
			}
			offset := int64(0)
			if number == from/waczMember {
				offset = from % waczMember
			}
			f := warc.PackedFile(file, m)
			r, err := f.OpenAt(offset)
			if err != nil {
				if err := warc.ReportFinding(err, report); err != nil {
					return err
				}
				continue
			}
			inMember := func(f dedup.Found, ok bool, after int64) error {
				if after >= 0 {
					after += number * waczMember
				}
				return receive(f, ok, after)
			}
			if err := errors.Join(readRecords(ctx, r, f.Name, offset, inMember, report, progress), r.Close()); err != nil {
				return err
			}
		}
		if number < 0 {
			return fault("there is no WARC file in this package")
		}
		return nil
	}
}

// usable reports whether the dedup index can hold an original.
func usable(f dedup.Found) bool {
	return !f.Payload.IsZero() && f.Status > 0 && f.Status <= 999 && f.Origin.URI != "" && !f.Origin.Date.IsZero() &&
		isHeaderText(f.Origin.URI) && isHeaderText(f.Origin.RecordID)
}

// maxURI is the maximum length of the URI of an original, in bytes.
const maxURI = 8192

// isHeaderText reports whether a text can be used in the header of a revisit record.
func isHeaderText(s string) bool { return len(s) <= maxURI && warcout.FitsHeader(s) }
