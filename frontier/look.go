package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Get gives what is remembered of a URI; ok is false when it is not known.
func (f *Frontier) Get(u uri.URI) (r Record, ok bool, err error) {
	id, err := f.idOf(u)
	if id == 0 || err != nil {
		return Record{}, false, err
	}
	err = f.View(func(txn *badger.Txn) error {
		var w uriRow
		fp := fingerprintOf(u.String())
		if w, ok, err = rowFor(txn, id, fp, u); err != nil || !ok {
			return err
		}
		if r, err = w.record(); err != nil {
			return damaged(uriKey(id, fp), err)
		}
		return nil
	})
	if err != nil {
		return Record{}, false, fmt.Errorf("look up %s: %w", u, err)
	}
	return r, ok, nil
}

// Robots gives the copy of robots.txt that is in force for an origin, as [uri.URI.Origin] names it; ok is false when
// none was ever settled. It does not look at Expires.
func (f *Frontier) Robots(origin uri.URI) (c RobotsCopy, ok bool, err error) {
	c, ok, round := f.copies.get(origin)
	if ok {
		return c, true, nil
	}
	id, err := f.idOf(origin)
	if id == 0 || err != nil {
		return RobotsCopy{}, false, err
	}
	var w robotsRow
	err = f.View(func(txn *badger.Txn) error {
		ok, err = read(txn, robotsKey(id, origin), &w)
		return err
	})
	if err != nil {
		return RobotsCopy{}, false, fmt.Errorf("look up the robots.txt of %s: %w", origin, err)
	}
	if c = w.copy(); ok {
		f.copies.put(origin, c, round)
	}
	return c, ok, nil
}

// Seen gives what a feed or sitemap has listed so far, as the last [Settlement] with a Seen left it; nil if none did.
func (f *Frontier) Seen(u uri.URI) ([]byte, error) {
	id, err := f.idOf(u)
	if id == 0 || err != nil {
		return nil, err
	}
	var seen []byte
	err = f.View(func(txn *badger.Txn) error {
		seen, err = readBytes(txn, string(seenKey(id, fingerprintOf(u.String()))))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look up what %s has listed: %w", u, err)
	}
	return seen, nil
}

// idOf is the number of the URI's host, 0 if it is not known.
func (f *Frontier) idOf(u uri.URI) (uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, ErrClosed
	}
	if u.IsZero() || f.hosts[u.Host()] == nil {
		return 0, nil
	}
	return f.hosts[u.Host()].id, nil
}

// Each calls visit with every URI, host by host, as they were when it began, until visit returns an error, which Each
// returns. The frontier can be used meanwhile.
func (f *Frontier) Each(visit func(Record) error) error {
	if _, err := f.idOf(uri.URI{}); err != nil {
		return err
	}
	return f.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte{kindURI}
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var w uriRow
			if err := decode(it.Item(), &w); err != nil {
				return err
			}
			r, err := w.record()
			if err != nil {
				return damaged(it.Item().KeyCopy(nil), err)
			}
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Counts says how much a frontier holds. Ready, Snoozed, Busy, Idle and Paused are numbers of hosts in these states and
// add up to Hosts; the others are numbers of URIs.
type Counts struct {
	Hosts, URIs int64
	Queued      int64 // wait for their due time; the others are visited on demand, or held
	InProgress  int64 // claimed
	Forbidden   int64 // by robots.txt, when last visited
	Held        int64 // by an operator

	Ready, Snoozed, Busy, Idle, Paused int64

	// Oldest is the due time of the URI that waits unclaimed and is due first, on a host that is not paused. How far it lies in the past tells how much
	// the crawl lags. Zero when none waits.
	Oldest time.Time
}

// Counts counts as of now. It looks at every host and at no URI.
func (f *Frontier) Counts(now time.Time) Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := Counts{Hosts: int64(len(f.byID))}
	var oldest int64
	for _, h := range f.byID {
		n.URIs += h.uris
		n.Queued += h.queued
		n.Forbidden += h.forbidden
		n.Held += h.held
		n.InProgress += h.claimed()
		switch h.stands(now.UnixMilli()) {
		case Busy:
			n.Busy++
		case Paused:
			n.Paused++
		case Idle:
			n.Idle++
		case Ready:
			n.Ready++
		case Snoozed:
			n.Snoozed++
		}
		if !h.head.isNone() && h.paused == 0 && (oldest == 0 || h.head.due() < oldest) {
			oldest = h.head.due()
		}
	}
	n.Oldest = fromMillis(oldest)
	return n
}
