package index

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// EachBelow calls do with the captures whose keys begin with one of the prefixes, in no particular order. Its work
// depends on their number and on the lines of files that are still open, not on the size of the index. A capture may be
// passed twice while indexes are merged.
func (l *Library) EachBelow(prefixes []string, do func(Entry) error) error {
	begins := func(key string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	}
	if l.live != nil {
		if err := l.live.eachBelow(begins, do); err != nil {
			return err
		}
	}
	for _, x := range l.indexes {
		for _, p := range prefixes {
			if err := x.eachBelow(p, do); err != nil {
				return err
			}
		}
	}
	for _, e := range l.read {
		if begins(e.Key) {
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachBelow calls do with the entries of the live file whose key is one for which begins returns true.
func (l *Live) eachBelow(begins func(key string) bool, do func(Entry) error) error {
	l.mu.Lock()
	if l.err == nil {
		_ = l.write() // the error is stored and stops the index, not this search
	}
	size := l.size
	l.mu.Unlock()
	f, err := os.Open(l.path(liveName))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := NewLines(io.LimitReader(f, size))
	for lines.Scan() {
		if key, _, _ := strings.Cut(lines.Text(), " "); !begins(key) {
			continue
		}
		if e, err := ParseEntry(lines.Text()); err == nil { // a merge may have cut the last line
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// eachBelow calls do with the entries whose keys begin with a prefix. Lines that cannot be read are left out.
func (x sortedIndex) eachBelow(prefix string, do func(Entry) error) error {
	at, err := SearchLines(x.size, MaxLine/16, prefix, x.lineAfter)
	if err != nil {
		return err
	}
	lines, err := x.linesFrom(at)
	if err != nil {
		return err
	}
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, prefix):
			if e, err := ParseEntry(line); err == nil && x.counts(e.Filename) {
				if err := do(e); err != nil {
					return err
				}
			}
		case line > prefix:
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", x.file.Name(), err)
	}
	return nil
}
