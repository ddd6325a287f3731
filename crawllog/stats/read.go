package stats

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/crawllog"
)

// Options say what [Read] is to find out.
type Options struct {
	Periods []Period // each gets a Summary; none means one without bounds
	By      []Dimension
	// Progress, if set, counts the bytes of the files that were read so far.
	Progress *atomic.Int64
}

// Outcome is what came of the reading of logs.
type Outcome struct {
	Summaries []*Summary // of each period
	Bytes     int64      // of all files, compressed as they are
	Strange   int64      // lines that are none of a crawl log
	Faults    []error    // files that could not be read, or not to their end; the rest was read all the same
}

// Read sums up logs. Their order does not matter. A file that ends in .gz is compressed.
//
// The error is that of ctx, or says that not one file could be read.
func Read(ctx context.Context, files []string, o Options) (*Outcome, error) {
	if len(o.Periods) == 0 {
		o.Periods = []Period{{}}
	}
	parts, out := divide(files)
	workers := make([]*worker, processors())
	for i := range workers {
		workers[i] = newWorker(o)
	}
	err := inParallel(ctx, workers, parts)
	total := newWorker(o)
	for _, w := range workers {
		for i, s := range w.sums {
			total.sums[i].Merge(s)
		}
		out.Strange += w.strange
		out.Faults = append(out.Faults, w.faults...)
	}
	out.Summaries = total.sums
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("read crawl logs: %w", errors.Join(out.Faults...))
	}
	return out, err
}

// part is a piece of a file: the lines that begin in it.
type part struct {
	file     string
	from, to int64
	gzip     bool
}

// partSize is small enough to keep all processors busy to the end, and large enough to be read at one go.
const partSize = 16 << 20

// divide cuts files into parts. What is compressed can only be read from its beginning.
func divide(files []string) ([]part, *Outcome) {
	out := new(Outcome)
	var parts []part
	for _, file := range files {
		stat, err := os.Stat(file)
		if err == nil && stat.IsDir() {
			err = fmt.Errorf("%s is a folder; name the logs in it", file)
		}
		if err != nil {
			out.Faults = append(out.Faults, err)
			continue
		}
		out.Bytes += stat.Size()
		if strings.HasSuffix(file, ".gz") {
			parts = append(parts, part{file: file, to: stat.Size(), gzip: true})
			continue
		}
		for from := int64(0); from == 0 || from < stat.Size(); from += partSize {
			parts = append(parts, part{file: file, from: from, to: min(from+partSize, stat.Size())})
		}
	}
	return parts, out
}

// worker reads parts, one after the other.
type worker struct {
	options Options
	sums    []*Summary
	strange int64
	faults  []error
	glance  crawllog.Glance
	buffer  *bufio.Reader
}

func newWorker(o Options) *worker {
	w := &worker{options: o, buffer: bufio.NewReaderSize(nil, 8*crawllog.MaxLine)}
	for range o.Periods {
		w.sums = append(w.sums, NewSummary(o.By...))
	}
	return w
}

// read sums up a part. Faults are kept.
func (w *worker) read(ctx context.Context, p part) {
	if err := w.lines(ctx, p); err != nil {
		w.faults = append(w.faults, fmt.Errorf("read %s: %w", p.file, err))
	}
	if w.options.Progress != nil {
		w.options.Progress.Add(p.to - p.from)
	}
}

func (w *worker) lines(ctx context.Context, p part) (err error) {
	f, err := os.Open(p.file)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer f.Close()
	if p.gzip {
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		w.buffer.Reset(unpacked)
		return eachLine(ctx, w.buffer, -1, w.line)
	}
	from := p.from
	if from > 0 {
		from-- // the line that this byte ends, or is in, belongs to the part before
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

// eachLine hands out the lines that begin within the next so many bytes, or all if that is less than zero.
func eachLine(ctx context.Context, r *bufio.Reader, within int64, each func(line []byte)) error {
	for read := int64(0); within < 0 || read < within; {
		n, line, err := nextLine(r)
		if err != nil {
			return ignoreEnd(err)
		}
		if read>>20 != (read+n)>>20 && ctx.Err() != nil {
			return nil
		}
		read += n
		each(line)
	}
	return nil
}

// nextLine gives the next line without its end, and its length with it; the line is empty if it is longer than any of a crawl log. What
// stands behind the last line end is not a line yet.
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
	if !w.glance.Read(line) {
		w.strange++
		return
	}
	for i, p := range w.options.Periods {
		if p.has(w.glance.Logged) {
			w.sums[i].Add(&w.glance)
		}
	}
}
