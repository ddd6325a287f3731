package importer

import (
	"context"
	"fmt"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/parallel"
)

// result is a part of what was read from a file. Only one of finding, collection and found is set; the last two fields
// belong to found.
type result struct {
	finding    *warc.Finding
	collection *dedup.Collection // the file itself; reading begins at its Position
	found      []dedup.Found

	skipped, position int64
}

// all reads several files at a time, and adds their records to the index in the order of the files.
func (im *importing) all(ctx context.Context, tasks []task) error {
	var now *fileImport
	named := func(i int, err error) error {
		if err != nil {
			err = fmt.Errorf("import %s: %w", tasks[i].file, err)
		}
		return err
	}
	produce := func(ctx context.Context, i int, send func(result) error) error {
		return named(i, im.read(ctx, tasks[i], send))
	}
	take := func(i int, s result) error {
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
	return parallel.InTurn(ctx, len(tasks), produce, take, finish)
}

// read reads one file and sends the results. It does not change the index.
func (im *importing) read(ctx context.Context, t task, send func(result) error) error {
	report := func(f warc.Finding) error { return send(result{finding: &f}) }
	fault := func(k warc.Kind, text string) error {
		return report(warc.Finding{File: t.file, Offset: -1, Severity: warc.Error, Kind: k, Text: text})
	}
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
	before, known := im.index.Collection(hash, t.crawl)
	if known && before.State == dedup.Importing {
		c.Position = before.Position
	}
	if err := send(result{collection: &c}); err != nil || known && before.State != dedup.Importing {
		return err
	}
	return readInBatches(ctx, c.Position, read, send, report)
}

// readInBatches sends records in batches.
func readInBatches(
	ctx context.Context, from int64, read readFunc, send func(result) error, report func(warc.Finding) error,
) error {
	batch := result{position: from}
	flush := func() error {
		err := send(batch)
		batch = result{position: batch.position}
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
		if len(batch.found) < dedup.MaxBatch && batch.skipped < 100*dedup.MaxBatch {
			return nil
		}
		return flush()
	}
	if err := read(ctx, from, add, report); err != nil {
		return err
	}
	return flush()
}

// fileImport adds the records of one file to the index.
type fileImport struct {
	*importing
	task    task
	m       *dedup.Import // nil until begin, and if the index has the file already
	known   bool
	resumed bool
	size    int64
}

// take adds a result to the index.
func (f *fileImport) take(s result) error {
	switch {
	case s.finding != nil:
		if f.known {
			return nil // it was reported when the file was read for the first time
		}
		return f.report(*s.finding)
	case s.collection != nil:
		return f.begin(*s.collection)
	case f.m == nil:
		return nil
	}
	err := f.m.Add(s.found, s.skipped, s.position)
	if err == nil && f.o.Added != nil {
		err = f.o.Added()
	}
	return err
}

// begin begins the import of the file, or resumes it.
func (f *fileImport) begin(c dedup.Collection) (err error) {
	from := c.Position
	f.size = c.Size
	if f.m, err = f.index.Begin(c, f.o.Now()); err != nil || f.m == nil {
		f.known = err == nil
		return err
	}
	if at := f.m.Collection().Position; at != from {
		return fmt.Errorf("it was read from %d on, but the index has it up to %d: is another import running?", from, at)
	}
	f.resumed = from > 0
	return nil
}

// finish ends the import of the file and counts it.
func (f *fileImport) finish() error {
	if f.known {
		f.sum.Known++
		f.o.Progress.AddBytes(f.size)
		return f.done(FileSummary{File: f.task.file, Known: true})
	}
	if f.m == nil {
		return nil // the file could not be read
	}
	if err := f.m.Done(f.o.Now()); err != nil {
		return err
	}
	c := f.m.Collection()
	f.sum.Files++
	f.sum.Entries += c.Entries
	f.sum.Revisits += c.Refs
	f.sum.Skipped += c.Skipped
	return f.done(FileSummary{
		File: f.task.file, Resumed: f.resumed, Entries: c.Entries, Revisits: c.Refs, Skipped: c.Skipped,
	})
}
