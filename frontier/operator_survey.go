package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// SurveyedURI holds what a survey reports about a URI.
type SurveyedURI struct {
	Host        uri.Host
	URI         uri.URI
	Hops        uri.HopPath
	Due         time.Time     // zero means on demand only
	LastVisit   time.Time     // zero means never
	Wait        time.Duration // the wait interval learned so far
	ContentType string
	Rate        float64 // expected changes per day; 0 = unknown
	Held        bool    // by an operator
	Source      bool    // a feed or sitemap, or named as one
	Restless    bool    // it differs at each fetch

	FirstSeen, LastChange time.Time
	Versions              int
}

// maxSurveyed is how many rows one call of Survey or Heal reads.
const maxSurveyed = 20_000

// Survey calls each with the URIs of a host, or of all hosts if the host is empty, some thousands at a time. Call it
// again with next until that is empty. It holds no lock while it reads.
func (f *Frontier) Survey(only uri.Host, from Cursor, each func(SurveyedURI)) (next Cursor, err error) {
	return f.walk("survey the frontier", only, from, func(h *host, _ fingerprint, w *uriRow) {
		each(SurveyedURI{
			Host: h.name, URI: uri.FromCanonical(string(w.URI)), Hops: uri.HopPath(w.Hops),
			Due: fromMillis(w.Due), LastVisit: fromMicros(w.LastVisit), Wait: time.Duration(w.Wait),
			ContentType: string(w.ContentType), Rate: w.Rate, Held: w.Held, Source: w.Source != "",
			Restless:  w.Restless,
			FirstSeen: fromMicros(w.FirstSeen), LastChange: fromMicros(w.LastChange), Versions: w.Versions,
		})
	})
}

// walk calls each with the rows of a host, or of all hosts if only is empty, some thousands behind a cursor. The walk
// is complete when next is empty. It holds no lock while it reads. An error of the store begins with what failed.
func (f *Frontier) walk(
	what string, only uri.Host, from Cursor, each func(*host, fingerprint, *uriRow),
) (next Cursor, err error) {
	at, err := from.position(Selection{})
	if err != nil {
		return "", err
	}
	hosts, err := f.allHosts()
	if err != nil {
		return "", err
	}
	prefix, start := []byte{kindURI}, []byte(nil)
	if only != "" {
		h := f.hostNamed(only)
		if h == nil {
			return "", nil
		}
		prefix = key(kindURI, h.id, nil)
	}
	if from != "" {
		start = append(uriKey(at.host, at.fp), 0)
	}
	err = f.db.View(func(txn *badger.Txn) error {
		n, w := 0, uriRow{}
		for k, err := range scan(txn, prefix, start, prefetched) {
			if n++; err != nil || n > maxSurveyed {
				return err
			}
			next = cursorBehind(k.host, k.fp())
			if k.host == 0 || int(k.host) > len(hosts) {
				continue // the host became known after the call began
			}
			w = uriRow{}
			if err := decodeRow(k.item, &w); err != nil {
				return err
			}
			each(hosts[k.host-1], k.fp(), &w)
		}
		next = ""
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return next, nil
}
