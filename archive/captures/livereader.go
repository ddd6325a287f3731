package captures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// readerAge is how long a [LiveReader] uses its list of the files in the folder. New captures are found at once, and
// so are files that were moved; only packages and indexes that another program made are found later.
const readerAge = time.Minute

// LiveReader looks captures up in an archive while it is written, including those in files that are still open. It
// never reads whole files: it uses the sorted indexes and the lines of a [Live]. Captures in files that no index
// covers are not found, see [Library.Unindexed]. Its methods are safe for concurrent use.
type LiveReader struct {
	live *index.Live

	mu      sync.Mutex // guards current, and the users of all libraries
	current *lent
}

// lent is a library that several users share. It is closed when it is old and nobody uses it.
type lent struct {
	library *Library
	opened  time.Time
	merges  int64 // of the live index, when the library was opened
	users   int
	old     bool
}

// NewLiveReader returns a reader for the folder of a live index, and nil without one. It is closed before the index.
func NewLiveReader(live *index.Live) *LiveReader {
	if live == nil {
		return nil
	}
	reader := &LiveReader{live: live}
	live.OnClose(reader.Close)
	return reader
}

// Open returns a library of the archive as it is now. The caller calls release when it is done.
func (s *LiveReader) Open(now time.Time) (l *Library, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.current
	if c == nil || now.Sub(c.opened).Abs() > readerAge || c.merges != s.live.Merges() {
		if err := s.renew(now); err != nil {
			return nil, nil, err
		}
	}
	c = s.current
	c.users++
	return c.library, sync.OnceFunc(func() { s.release(c) }), nil
}

// renew opens the library again. The lock is held.
func (s *LiveReader) renew(now time.Time) error {
	merges := s.live.Merges()
	dir := s.live.Dir()
	l := &Library{dir: dir, files: map[string]warc.File{}, report: func(warc.Finding) error { return nil }, live: s.live}
	if err := l.open(context.Background(), Options{}); err != nil {
		return errors.Join(fmt.Errorf("open the index of %s: %w", dir, err), l.Close())
	}
	if before := s.current; before != nil {
		before.old = true
		before.closeUnused()
	}
	s.current = &lent{library: l, opened: now, merges: merges}
	return nil
}

func (s *LiveReader) release(c *lent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.users--
	c.closeUnused()
}

// closeUnused closes an old library without users. Its files were only read.
func (c *lent) closeUnused() {
	if c.old && c.users == 0 {
		_ = c.library.Close()
	}
}

// Close closes the library that is kept open.
func (s *LiveReader) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.old = true
		s.current.closeUnused()
		s.current = nil
	}
	return nil
}

// NoIndex says for people why there is no [LiveReader].
const NoIndex = "Archived versions are not listed: this daemon keeps no index of its archive. Set index.live = true and restart it."

// With calls do with the archive as it is now.
func (s *LiveReader) With(now time.Time, do func(*Library) error) error {
	l, release, err := s.Open(now)
	if err != nil {
		return err
	}
	defer release()
	return do(l)
}

// MaxNewest is the maximum number of captures of a URI that are looked through: the newest. Pages that are visited each
// minute have millions.
const MaxNewest = 5000

// Unindexed returns the number of files whose captures are not found, because no index covers them. It is 0 unless the
// library is from a [LiveReader].
func (l *Library) Unindexed() int { return l.unindexed }

// FileOf returns the file of an entry. The file may still be open, or may have been finished since the library was
// opened.
func (l *Library) FileOf(name string) (warc.File, bool) {
	f, ok := l.files[name]
	if l.live == nil {
		return f, ok
	}
	if ok && f.Package() != "" {
		return f, true
	}
	for _, path := range []string{filepath.Join(l.dir, name), filepath.Join(l.dir, name+warc.OpenSuffix)} {
		if info, err := os.Stat(path); err == nil {
			return warc.File{Path: path, Name: name, Size: info.Size()}, true
		}
	}
	return warc.File{}, false
}

// Playable returns the capture of an entry, or an error that says why it cannot be replayed: its file or the file of
// its original is gone, or one of the records is damaged. It reads the heads of the records, not their payloads.
func (l *Library) Playable(ctx context.Context, e index.Entry) (Capture, error) {
	c, err := l.load(e)
	if err != nil {
		return Capture{}, err
	}
	_, err = l.Original(ctx, c)
	return c, err
}
