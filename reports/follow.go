package reports

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Position says how far a log was read. A file is identified by its first line, because rotation changes its name. The
// zero Position is the beginning of the oldest file.
type Position struct {
	First  string `json:"first_line"` // the first 16 bytes of the SHA-256 of the first line of the file, in hexadecimal
	Offset int64  `json:"offset"`     // bytes of that file that were read, uncompressed
	Logged int64  `json:"logged"`     // ms since 1970 of the last line that was read
}

// Follower reads the lines that are added to a log, across rotation by renaming, by compressing and by copying. It
// keeps no file open. Until the next [Follower.Poll], rotated files must stay in the folder of the log, under names
// that begin with its name.
type Follower struct {
	path     string
	position Position
}

// Follow returns a Follower that begins where an earlier one stopped.
func Follow(path string, from Position) *Follower { return &Follower{path: path, position: from} }

// Position returns how far the log was read.
func (f *Follower) Position() Position { return f.position }

// ErrGap says that the file that was read last no longer exists. Lines between there and the oldest file may be
// missing.
var ErrGap = errors.New("the log that was read last no longer exists; lines may have been missed")

// Poll calls each with the lines that were added since the last Poll, in order, and skips lines that do not belong to
// a crawl log. If the error is [ErrGap], all lines that still exist were passed to each. Other errors are about files
// that cannot be read; the next Poll tries again.
func (f *Follower) Poll(ctx context.Context, each func(*crawllog.RawEntry)) error {
	if l, ok, err := readFirst(f.path); err == nil && ok && l.first == f.position.First {
		if err := f.read(ctx, l, false, each); err != nil { // no other file is opened
			return fmt.Errorf("read %s: %w", l.name, err)
		}
		return nil
	}
	logs, err := f.logs()
	if err != nil || len(logs) == 0 {
		return err
	}
	at := slices.IndexFunc(logs, func(l logFile) bool { return l.first == f.position.First })
	gap := at < 0 && f.position.First != ""
	if at >= 0 {
		logs = logs[at:]
	}
	for _, l := range logs {
		err := f.read(ctx, l, gap, each)
		switch {
		case err != nil && gap:
			return fmt.Errorf("read %s: %w; %w", l.name, err, ErrGap)
		case err != nil:
			return fmt.Errorf("read %s: %w", l.name, err)
		}
	}
	if gap {
		return ErrGap
	}
	return ctx.Err()
}

// SkipToEnd moves to the end of the newest file.
func (f *Follower) SkipToEnd() error {
	logs, err := f.logs()
	if err != nil || len(logs) == 0 {
		return err
	}
	newest := logs[len(logs)-1]
	r, err := fileio.OpenText(newest.name)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.position.First = newest.first; r.Compressed() {
		f.position.Offset, err = io.Copy(io.Discard, r)
		return err
	}
	end, err := r.Size()
	if err != nil {
		return err
	}
	tail := make([]byte, min(end, 8*crawllog.MaxLine))
	if _, err := r.ReadAt(tail, end-int64(len(tail))); err != nil {
		return err
	}
	f.position.Offset = end - int64(len(tail)-1-bytes.LastIndexByte(tail, '\n'))
	return nil
}

// logFile is one file of a rotated log.
type logFile struct {
	name   string
	first  string // see Position
	logged int64  // of its first line, ms
}

// logs lists the files of the log that have a line, oldest first. It lists copies of a file once.
func (f *Follower) logs() ([]logFile, error) {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil, err
	}
	var logs []logFile
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), filepath.Base(f.path)) {
			continue
		}
		l, ok, err := readFirst(filepath.Join(filepath.Dir(f.path), e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // renamed meanwhile; the next call finds it
		}
		if err != nil {
			return nil, err
		}
		if ok && !slices.ContainsFunc(logs, func(o logFile) bool { return o.first == l.first }) {
			logs = append(logs, l)
		}
	}
	slices.SortStableFunc(logs, func(a, b logFile) int { return cmp.Compare(a.logged, b.logged) })
	return logs, nil
}

// readFirst reads the first line of a file. ok is false if the line does not belong to a crawl log.
func readFirst(name string) (l logFile, ok bool, err error) {
	r, err := fileio.OpenText(name)
	if err != nil {
		return l, false, err
	}
	defer r.Close()
	_, line, err := nextLine(bufio.NewReaderSize(r, crawllog.MaxLine))
	var g crawllog.RawEntry
	if err != nil || !g.Parse(line) {
		return l, false, nil
	}
	sum := sha256.Sum256(line)
	return logFile{name: name, first: hex.EncodeToString(sum[:16]), logged: g.Logged}, true, nil
}

// read passes the new lines of l to each. After a gap, new lines are the lines logged later than all lines that were
// read before.
func (f *Follower) read(ctx context.Context, l logFile, gap bool, each func(*crawllog.RawEntry)) error {
	r, err := fileio.OpenText(l.name)
	if err != nil {
		return err
	}
	defer r.Close()
	if l.first != f.position.First {
		f.position.First, f.position.Offset = l.first, 0
	}
	if err := r.Skip(f.position.Offset); err != nil {
		return fmt.Errorf("the file is shorter than the %d bytes that were read before: %w", f.position.Offset, err)
	}
	after := f.position.Logged
	buffer := bufio.NewReaderSize(r, 8*crawllog.MaxLine)
	for ctx.Err() == nil {
		n, line, err := nextLine(buffer)
		if err != nil {
			return ignoreEnd(err)
		}
		f.position.Offset += n
		var g crawllog.RawEntry
		if !g.Parse(line) || gap && g.Logged <= after {
			continue
		}
		f.position.Logged = max(f.position.Logged, g.Logged)
		each(&g)
	}
	return ctx.Err()
}

// FollowFrom returns a Follower that begins at the position that [Position.Store] stored in a file, or at the beginning
// of the log if the file does not exist. If no file is named, it begins at the end of the log.
func FollowFrom(path, file string) (*Follower, error) {
	var from Position
	if file == "" {
		f := Follow(path, from)
		return f, f.SkipToEnd()
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &from)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the offset %s: %w; remove the file to start from the beginning", file, err)
	}
	return Follow(path, from), nil
}

// Store replaces a file with the position.
func (p Position) Store(file string) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = fileio.Write(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("store the offset in %s: %w", file, err)
	}
	return nil
}
