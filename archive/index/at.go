package index

import (
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// At gives the capture of a URI whose record is at an offset of a file, and the header of its response. The error wraps
// [ErrNotFound] when no index or file knows of one there.
func (l *Library) At(uri, file string, offset int64) (Capture, http.Header, error) {
	return l.pick(uri, func(e Entry) bool { return e.Filename == file && e.Offset == offset })
}

// On gives the capture of a URI that was made in the second of a date, and the header of its response: the last, if there
// are several. The error wraps [ErrNotFound] when there is none.
func (l *Library) On(uri string, date time.Time) (Capture, http.Header, error) {
	stamp := date.UTC().Format(DateLayout)
	return l.pick(uri, func(e Entry) bool { return e.Timestamp == stamp })
}

func (l *Library) pick(uri string, is func(Entry) bool) (Capture, http.Header, error) {
	entries, err := l.Lookup(uri)
	if err != nil {
		return Capture{}, nil, err
	}
	for _, e := range slices.Backward(entries) {
		if e.URL != uri || !is(e) {
			continue
		}
		c, err := l.load(e)
		if err != nil {
			return Capture{}, nil, err
		}
		header, err := l.header(c)
		return c, header, err
	}
	return Capture{}, nil, warc.ErrNotFound
}

// header reads the head of a capture's response.
func (l *Library) header(c Capture) (http.Header, error) {
	r, err := warc.OpenAt(c.path, c.Offset)
	if err != nil {
		return nil, warc.Damaged(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil {
		return nil, warc.Damaged(err)
	}
	head, _, err := rec.Payload()
	if err != nil {
		return nil, warc.Damaged(err)
	}
	return head.Header(), nil
}
