package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

const (
	// attempts is how often lines are sent to a server that fails.
	attempts = 4
	// firstPause is the pause after the first failure. It doubles with each failure.
	firstPause = time.Second
)

// Push sends the index of finished WARC files to a collection, file by file.
type Push struct {
	Collection *Collection
	Server     string     // in messages; without a password
	Sent       *SentFiles // the files that need not be sent

	// Finding is called with each damaged record.
	Finding func(warc.Finding) error
	// Open is called with each file that is still being written. Such files are skipped.
	Open func(path string)
	// Wait waits between attempts.
	Wait func(ctx context.Context, d time.Duration) error

	captures, files, total atomic.Int64 // see Progress

	batch   []index.Entry
	size    int // of the lines of batch, in bytes
	refused int64
}

// Result counts what a push did.
type Result struct {
	Captures int64 // sent
	Files    int   // sent
	Known    int   // files that were sent before
	Open     int   // files that are still being written
	Refused  int64 // captures that the server does not accept
	Damaged  int   // errors in WARC files
}

// Progress returns how many files of how many were read, and how many captures were sent. It may be called while Run
// runs.
func (p *Push) Progress() (files, total, captures int64) {
	return p.files.Load(), p.total.Load(), p.captures.Load()
}

// Run sends the captures of all WARC files in paths that were not sent before. A damaged file is not remembered as
// sent, so the next push reports its damage again.
func (p *Push) Run(ctx context.Context, paths []string) (r Result, err error) {
	if p.Collection.Refused == nil {
		return r, errors.New("push to OutbackCDX: no function for refused lines")
	}
	report := p.Collection.Refused
	p.Collection.Refused = func(e index.Entry, why error) {
		p.refused++
		report(e, why)
	}
	files, faults := warc.Files(paths)
	r.Damaged = len(faults)
	for _, f := range faults {
		if err := p.Finding(*f); err != nil {
			return r, err
		}
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
func (p *Push) file(ctx context.Context, f warc.File) (damaged int, _ error) {
	before := p.captures.Load()
	take := func(line string) error { return p.add(ctx, line) }
	finding := func(f warc.Finding) error {
		if f.Severity == warc.Error {
			damaged++
		}
		return p.Finding(f)
	}
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
func (p *Push) add(ctx context.Context, line string) error {
	e, err := index.ParseEntry(line)
	if err != nil {
		return err
	}
	p.batch = append(p.batch, e)
	if p.size += len(line); len(p.batch) < MaxLines && p.size < MaxBytes {
		return nil
	}
	return p.flush(ctx)
}

// flush sends the batch. It tries again when the server fails.
func (p *Push) flush(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	refused := p.refused
	err := p.Collection.Send(ctx, p.batch)
	for n, pause := 1, firstPause; err != nil; n, pause = n+1, 2*pause {
		if n == attempts || ctx.Err() != nil || errors.Is(err, ErrRefused) {
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
