package index

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// NearestTo returns the capture of a URI that is nearest to a timestamp, or the last one without a timestamp. It
// prefers captures of exactly this URI to captures of URIs with the same key, and answers to failures of the server.
func (l *Library) NearestTo(address, stamp string) (Entry, error) {
	if u, err := uri.Parse(address); err == nil {
		address = u.String()
	}
	at := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // equally far from all captures
	if stamp != "" {
		var err error
		if at, err = ParseStamp(stamp); err != nil {
			return Entry{}, fmt.Errorf("%w: %q is not a timestamp", warc.ErrNotFound, stamp)
		}
	}
	best, found, err := l.Nearest(address, func(a, b Entry) bool {
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

func distanceOf(e Entry, address string, at time.Time) distance {
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
