package importer

import (
	"context"
	"fmt"

	"github.com/arcrawl/arcrawl/archive/parallel"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
)

// step is what came of reading on in a file: one of its fields but the last two, which go with found.
type step struct {
	finding    *warc.Finding
	collection *dedup.Collection // what the file is; its Position is where reading begins
	found      []dedup.Found

	skipped, position int64
}

// all reads the files side by side, and brings what they hold into the index in their order.
func (im *importing) all(ctx context.Context, tasks []task) error {
	var now *filling
	named := func(i int, err error) error {
		if err != nil {
			err = fmt.Errorf("import %s: %w", tasks[i].file, err)
		}
		return err
	}
	produce := func(ctx context.Context, i int, give func(step) error) error {
		return named(i, im.read(ctx, tasks[i], give))
	}
	take := func(i int, s step) error {
		if now == nil {
			now = &filling{importing: im, task: tasks[i]}
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

// read reads one file and changes nothing.
func (im *importing) read(ctx context.Context, t task, give func(step) error) error {
	see := func(f warc.Finding) error { return give(step{finding: &f}) }
	fault := func(k warc.Kind, text string) error {
		return see(warc.Finding{File: t.file, Offset: -1, Severity: warc.Error, Kind: k, Text: text})
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
		return fault(warc.BlockDigest, fmt.Sprintf("the file has the hash %s, the manifest says %s; it is passed over", hash, t.wantHash))
	case t.wantSize > 0 && size != t.wantSize:
		return fault(warc.Length, fmt.Sprintf("the file has %d bytes, the manifest says %d; it is passed over", size, t.wantSize))
	}
	read, err := im.reader(t)
	if err != nil {
		return warc.ReportFinding(err, see)
	}
	c := dedup.Collection{Name: t.name, Hash: hash, Size: size, Crawl: t.crawl, Manifest: t.manifest}
	before, known := im.index.Collection(hash, t.crawl)
	if known && before.State == dedup.Importing {
		c.Position = before.Position
	}
	if err := give(step{collection: &c}); err != nil || known && before.State != dedup.Importing {
		return err
	}
	return inBatches(ctx, c.Position, read, give, see)
}

// inBatches gives what is read some hundred records at a time.
func inBatches(ctx context.Context, from int64, read reap, give func(step) error, see func(warc.Finding) error) error {
	batch := step{position: from}
	flush := func() error {
		err := give(batch)
		batch = step{position: batch.position}
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
	if err := read(ctx, from, add, see); err != nil {
		return err
	}
	return flush()
}

// filling brings what was read of one file into the index.
type filling struct {
	*importing
	task    task
	m       *dedup.Import // nil before the file is known, and if it is in the index already
	known   bool
	resumed bool
	size    int64
}

func (f *filling) take(s step) error {
	switch {
	case s.finding != nil:
		if f.known {
			return nil // it was told when the same file was read before
		}
		return f.see(*s.finding)
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

func (f *filling) begin(c dedup.Collection) (err error) {
	from := c.Position
	f.size = c.Size
	if f.m, err = f.index.Begin(c, f.o.Now()); err != nil || f.m == nil {
		f.known = err == nil
		return err
	}
	if at := f.m.Collection().Position; at != from {
		return fmt.Errorf("it was read from %d on, and the index says %d: is somebody else importing it?", from, at)
	}
	f.resumed = from > 0
	return nil
}

func (f *filling) finish() error {
	if f.known {
		f.sum.Known++
		f.o.Progress.AddBytes(f.size)
		return f.done(FileSummary{File: f.task.file, Known: true})
	}
	if f.m == nil {
		return nil // it could not be read
	}
	if err := f.m.Done(f.o.Now()); err != nil {
		return err
	}
	c := f.m.Collection()
	f.sum.Files++
	f.sum.Entries += c.Entries
	f.sum.Revisits += c.Refs
	f.sum.Skipped += c.Skipped
	return f.done(FileSummary{File: f.task.file, Resumed: f.resumed, Entries: c.Entries, Revisits: c.Refs, Skipped: c.Skipped})
}
