package warcout

import (
	"maps"
	"slices"
	"time"

	"github.com/nlnwa/gowarc/v3"
)

// Summary holds the counts of a file that a [Writer] wrote from the first byte to the last.
type Summary struct {
	Name        string // final, without folder
	Size        int64
	Records     int64
	Captures    int64     // how many of the records are responses, resources or revisits
	First, Last time.Time // WARC-Date of the oldest and the newest record
}

// maxSummaries is the maximum number of summaries that a writer keeps.
const maxSummaries = 256

// summaries holds the summaries of the files sealed last, the oldest first.
type summaries []Summary

// add adds a file that was sealed.
func (s *summaries) add(f *file) {
	if len(*s) == maxSummaries {
		*s = append((*s)[:0], (*s)[1:]...)
	}
	x := f.appended
	*s = append(*s, Summary{
		Name: f.final, Size: x.size, Records: x.records, Captures: x.captures,
		First: time.UnixMicro(x.first).UTC(), Last: time.UnixMicro(x.last).UTC(),
	})
}

// Summary returns the summary of a sealed file. ok is false if another run began the file, or if many files were sealed
// since then: then only reading it can say what it holds.
func (w *Writer) Summary(name string) (s Summary, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.summaries {
		if s.Name == name {
			return s, true
		}
	}
	return Summary{}, false
}

// isCapture reports whether an index has the record.
func (r record) isCapture() bool {
	return r.kind == gowarc.Response || r.kind == gowarc.Resource || r.kind == gowarc.Revisit
}

// Growing is a file that visits are being written to.
type Growing struct {
	Name   string // the name that it will have when it is sealed
	Opened time.Time
	Size   int64 // synced bytes
}

// Growing returns the files that are not sealed yet: those that accept visits, at most one of each series, and others
// with visits in progress.
func (w *Writer) Growing() []Growing {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []Growing
	for _, f := range w.retired {
		list = append(list, Growing{f.name, f.opened, f.synced.size})
	}
	for _, series := range slices.Sorted(maps.Keys(w.current)) {
		f := w.current[series]
		list = append(list, Growing{f.name, f.opened, f.synced.size})
	}
	return list
}
