package captures

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// At returns the capture of a URI whose record is at an offset of a file, and the header of its response. The error
// wraps [warc.ErrNotFound] if there is no such capture.
func (l *Library) At(uri, file string, offset int64) (Capture, http.Header, error) {
	file = strings.TrimSuffix(file, warc.OpenSuffix)
	return l.pick(uri, func(e index.Entry) bool {
		return strings.TrimSuffix(e.Filename, warc.OpenSuffix) == file && e.Offset == offset
	})
}

// On returns the last capture of a URI in the second of a date, and the header of its response. The error wraps
// [warc.ErrNotFound] if there is no such capture.
func (l *Library) On(uri string, date time.Time) (Capture, http.Header, error) {
	return l.pick(uri, func(e index.Entry) bool { return e.Date().Unix() == date.Unix() })
}

// pick returns the last capture of a URI for which is returns true.
func (l *Library) pick(uri string, is func(index.Entry) bool) (Capture, http.Header, error) {
	e, err := l.last(uri, is)
	if err != nil {
		return Capture{}, nil, err
	}
	c, head, headErr, err := l.loadHead(e)
	if err == nil && headErr != nil {
		err = warc.Damaged(headErr)
	}
	return c, head.Header(), err
}

// last returns the last entry of a URI for which is returns true.
func (l *Library) last(uri string, is func(index.Entry) bool) (last index.Entry, err error) {
	err = l.each(uri, func(e index.Entry) {
		if e.URL == uri && is(e) && index.Compare(e, last) > 0 {
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
		if f, ok := l.FileOf(name); ok {
			return header(f, offset, uri)
		}
	}
	return nil, warc.ErrNotFound
}

// HeaderOn returns the header of the last capture of a URI in the second of a date, without reading the payload. The
// error wraps [warc.ErrNotFound] if there is no such capture.
func (l *Library) HeaderOn(uri string, date time.Time) (http.Header, error) {
	e, err := l.last(uri, func(e index.Entry) bool { return e.Date().Unix() == date.Unix() })
	if err != nil {
		return nil, err
	}
	return l.HeaderAt(uri, e.Filename, e.Offset)
}

func header(f warc.File, offset int64, uri string) (http.Header, error) {
	r, rec, err := f.RecordAt(offset)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	if rec.Header.Target() != uri {
		return nil, warc.ErrNotFound
	}
	head, _, err := rec.Payload()
	if err != nil {
		return nil, warc.Damaged(err)
	}
	return head.Header(), nil
}

// NearestTo returns the capture of a URI that is nearest to a timestamp, or the last one without a timestamp. It
// prefers captures of exactly this URI to captures of URIs with the same key, and answers to failures of the server.
func (l *Library) NearestTo(address, stamp string) (index.Entry, error) {
	if u, err := uri.Parse(address); err == nil {
		address = u.String()
	}
	at := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // equally far from all captures
	if stamp != "" {
		var err error
		if at, err = index.ParseStamp(stamp); err != nil {
			return index.Entry{}, fmt.Errorf("%w: %q is not a timestamp", warc.ErrNotFound, stamp)
		}
	}
	best, found, err := l.Nearest(address, func(a, b index.Entry) bool {
		return distanceOf(a, address, at).fits(distanceOf(b, address, at))
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: %s", warc.ErrNotFound, address)
	}
	return best, err
}

// distance says how badly a capture fits what was asked for.
type distance struct {
	other, failed bool
	away          time.Duration
}

func distanceOf(e index.Entry, address string, at time.Time) distance {
	away := at.Sub(e.Date()).Abs()
	failed := strings.HasPrefix(e.Status, "5") || e.Status == "429"
	return distance{e.URL != address, failed && away != 0, away} // a failure that was asked for by its time is shown
}

// fits reports whether d fits better than o.
func (d distance) fits(o distance) bool {
	switch {
	case d.other != o.other:
		return o.other
	case d.failed != o.failed:
		return o.failed
	}
	return d.away < o.away
}

// Sentence says for people why a capture cannot be read.
func Sentence(err error) string {
	_, gone := GoneFile(err)
	switch {
	case errors.Is(err, warc.ErrNotFound):
		return "The archive has no capture of it."
	case gone:
		return "Its WARC file is not in the folder of the archive. Bring it back to see the version. (" + err.Error() + ")"
	case errors.Is(err, warc.ErrDamaged):
		return "Its record in the WARC file is damaged. arcrawl verify says what is lost. (" + err.Error() + ")"
	}
	return "Its record cannot be read: " + err.Error()
}

// Newest returns the newest captures of exactly a URI, at most limit, oldest first; and how many there are in all.
func (l *Library) Newest(uri string, limit int) (newest []index.Entry, count int, err error) {
	shrink := func() {
		slices.SortFunc(newest, index.Compare)
		before := len(newest)
		newest = slices.CompactFunc(newest, isSame)
		count -= before - len(newest)
		newest = slices.Delete(newest, 0, max(0, len(newest)-limit))
	}
	err = l.each(uri, func(e index.Entry) {
		if e.URL != uri {
			return
		}
		newest = append(newest, e)
		if count++; len(newest) == 2*limit+1 {
			shrink()
		}
	})
	shrink()
	return newest, count, err
}

// Nearest returns the entry with the key of a URI that is better than all others. ok is false if there is none. Of two
// entries neither of which is better than the other, it takes the later one.
func (l *Library) Nearest(uri string, isBetter func(a, b index.Entry) bool) (best index.Entry, ok bool, err error) {
	err = l.each(uri, func(e index.Entry) {
		later := index.Compare(e, best) > 0 && !isBetter(best, e)
		if !ok || later || isBetter(e, best) {
			best, ok = e, true
		}
	})
	return best, ok, err
}

// Place is where a capture is among the captures of its URI.
type Place struct {
	Number, Count int         // the oldest has the number 1
	Before, After index.Entry // the captures next to it; zero if there is none
}

// PlaceOf returns the place of a capture.
func (l *Library) PlaceOf(c index.Entry) (p Place, err error) {
	p.Number, p.Count = 1, 1
	err = l.each(c.URL, func(e index.Entry) {
		if e.URL != c.URL || isSame(e, c) || isSame(e, p.Before) || isSame(e, p.After) {
			return
		}
		p.Count++
		if index.Compare(e, c) < 0 {
			p.Number++
			if p.Before.URL == "" || index.Compare(e, p.Before) > 0 {
				p.Before = e
			}
		} else if p.After.URL == "" || index.Compare(e, p.After) < 0 {
			p.After = e
		}
	})
	return p, err
}

// EachBelow calls do with the captures whose keys begin with one of the prefixes, in no particular order. Its work
// depends on their number and on the lines of files that are still open, not on the size of the index. A capture may be
// passed twice while indexes are merged.
func (l *Library) EachBelow(prefixes []string, do func(index.Entry) error) error {
	begins := func(key string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	}
	one := func(e index.Entry) error {
		if !l.shows(e) {
			return nil
		}
		return do(e)
	}
	if l.live != nil {
		if err := l.live.EachBelow(begins, one); err != nil {
			return err
		}
	}
	for _, x := range l.indexes {
		for _, p := range prefixes {
			if err := x.each(p, one, func(error) error { return nil }); err != nil {
				return err
			}
		}
	}
	for _, e := range l.read {
		if begins(e.Key) {
			if err := one(e); err != nil {
				return err
			}
		}
	}
	return nil
}
