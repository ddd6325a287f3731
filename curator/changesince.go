// This file finds changes for subscriptions, which get each change once and in the order in which they were noted.

package curator

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// subscribed returns the changes that a subscription selects, see [admin.Extension].
func (c *curation) subscribed(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time) {
	if after.IsZero() {
		return nil, c.changes.store.Last()
	}
	inForce, now := c.o.Config().Config, c.o.Now()
	f := changeFilter{Changes: s.Kinds, Removed: s.Removed, After: after}
	if len(f.Changes) == 0 {
		f.Changes = slices.DeleteFunc(changeKinds(), func(k string) bool {
			return k == anyChange || k == string(changes.Nothing) || k == string(changes.Around)
		})
	}
	f.Host, f.Limit = s.Host, most
	if chosen := c.window.Chooses(s.Filter); chosen != nil {
		f.Sites = func(host string) bool { return chosen(uri.Host(host)) }
	}
	f.Embargo = inForce.EmbargoAt(now, s.Series...)
	return c.changes.store.Since(f, maxFind, c.o.Now)
}

// Last returns when the last change was noted; a time before all changes if there is none.
func (s *changeStore) Last() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return later(s.last, time.Unix(0, 0).UTC())
}

// Since returns the selected changes that were noted after f.After, the one noted first first. All that were noted up
// to upTo have been searched, and none after it is in the list. It searches for a bounded time.
func (s *changeStore) Since(
	f changeFilter, within time.Duration, now func() time.Time,
) (list []api.Capture, upTo time.Time) {
	last, end := s.Last(), now().Add(within)
	if !last.After(f.After) {
		return nil, f.After
	}
	upTo = f.After
	see := func(c api.Capture) bool {
		switch {
		case !c.Change.Noted.After(f.After):
			return true
		case c.Change.Noted.After(last): // it was noted meanwhile
			upTo = last
			return false
		case f.selects(c):
			list = append(list, c)
		}
		upTo = c.Change.Noted
		return len(list) < f.Limit
	}
	if s.dir == "" {
		for _, c := range slices.Backward(s.latest()) {
			if !see(c) {
				return list, upTo
			}
		}
		return list, last
	}
	whole, err := s.eachSince(f.After, func(line []byte) bool {
		late := now().After(end)
		if !late && !f.mayMatch(line) {
			return true
		}
		c, ok := parseChange(line)
		return !ok || see(c) && !late
	})
	if whole && err == nil {
		upTo = last
	}
	return list, upTo
}

// eachSince calls use with the lines of the files from the last one that was noted at after, the oldest first, until it
// returns false. Some before that may be among them. whole says that use never did.
func (s *changeStore) eachSince(after time.Time, use func([]byte) bool) (whole bool, err error) {
	files, err := s.files()
	if err != nil {
		return false, err
	}
	from := after.UTC().Format(time.DateOnly)
	for _, f := range files {
		if f.day < from {
			continue
		}
		file, err := os.Open(f.path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was the oldest, and has been removed
		} else if err != nil {
			return false, err
		}
		more, err := linesSince(file, f.size, after, use)
		if err = errors.Join(err, file.Close()); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// linesSince calls use with the lines of a file of a day, as [changeStore.eachSince] does. more is false if use
// returned false.
func linesSince(f *os.File, size int64, after time.Time, use func([]byte) bool) (more bool, err error) {
	begin := int64(0) // of a line. All lines before it were noted at after or earlier
	for end := size; end-begin > maxBlock; {
		middle := begin + (end-begin)/2
		at, noted, err := changeBehind(f, middle, end)
		switch {
		case err != nil:
			return false, err
		case at > 0 && !noted.After(after):
			begin = at
		default:
			end = middle
		}
	}
	if _, err := f.Seek(begin, io.SeekStart); err != nil {
		return false, err
	}
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return true, nil // a line without its end is being written, or a crash has cut it
		} else if err != nil {
			return false, err
		}
		if !use(line) {
			return false, nil
		}
	}
}

// changeBehind finds the first change in a file whose line begins behind an offset and before an end. at is where it
// begins; 0 if there is none.
func changeBehind(f *os.File, offset, end int64) (at int64, noted time.Time, err error) {
	in := bufio.NewReader(io.NewSectionReader(f, offset, end-offset))
	at = offset
	for isWhole := false; ; isWhole = true { // the first line may have begun before the offset
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return 0, noted, nil
		} else if err != nil {
			return 0, noted, err
		}
		if c, ok := parseChange(line); ok && isWhole {
			return at, c.Change.Noted, nil
		}
		at += int64(len(line))
	}
}
