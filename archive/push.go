package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

const (
	// pushAttempts is how often lines are sent to a server that fails.
	pushAttempts = 4
	// firstPause is the pause after the first failure. It doubles with each failure.
	firstPause = time.Second
)

// push sends the index of finished WARC files to a collection, file by file.
type push struct {
	Collection *cdxCollection
	Server     string     // in messages; without a password
	Sent       *sentFiles // the files that need not be sent

	// Finding is called with each damaged record.
	Finding func(warc.Finding) error
	// Open is called with each file that is still being written. Such files are skipped.
	Open func(path string)
	// Leave reports which files are left out; nil = none.
	Leave func(warc.File) bool
	// Wait waits between attempts.
	Wait func(ctx context.Context, d time.Duration) error

	captures, files, total atomic.Int64 // see Progress

	batch   []index.Entry
	size    int // of the lines of batch, in bytes
	refused int64
}

// pushResult counts what a push did.
type pushResult struct {
	Captures int64 // sent
	Files    int   // sent
	Known    int   // files that were sent before
	Open     int   // files that are still being written
	Refused  int64 // captures that the server does not accept
	Damaged  int   // errors in WARC files
}

// Progress returns how many files of how many were read, and how many captures were sent. It may be called while Run
// runs.
func (p *push) Progress() (files, total, captures int64) {
	return p.files.Load(), p.total.Load(), p.captures.Load()
}

// Run sends the captures of all WARC files in paths that were not sent before. A damaged file is not remembered as
// sent, so the next push reports its damage again.
func (p *push) Run(ctx context.Context, paths []string) (r pushResult, err error) {
	report := p.Collection.Refused
	p.Collection.Refused = func(e index.Entry, why error) {
		p.refused++
		report(e, why)
	}
	files, faults := warc.Files(paths)
	files = warc.Without(files, p.Leave)
	r.Damaged = len(faults)
	if err := warc.ReportAll(faults, p.Finding); err != nil {
		return r, err
	}
	p.total.Store(int64(len(files)))
	for n, f := range files {
		p.files.Store(int64(n))
		switch {
		case strings.HasSuffix(f.Path, ".open"):
			r.Open++
			p.Open(f.Path)
			continue
		case p.Sent.Has(f):
			r.Known++
			continue
		}
		damaged, err := p.file(ctx, f)
		if err != nil {
			return r, fmt.Errorf("send the index of %s, file %d of %d, to %s: %w; %d captures of the files before are there. "+
				"Run the command again to continue: lines that are sent twice are stored once", f.Path, n+1, len(files), p.Server, err, p.captures.Load())
		}
		if r.Damaged += damaged; damaged > 0 {
			continue
		}
		r.Files++
		if err := p.Sent.Add(f); err != nil {
			return r, err
		}
	}
	r.Captures, r.Refused = p.captures.Load(), p.refused
	return r, nil
}

// file sends the captures of one file. It returns the number of errors in it.
func (p *push) file(ctx context.Context, f warc.File) (damaged int, _ error) {
	before := p.captures.Load()
	take := func(line string) error { return p.add(ctx, line) }
	finding := warc.CountErrors(&damaged, p.Finding)
	_, err := index.Build(ctx, []string{f.Path}, index.Options{Name: f.Name}, &lineWriter{take: take}, finding)
	if err == nil {
		err = p.flush(ctx)
	}
	if err != nil {
		p.batch, p.size = nil, 0
		p.captures.Store(before)
	}
	return damaged, err
}

// add adds a line of CDXJ to the batch, and sends the batch when it is full.
func (p *push) add(ctx context.Context, line string) error {
	e, err := index.ParseEntry(line)
	if err != nil {
		return err
	}
	p.batch = append(p.batch, e)
	if p.size += len(line); len(p.batch) < maxPushLines && p.size < maxPushBytes {
		return nil
	}
	return p.flush(ctx)
}

// flush sends the batch. It tries again when the server fails.
func (p *push) flush(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	refused := p.refused
	err := p.Collection.Send(ctx, p.batch)
	for n, pause := 1, firstPause; err != nil; n, pause = n+1, 2*pause {
		if n == pushAttempts || ctx.Err() != nil || errors.Is(err, errRefused) {
			return err
		}
		if err := p.Wait(ctx, pause); err != nil {
			return err
		}
		err = p.Collection.Send(ctx, p.batch)
	}
	p.captures.Add(int64(len(p.batch)) - (p.refused - refused))
	p.batch, p.size = p.batch[:0], 0
	return nil
}

// lineWriter calls take with each whole line that is written to it, in pieces of any size.
type lineWriter struct {
	take func(line string) error
	part bytes.Buffer // the beginning of a line
}

