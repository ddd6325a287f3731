package index

import (
	"net/http"
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
	e, err := l.last(uri, is)
	if err != nil {
		return Capture{}, nil, err
	}
	c, m, err := l.loadHead(e)
	if err == nil && m.err != nil {
		err = warc.Damaged(m.err)
	}
	return c, m.head.Header(), err
}

// last returns the last entry of a URI for which is returns true.
func (l *Library) last(uri string, is func(Entry) bool) (last Entry, err error) {
	err = l.each(uri, func(e Entry) {
		if e.URL == uri && is(e) && compareEntries(e, last) > 0 {
			last = e
		}
	})
	if err == nil && last.URL == "" {
		err = warc.ErrNotFound
	}
	return last, err
}

// HeaderAt returns the header of the response of a URI in the record at an offset of a file. It reads no payload and no
// index. The error wraps [warc.ErrNotFound] if there is no such record.
func (l *Library) HeaderAt(uri, file string, offset int64) (http.Header, error) {
	file = strings.TrimSuffix(file, warc.OpenSuffix)
	for _, name := range []string{file, file + warc.OpenSuffix} {
		if f, ok := l.fileOf(name); ok {
			return header(f, offset, uri)
		}
	}
	return nil, warc.ErrNotFound
}

// HeaderOn returns the header of the last capture of a URI in the second of a date, without reading the payload. The
// error wraps [warc.ErrNotFound] if there is no such capture.
func (l *Library) HeaderOn(uri string, date time.Time) (http.Header, error) {
	e, err := l.last(uri, func(e Entry) bool { return e.Date().Unix() == date.Unix() })
	if err != nil {
		return nil, err
	}
	return l.HeaderAt(uri, e.Filename, e.Offset)
}

// header reads the HTTP header of the record of a URI.
func header(f warc.File, offset int64, uri string) (http.Header, error) {
	r, err := f.OpenAt(offset)
	if err != nil {
		return nil, warc.Damaged(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil {
		return nil, warc.Damaged(err)
	}
	if rec.Header.Target() != uri {
		return nil, warc.ErrNotFound
	}
	head, _, err := rec.Payload()
	if err != nil {
		return nil, warc.Damaged(err)
	}
	return head.Header(), nil
}
