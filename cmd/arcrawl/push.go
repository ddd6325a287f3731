package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/fetch"
)

// pushRest is the pause after a failure; it doubles with each.
const pushRest = time.Second

// pushTries is how often lines are sent to a server that fails, with a pause that doubles between.
const pushTries = 4

// push sends the index of finished files to an OutbackCDX server, file by file.
type push struct {
	cmd    *cobra.Command
	server string // without its password
	to     outback
	done   *sentFiles
	see    func(warc.Finding) error
	pause  time.Duration // after trouble; see pushRest

	part    bytes.Buffer // of a line
	batch   []index.Entry
	bytes   int
	refused int64

	sent, read, all atomic.Int64 // captures; files of all
}

// newPush opens the list of what was sent; see sentFiles.
func newPush(cmd *cobra.Command, server, donePath string, asJSON bool) (p *push, err error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return nil, usageError{fmt.Errorf("--push %q: want the address of a collection, such as http://localhost:8901/arcrawl", server)}
	}
	p = &push{cmd: cmd, server: u.Redacted(), see: printFinding(cmd.ErrOrStderr(), asJSON), pause: pushRest}
	p.to.post = func(ctx context.Context, lines []byte) (int, string, error) {
		return fetch.PostLines(ctx, server, "arcrawl/"+programVersion(), lines)
	}
	p.to.leaveOut = func(e index.Entry, why error) {
		p.refused++
		fmt.Fprintf(cmd.ErrOrStderr(), "%s:%d: %s is left out: %v\n", e.Filename, e.Offset, e.URL, why)
	}
	p.done, err = openSentFiles(donePath, p.server)
	return p, err
}

// run sends the captures of all files.
func (p *push) run(paths []string) (err error) {
	defer func() { err = errors.Join(err, p.done.close()) }()
	files, faults := warc.Files(paths)
	for _, f := range faults {
		if err := p.see(*f); err != nil {
			return err
		}
	}
	p.all.Store(int64(len(files)))
	stop := showLine(p.cmd.ErrOrStderr(), func() string {
		return fmt.Sprintf("%d of %d files, %d captures sent", p.read.Load(), p.all.Load(), p.sent.Load())
	})
	defer stop()
	return p.files(files, len(faults))
}

// files sends the captures of files, and tells at the end what became of them.
func (p *push) files(files []warc.File, damaged int) error {
	known, open, sent := 0, 0, 0
	for n, f := range files {
		p.read.Store(int64(n))
		switch {
		case strings.HasSuffix(f.Path, ".open"):
			open++
			fmt.Fprintf(p.cmd.ErrOrStderr(), "%s: still open, and left out: its name is going to change\n", f.Path)
			continue
		case p.done.has(f):
			known++
			continue
		}
		found, err := p.file(f)
		if err != nil {
			return fmt.Errorf("send the index of %s, file %d of %d, to %s: %w; %d captures of the files before are there. "+
				"Run it again to go on: what is sent twice changes nothing there", f.Path, n+1, len(files), p.server, err, p.sent.Load())
		}
		if damaged += found; found > 0 {
			continue // it is named again the next time
		}
		sent++
		if err := p.done.add(f); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.cmd.ErrOrStderr(), "%d captures of %d files sent to %s; %d files were sent before, %d are still open; %d captures refused, %d errors\n",
		p.sent.Load(), sent, p.server, known, open, p.refused, damaged)
	switch {
	case err != nil:
		return err
	case damaged > 0:
		return fmt.Errorf("%w: %d errors, named above; all else was sent", warc.ErrDamaged, damaged)
	case p.refused > 0:
		return fmt.Errorf("%s refused %d captures, named above; all others are there", p.server, p.refused)
	}
	return nil
}

// file sends the captures of one file. Found counts what is damaged in it.
func (p *push) file(f warc.File) (found int, _ error) {
	before := p.sent.Load()
	o := index.Options{Name: f.Name}
	_, err := index.Build(p.cmd.Context(), []string{f.Path}, o, p, func(f warc.Finding) error {
		if f.Severity == warc.Error {
			found++
		}
		return p.see(f)
	})
	if err == nil {
		err = p.flush()
	}
	if err != nil {
		p.batch, p.bytes = nil, 0
		p.sent.Store(before)
	}
	return found, err
}

// Write takes lines of CDXJ, in pieces of any size.
func (p *push) Write(b []byte) (int, error) {
	p.part.Write(b)
	for {
		line, err := p.part.ReadString('\n')
		if err != nil {
			p.part.WriteString(line) // its end is still to come
			return len(b), nil
		}
		e, err := index.ParseEntry(line)
		if err != nil {
			return 0, err
		}
		p.batch = append(p.batch, e)
		if p.bytes += len(line); len(p.batch) < pushLines && p.bytes < pushBytes {
			continue
		}
		if err := p.flush(); err != nil {
			return 0, err
		}
	}
}

// flush sends what has come together.
func (p *push) flush() error {
	ctx, pause := p.cmd.Context(), p.pause
	refused := p.refused
	for try := 1; len(p.batch) > 0; try++ {
		err := p.to.deliver(ctx, p.batch)
		switch {
		case err == nil:
			p.sent.Add(int64(len(p.batch)) - (p.refused - refused))
			p.batch, p.bytes = p.batch[:0], 0
			continue
		case try == pushTries || ctx.Err() != nil || errors.Is(err, errRefused):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
	return nil
}

// sentFiles is the list of the files whose captures a server has: one line for each, with size, time of change and name, below one that
// says which server. Without a path nothing is listed.
type sentFiles struct {
	file *os.File
	list map[string]bool
}

func openSentFiles(path, server string) (*sentFiles, error) {
	s := &sentFiles{list: map[string]bool{}}
	if path == "" {
		return s, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, daemon.FolderError{Err: fmt.Errorf("--done: %w", err)}
	}
	s.file = f
	head := "server " + server
	lines := bufio.NewScanner(f)
	switch {
	case !lines.Scan():
		err = errors.Join(lines.Err(), s.line(head))
	case lines.Text() != head:
		err = usageError{fmt.Errorf("--done %s: it is the list of %q, not of %s: name another file", path, lines.Text(), server)}
	}
	for lines.Scan() {
		s.list[lines.Text()] = true
	}
	if err = errors.Join(err, lines.Err()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// sentLine describes a file as it is now; empty when it is gone.
func sentLine(f warc.File) string {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), f.Name)
}

func (s *sentFiles) has(f warc.File) bool { return s.list[sentLine(f)] }

func (s *sentFiles) add(f warc.File) error {
	if s.file == nil {
		return nil
	}
	return s.line(sentLine(f))
}

func (s *sentFiles) line(text string) error {
	if _, err := io.WriteString(s.file, text+"\n"); err != nil {
		return fmt.Errorf("note what was sent: %w", err)
	}
	return s.file.Sync()
}

func (s *sentFiles) close() error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
