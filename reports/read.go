package reports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Options say what [Read] sums up.
type Options struct {
	Periods []Period // each gets a Summary; if empty, there is one without bounds
	By      []Dimension
	// Host, if set, reports whether the visits of a host are counted. It must be safe for concurrent use.
	Host func(host string) bool
	// Last, if set, is how many bytes from the end of each file are read. Compressed files are read as a whole.
	Last int64
	// Progress, if set, counts the bytes of the files that were read so far.
	Progress *atomic.Int64
}

// Outcome is the result of [Read].
type Outcome struct {
	Summaries []*Summary // one for each period
	Bytes     int64      // of all files, as stored
	Left      int64      // of them that were not read, because of Options.Last
	Skipped   int64      // lines that do not belong to a crawl log
	Faults    []error    // files that could not be read, or not to their end; everything else was read
}

// Read sums up logs, in any order, compressed with gzip or not.
//
// The error is the one of ctx, or says that no file could be read.
func Read(ctx context.Context, files []string, o Options) (*Outcome, error) {
	if len(o.Periods) == 0 {
		o.Periods = []Period{{}}
	}
	parts, out := divide(files, o.Last)
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = newWorker(o)
	}
	err := inParallel(ctx, workers, parts)
	total := newWorker(o)
	for _, w := range workers {
		for i, s := range w.sums {
			total.sums[i].Merge(s)
		}
		out.Skipped += w.skipped
		out.Faults = append(out.Faults, w.faults...)
	}
	out.Summaries = total.sums
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("read crawl logs: %w", errors.Join(out.Faults...))
	}
	return out, err
}

// part is a part of a file: the lines that begin in it.
type part struct {
	file     string
	from, to int64
	gzipped  bool
}

// partSize is small enough to keep all processors busy to the end, and large enough to be read in one go.
const partSize = 16 << 20

// divide divides files into parts. A compressed file is one part, because it can only be read from its beginning.
func divide(files []string, last int64) ([]part, *Outcome) {
	out := new(Outcome)
	var parts []part
	for _, file := range files {
		stat, err := os.Stat(file)
		if err == nil && stat.IsDir() {
			err = fmt.Errorf("%s is a folder; name the logs in it", file)
		}
		gzipped := false
		if err == nil {
			gzipped, err = isCompressed(file)
		}
		if err != nil {
			out.Faults = append(out.Faults, err)
			continue
		}
		out.Bytes += stat.Size()
		if gzipped {
			parts = append(parts, part{file: file, to: stat.Size(), gzipped: true})
			continue
		}
		begin := int64(0)
		if last > 0 {
			begin = max(0, stat.Size()-last)
		}
		out.Left += begin
		for from := begin; from == begin || from < stat.Size(); from += partSize {
			parts = append(parts, part{file: file, from: from, to: min(from+partSize, stat.Size())})
		}
	}
	return parts, out
}

func isCompressed(file string) (bool, error) {
	f, err := fileio.OpenText(file)
	if err != nil {
		return false, err
	}
	return f.Compressed(), f.Close()
}

// worker reads parts, one after the other.
type worker struct {
	options Options
	chosen  func(*crawllog.RawEntry) bool
	sums    []*Summary
	skipped int64
	faults  []error
	entry   crawllog.RawEntry
	buffer  *bufio.Reader
}

func newWorker(o Options) *worker {
	w := &worker{options: o, chosen: OfHosts(o.Host), buffer: bufio.NewReaderSize(nil, 8*crawllog.MaxLine)}
	for range o.Periods {
		w.sums = append(w.sums, NewSummary(o.By...))
	}
	return w
}

// read sums up a part. It records an error in the faults.
func (w *worker) read(ctx context.Context, p part) {
	if err := w.lines(ctx, p); err != nil {
		w.faults = append(w.faults, fmt.Errorf("read %s: %w", p.file, err))
	}
	if w.options.Progress != nil {
		w.options.Progress.Add(p.to - p.from)
	}
}

func (w *worker) lines(ctx context.Context, p part) (err error) {
	if p.gzipped {
		f, err := fileio.OpenText(p.file)
		if err != nil {
			return err
		}
		defer f.Close()
		w.buffer.Reset(f)
		return eachLine(ctx, w.buffer, -1, w.line)
	}
	f, err := os.Open(p.file)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer f.Close()
	from := p.from
	if from > 0 {
		from-- // the line that this byte ends, or is part of, belongs to the part before
	}
	w.buffer.Reset(io.NewSectionReader(f, from, 1<<62))
	left := p.to - p.from
	if p.from > 0 {
		skipped, _, err := nextLine(w.buffer)
		if err != nil {
			return ignoreEnd(err)
		}
		left -= skipped - 1
	}
	return eachLine(ctx, w.buffer, left, w.line)
}

// eachLine calls each with the lines that begin within the next n bytes, or with all lines if n is negative.
func eachLine(ctx context.Context, r *bufio.Reader, n int64, each func(line []byte)) error {
	for read := int64(0); n < 0 || read < n; {
		length, line, err := nextLine(r)
		if err != nil {
			return ignoreEnd(err)
		}
		if read>>20 != (read+length)>>20 && ctx.Err() != nil {
			return nil
		}
		read += length
		each(line)
	}
	return nil
}

// nextLine returns the next line without its end, and its length with the end. The line is empty if it is longer than
// any of a crawl log. Bytes behind the last line end are not a line yet.
func nextLine(r *bufio.Reader) (n int64, line []byte, err error) {
	line, err = r.ReadSlice('\n')
	n = int64(len(line))
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		n += int64(len(line))
		line = nil
	}
	return n, bytes.TrimRight(line, "\r\n"), err
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (w *worker) line(line []byte) {
	if !w.entry.Parse(line) {
		w.skipped++
		return
	}
	if !w.chosen(&w.entry) {
		return
	}
	for i, p := range w.options.Periods {
		if p.has(w.entry.Logged) {
			w.sums[i].Add(&w.entry)
		}
	}
}

// inParallel has the workers read all parts and waits for them. It returns the error of ctx.
func inParallel(ctx context.Context, workers []*worker, parts []part) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for _, w := range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				w.read(ctx, parts[i])
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
