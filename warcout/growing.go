package warcout

import "time"

// Growing is a file that visits are written to at this moment.
type Growing struct {
	Name   string // as it will be called when it is sealed
	Opened time.Time
	Size   int64 // bytes that are safe on disk
}

// Growing lists the files that are not sealed yet: at most one that takes visits, and those that wait for their last one.
func (w *Writer) Growing() []Growing {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []Growing
	for _, f := range w.retired {
		list = append(list, Growing{f.name, f.opened, f.synced.size})
	}
	if f := w.current; f != nil {
		list = append(list, Growing{f.name, f.opened, f.synced.size})
	}
	return list
}
