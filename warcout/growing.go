package warcout

import (
	"maps"
	"slices"
	"time"
)

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
