package stats

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/crawllog"
)

// Place is how far a log was read. The file is known by its first line, whatever it is called by now. The zero Place is
// the beginning of the oldest log there is.
type Place struct {
	First  string `json:"first_line"` // the first 16 bytes of the SHA-256 of the first line of the file, in hexadecimal
	Offset int64  `json:"offset"`     // bytes of that file that were read, uncompressed
	Logged int64  `json:"logged"`     // ms since 1970 of the last line that was read
}

// Follower reads what is added to a log, across rotation by renaming, with or without compression, and by copying. It keeps no file
// open. The rotated files have to stay in the folder of the log, with names that begin like its own, until the next [Follower.Poll].
type Follower struct {
	path  string
	place Place
}

// Follow begins where an earlier Follower was.
func Follow(path string, from Place) *Follower { return &Follower{path: path, place: from} }

// Place is how far the log was read.
func (f *Follower) Place() Place { return f.place }

// ErrGap says that the file where reading had stopped is gone: lines between there and the oldest file may be missing.
var ErrGap = errors.New("the log that was read last is no longer there; lines may have been missed")

// Poll hands out each line that was added since, in order; those of a crawl log only. With [ErrGap] all lines that are
// still there have been handed out. Other errors are of files that cannot be read; the next Poll tries again.
func (f *Follower) Poll(ctx context.Context, each func(*crawllog.Glance)) error {
	logs, err := f.logs()
	if err != nil || len(logs) == 0 {
		return err
	}
	at := slices.IndexFunc(logs, func(l logFile) bool { return l.first == f.place.First })
	gap := at < 0 && f.place.First != ""
	if at >= 0 {
		logs = logs[at:]
	}
	for _, l := range logs {
		if err := f.read(ctx, l, gap, each); err != nil {
			return fmt.Errorf("read %s: %w", l.name, err)
		}
	}
	if gap {
		return ErrGap
	}
	return ctx.Err()
}

// SkipToEnd moves on to the end of the newest file.
func (f *Follower) SkipToEnd() error {
	logs, err := f.logs()
	if err != nil || len(logs) == 0 {
		return err
	}
	newest := logs[len(logs)-1]
	r, err := os.Open(newest.name)
	if err != nil {
		return err
	}
	defer r.Close()
	end, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	tail := make([]byte, min(end, 8*crawllog.MaxLine))
	if _, err := r.ReadAt(tail, end-int64(len(tail))); err != nil {
		return err
	}
	f.place = Place{First: newest.first, Offset: end - int64(len(tail)-1-bytes.LastIndexByte(tail, '\n'))}
	return nil
}

// logFile is one file of a rotated log.
type logFile struct {
	name   string
	first  string // see Place
	logged int64  // of its first line, ms
}

// logs lists the files of the log that have a line, the oldest first. A copy of a file counts once.
func (f *Follower) logs() ([]logFile, error) {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil, err
	}
	var found []logFile
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), filepath.Base(f.path)) {
			continue
		}
		l, ok, err := lookAt(filepath.Join(filepath.Dir(f.path), e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // it was renamed just now; the next look finds it
		}
		if err != nil {
			return nil, err
		}
		if ok && !slices.ContainsFunc(found, func(o logFile) bool { return o.first == l.first }) {
			found = append(found, l)
		}
	}
	slices.SortStableFunc(found, func(a, b logFile) int { return cmp.Compare(a.logged, b.logged) })
	return found, nil
}

// lookAt reads the first line of a file; ok is false if that is none of a crawl log.
func lookAt(name string) (l logFile, ok bool, err error) {
	r, err := open(name)
	if err != nil {
		return l, false, err
	}
	defer r.Close()
	_, line, err := nextLine(bufio.NewReaderSize(r, crawllog.MaxLine))
	var g crawllog.Glance
	if err != nil || !g.Read(line) {
		return l, false, nil
	}
	sum := sha256.Sum256(line)
	return logFile{name: name, first: hex.EncodeToString(sum[:16]), logged: g.Logged}, true, nil
}

// open unpacks a file whose name ends in .gz.
func open(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return f, err
	}
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return io.NopCloser(bytes.NewReader(nil)), errors.Join(f.Close(), ignoreEnd(err))
	}
	return unpackedFile{unpacked, f}, nil
}

type unpackedFile struct {
	io.Reader
	io.Closer
}

// read hands out what is new in l. After a gap that is what was logged later than all that was read before.
func (f *Follower) read(ctx context.Context, l logFile, gap bool, each func(*crawllog.Glance)) error {
	r, err := open(l.name)
	if err != nil {
		return err
	}
	defer r.Close()
	if l.first != f.place.First {
		f.place.First, f.place.Offset = l.first, 0
	}
	if err := skip(r, f.place.Offset); err != nil {
		return fmt.Errorf("there are fewer than the %d bytes that were read before: %w", f.place.Offset, err)
	}
	after := f.place.Logged
	buffer := bufio.NewReaderSize(r, 8*crawllog.MaxLine)
	for ctx.Err() == nil {
		n, line, err := nextLine(buffer)
		if err != nil {
			return ignoreEnd(err)
		}
		f.place.Offset += n
		var g crawllog.Glance
		if !g.Read(line) || gap && g.Logged <= after {
			continue
		}
		f.place.Logged = max(f.place.Logged, g.Logged)
		each(&g)
	}
	return ctx.Err()
}

// skip passes over the first n bytes.
func skip(r io.Reader, n int64) error {
	if file, ok := r.(*os.File); ok {
		_, err := file.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}
