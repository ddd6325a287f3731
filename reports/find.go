package reports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Visit is a visit to one URI, as logged.
type Visit struct {
	At      time.Time     // of logging
	Status  int           // HTTP status, or a negative code of Heritrix
	State   string        // "changed", "unchanged", "unknown" or "failed", see the package comment
	Size    int64         // bytes of the body; negative = none
	MIME    string        // as the log has it
	Wait    time.Duration // until the next visit
	Overdue time.Duration
	Notes   []string // annotations, except the ones of the schedule
}

// Bounds says how much of a log [Find] reads.
type Bounds struct {
	Visits int         // maximum number of visits that are returned
	Bytes  int64       // maximum number of bytes that are read, after decompression
	Stop   func() bool // if set: ends the search when it returns true
}

// Found holds the result of [Find].
type Found struct {
	Visits   []Visit   // oldest first
	Complete bool      // false = older bytes or files were not read
	Since    time.Time // Visits has all visits that were logged since then; zero if nothing was read
}

// Find returns the visits to a URI that are in a log and in the rotated files next to it. It reads from the newest line
// back until a bound is reached. A compressed file is read from its beginning.
func Find(ctx context.Context, path, uri string, b Bounds) (out Found, err error) {
	logs, err := Follow(path, Position{}).logs()
	if err != nil {
		return out, err
	}
	out.Complete = true
	s := search{Bounds: b, wanted: []byte(" " + uri + " "), uri: uri}
	for _, l := range slices.Backward(logs) {
		if s.ends(ctx) {
			out.Complete = false
			break
		}
		whole, err := s.file(ctx, l.name)
		if err != nil {
			return Found{}, err
		}
		if out.Complete = whole; !whole {
			break
		}
	}
	slices.Reverse(s.visits)
	out.Visits, out.Since = s.visits, s.since
	return out, ctx.Err()
}

// search is a search for the visits to a URI.
type search struct {
	Bounds
	uri    string
	wanted []byte  // part of each line about the URI
	visits []Visit // newest first
	since  time.Time
	block  []byte
}

// ends reports whether a bound is reached.
func (s *search) ends(ctx context.Context) bool {
	return s.Visits <= 0 || s.Bytes <= 0 || ctx.Err() != nil || s.Stop != nil && s.Stop()
}

// file searches a file. whole is false if a bound ended the search in it.
func (s *search) file(ctx context.Context, name string) (whole bool, err error) {
	f, err := fileio.OpenText(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if f.Compressed() {
		return s.compressed(ctx, f)
	}
	return s.backwards(ctx, f)
}

// compressed searches a file that can only be read forwards.
func (s *search) compressed(ctx context.Context, f *fileio.Text) (whole bool, err error) {
	buffer := bufio.NewReaderSize(f, 8*crawllog.MaxLine)
	var visits []Visit
	var oldest []byte
	for !s.ends(ctx) {
		n, line, err := nextLine(buffer)
		s.Bytes -= n
		if err != nil {
			s.note(oldest)
			s.take(visits)
			return errors.Is(err, io.EOF) && s.Visits >= 0, ignoreEnd(err)
		}
		if oldest == nil && isEntry(line) {
			oldest = bytes.Clone(line)
		}
		if v, ok := visitOf(line, s.wanted, s.uri); ok {
			visits = append(visits, v)
		}
	}
	return false, nil // the newest lines were not read, so these visits would leave a gap behind them
}

// take takes the newest of the visits of a part that was read, which are the oldest first. Visits is negative
// afterwards if there were too many.
func (s *search) take(visits []Visit) {
	kept := visits[max(0, len(visits)-s.Visits):]
	if len(kept) > 0 && len(kept) < len(visits) {
		s.since = kept[0].At
	}
	s.Visits -= len(visits)
	slices.Reverse(kept)
	s.visits = append(s.visits, kept...)
}

// blockSize is how many bytes of a file are searched at once.
const blockSize = 1 << 20

// backwards searches a file from its end. A line that the begin of a block divides is searched with the block before.
func (s *search) backwards(ctx context.Context, f *fileio.Text) (whole bool, err error) {
	end, err := f.Size()
	if err != nil {
		return false, err
	}
	stop := max(0, end-s.Bytes) // probably in the middle of a line, which is skipped
	cut := true                 // the text before end is part of a line: one that is being written, or is too long
	for end > stop {
		if s.ends(ctx) {
			return false, nil
		}
		from := max(stop, end-blockSize)
		text, err := s.read(f, from, end)
		if err != nil {
			return false, err
		}
		if cut || int64(len(text)) < end-from { // the file has shrunk
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		begin := 0
		if from > 0 {
			begin = bytes.IndexByte(text, '\n') + 1
		}
		s.lines(text[begin:])
		next := from + int64(begin)
		if cut = next >= end || begin == 0; cut { // no line begins in the block
			next = from
		}
		s.Bytes -= end - next
		if end = next; from == stop {
			break
		}
	}
	return stop == 0 && s.Visits >= 0, nil
}

// read reads a part of a file. It returns less if the file has shrunk.
func (s *search) read(f *fileio.Text, from, end int64) ([]byte, error) {
	if int64(len(s.block)) < end-from {
		s.block = make([]byte, end-from)
	}
	n, err := f.ReadAt(s.block[:end-from], from)
	return s.block[:n], ignoreEnd(err)
}

// lines searches whole lines.
func (s *search) lines(text []byte) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); isEntry(line) {
			s.note(line)
			break
		}
	}
	var visits []Visit
	for {
		at := bytes.Index(text, s.wanted)
		if at < 0 {
			break
		}
		line, rest, _ := bytes.Cut(text[bytes.LastIndexByte(text[:at], '\n')+1:], newline)
		if v, ok := visitOf(bytes.TrimRight(line, "\r"), s.wanted, s.uri); ok {
			visits = append(visits, v)
		}
		text = rest
	}
	s.take(visits)
}

var newline = []byte("\n")

// isEntry reports whether a line is an entry of a log.
func isEntry(line []byte) bool {
	var g crawllog.RawEntry
	return g.Parse(line)
}

// note notes the time of a line, if it is the oldest one so far. It does nothing if the line is no entry.
func (s *search) note(line []byte) {
	var g crawllog.RawEntry
	if !g.Parse(line) {
		return
	}
	if at := time.UnixMilli(g.Logged).UTC(); s.since.IsZero() || at.Before(s.since) {
		s.since = at
	}
}

// visitOf reads a line if it is of the URI. wanted is part of each such line, for a fast check.
func visitOf(line, wanted []byte, uri string) (Visit, bool) {
	var g crawllog.RawEntry
	if !bytes.Contains(line, wanted) || !g.Parse(line) || string(g.URI) != uri {
		return Visit{}, false
	}
	var t Tally
	t.Add(&g)
	v := Visit{
		At: time.UnixMilli(g.Logged).UTC(), Status: g.Status, State: "unknown", Size: g.Size,
		MIME: string(g.MIME), Wait: g.Wait, Overdue: g.Overdue,
	}
	switch {
	case t.Failed+t.NotTried > 0:
		v.State = "failed"
	case t.Versions > 0:
		v.State = "changed"
	case t.Unchanged > 0:
		v.State = "unchanged"
	}
	if e, err := crawllog.Parse(string(line)); err == nil {
		v.Notes = slices.DeleteFunc(e.Annotations, func(a string) bool {
			return a == crawllog.Unchanged || strings.HasPrefix(a, crawllog.Spared)
		})
	}
	return v, true
}
