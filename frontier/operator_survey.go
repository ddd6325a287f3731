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

// maxSurveyed is how many rows one call of Survey reads.
const maxSurveyed = 20_000

// Survey calls each with the URIs of a host, or of all hosts if the host is empty, some thousands at a time. Call it
// again with next until that is empty. It holds no lock while it reads.
func (f *Frontier) Survey(host uri.Host, from Cursor, each func(SurveyedURI)) (next Cursor, err error) {
	at, err := from.position(Selection{})
	if err != nil {
		return "", err
	}
	hosts, err := f.allHosts()
	if err != nil {
		return "", err
	}
	o := badger.DefaultIteratorOptions
	o.Prefix = []byte{kindURI}
	if host != "" {
		h := f.hostNamed(host)
		if h == nil {
			return "", nil
		}
		o.Prefix = key(kindURI, h.id, nil)
	}
	err = f.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(o)
		defer it.Close()
		it.Rewind()
		if from != "" {
			it.Seek(append(uriKey(at.host, at.fp), 0))
		}
		for n := 0; it.Valid(); it.Next() {
			id, fp, err := split(it.Item().Key(), fingerprintLen)
			if err != nil {
				return err
			}
			if n++; n > maxSurveyed {
				return nil
			}
			next = cursorBehind(id, fingerprint(fp))
			if id == 0 || int(id) > len(hosts) {
				continue // the host became known after the call began
			}
			var w uriRow
			if err := decodeRow(it.Item(), &w); err != nil {
				return err
			}
			each(SurveyedURI{
				Host: hosts[id-1].name, URI: uri.FromCanonical(string(w.URI)), Hops: uri.HopPath(w.Hops),
				Due: fromMillis(w.Due), LastVisit: fromMicros(w.LastVisit), Wait: time.Duration(w.Wait),
				ContentType: string(w.ContentType), Rate: w.Rate, Held: w.Held, Source: w.Source != "",
				Restless:  w.Restless,
				FirstSeen: fromMicros(w.FirstSeen), LastChange: fromMicros(w.LastChange), Versions: w.Versions,
			})
		}
		next = ""
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("survey the frontier: %w", err)
	}
	return next, nil
}
