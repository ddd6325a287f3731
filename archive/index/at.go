package index

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// At returns the capture of a URI whose record is at an offset of a file, and the header of its response. The error
// wraps [warc.ErrNotFound] if there is no such capture.
func (l *Library) At(uri, file string, offset int64) (Capture, http.Header, error) {
	file = strings.TrimSuffix(file, warc.OpenSuffix)
	return l.pick(uri, func(e Entry) bool {
		return strings.TrimSuffix(e.Filename, warc.OpenSuffix) == file && e.Offset == offset
	})
}

// On returns the last capture of a URI in the second of a date, and the header of its response. The error wraps
// [warc.ErrNotFound] if there is no such capture.
func (l *Library) On(uri string, date time.Time) (Capture, http.Header, error) {
	return l.pick(uri, func(e Entry) bool { return e.Date().Unix() == date.Unix() })
}

// pick returns the last capture of a URI for which is returns true.
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

// header reads the HTTP header of a capture.
func (l *Library) header(c Capture) (http.Header, error) {
	r, err := c.file.OpenAt(c.Offset)
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