// Write takes a piece of the lines.
func (w *lineWriter) Write(b []byte) (int, error) {
	w.part.Write(b)
	for {
		line, err := w.part.ReadString('\n')
		if err != nil { // the end of the line follows
			w.part.WriteString(line)
			return len(b), nil
		}
		if err := w.take(line); err != nil {
			return 0, err
		}
	}
}

// The bounds of one request to a server.
const (
	maxPushLines = 1000
	maxPushBytes = 1 << 20
)

// maxRefused is how many lines a server may refuse in a row, each alone, before the server is considered faulty.
const maxRefused = 16

// errRefused says that the server found a fault in the lines that it received.
var errRefused = errors.New("the server refuses the lines")

// cdxCollection is a collection of an OutbackCDX server.
type cdxCollection struct {
	// Post sends lines to the collection. It returns the status and the beginning of the answer.
	Post func(ctx context.Context, lines []byte) (status int, answer string, err error)
	// Refused is called with each line that the server does not accept although it accepts others.
	Refused func(e index.Entry, why error)

	works bool // the server has accepted lines
}

// Send sends entries to the collection. An entry that the server refuses alone is skipped if the server has accepted
// others. So one faulty line does not delay the others, and nothing is lost if a server refuses everything. The
// entries are to be sent again after an error; lines that a server has twice are stored once.
func (c *cdxCollection) Send(ctx context.Context, entries []index.Entry) error {
	var refused []index.Entry
	var why error
	for parts := [][]index.Entry{entries}; len(parts) > 0; {
		part := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		err := c.post(ctx, part)
		switch {
		case err == nil:
			c.works = true
		case !errors.Is(err, errRefused):
			return err
		case len(part) > 1:
			half := len(part) / 2
			parts = append(parts, part[half:], part[:half])
		default:
			refused, why = append(refused, part[0]), err
		}
		if !c.works && len(refused) >= maxRefused {
			return why
		}
	}
	if !c.works {
		return why
	}
	for _, e := range refused {
		c.Refused(e, why)
	}
	return nil
}

// post sends entries in one request. It requires an answer in the words of OutbackCDX, because a proxy may also
// answer 200.
func (c *cdxCollection) post(ctx context.Context, entries []index.Entry) error {
	lines := []byte(" CDX N b a m s k r M S V g\n")
	for _, e := range entries {
		lines = e.AppendCDX(lines)
	}
	status, answer, err := c.Post(ctx, lines)
	if err != nil {
		return err
	}
	answer, _, _ = strings.Cut(answer, "\n")
	switch {
	case status/100 == 2 && strings.HasPrefix(answer, "Added "):
		return nil
	case status == http.StatusBadRequest:
		return fmt.Errorf("%w: it answers %d: %.200q", errRefused, status, answer)
	default:
		return fmt.Errorf("the server answers %d: %.200q; want 200 and \"Added …\": is this the address of a collection of OutbackCDX?", status, answer)
	}
}

// errOtherServer says that a list of sent files belongs to another server.
var errOtherServer = errors.New("the list belongs to another server")

// sentFiles is a list of the files whose captures a server has. The list is a text: its first line names the server,
// and each other line a file with its size, its time of change and its name. The zero value lists nothing and
// remembers nothing.
type sentFiles struct {
	file  *os.File
	lines map[string]bool
}

// openSentFiles opens the list for a server, and makes it if there is none. An empty path makes a list that remembers
// nothing. The error wraps [errOtherServer] if it is the list of another server.
func openSentFiles(path, server string) (*sentFiles, error) {
	if path == "" {
		return &sentFiles{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s := &sentFiles{file: f, lines: map[string]bool{}}
	if err := s.read("server " + server); err != nil {
		return nil, errors.Join(fmt.Errorf("read the list of sent files %s: %w", path, err), f.Close())
	}
	return s, nil
}

// read reads the list, which begins with the line head.
func (s *sentFiles) read(head string) error {
	lines := bufio.NewScanner(s.file)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return err
		}
		return s.write(head)
	}
	if lines.Text() != head {
		return fmt.Errorf("%w: it begins with %q, want %q", errOtherServer, lines.Text(), head)
	}
	for lines.Scan() {
		s.lines[lines.Text()] = true
	}
	return lines.Err()
}

// Has reports whether the list has the file as it is now.
func (s *sentFiles) Has(f warc.File) bool { return s.lines[f.Stamp()] }

// Add adds the file as it is now to the list.
func (s *sentFiles) Add(f warc.File) error {
	if s.file == nil {
		return nil
	}
	return s.write(f.Stamp())
}

// Close closes the list.
func (s *sentFiles) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// write appends a line and makes it safe on disk.
func (s *sentFiles) write(line string) error {
	if _, err := io.WriteString(s.file, line+"\n"); err != nil {
		return fmt.Errorf("write the list of sent files: %w", err)
	}
	return s.file.Sync()
}
