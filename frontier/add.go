package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Candidate is a URI that was found and may be new.
type Candidate struct {
	URI  uri.URI
	Hops uri.HopPath
	Via  string
	Seed string
	Due  time.Time // zero means now

	// Source, Born and Urgent are the first values of these fields in the history of a new URI.
	Source string
	Born   time.Time
	Urgent bool

	// RobotsVia is the field of the history with this name. If Sooner is set, it applies to a known URI too, and a URI on
	// demand gets the due time.
	RobotsVia string

	// Sooner brings the due time of a known URI forward to Due, and makes it urgent if Urgent is set. A URI on demand is
	// not affected. If the URI is being visited, Due applies to its next visit.
	Sooner bool

	// ReportedChange and ReportedUnchanged become part of the history of a known URI if Sooner is set. Of several reports
	// since the last visit the latest change is remembered, and the earliest time without one. During a visit a change is
	// remembered only if it is later than the capture.
	ReportedChange, ReportedUnchanged time.Time
}

// Added is the result of adding candidates.
type Added struct {
	New     int // became known
	Known   int // were known, and did not change, except those that are counted in Sooner
	Sooner  int // of Known, those that are due sooner now
	Refused int // their host or folder is full, or no further host may become known
	Posted  int // are passed on to the stores of their hosts
}

func (a Added) plus(b Added) Added {
	return Added{
		New: a.New + b.New, Known: a.Known + b.Known, Sooner: a.Sooner + b.Sooner, Refused: a.Refused + b.Refused,
		Posted: a.Posted + b.Posted,
	}
}

// addBatchSize is the number of candidates in one transaction, if they fit: the store takes 0.9 MB at a time. Larger
// batches are not faster.
const addBatchSize = 100

// newCandidate is a candidate that was not known when it was looked up.
type newCandidate struct {
	Candidate
	name string // to be written if the URI is new; empty = none
	fp   fingerprint
}

// Add makes candidates known. Known URIs do not change, except as [Candidate].Sooner says. Candidates are written in
// batches of a hundred. After an error or a crash some may be known already; adding them again does no harm.
func (f *Frontier) Add(now time.Time, cs ...Candidate) (Added, error) {
	fresh, added, err := f.filterKnown(cs)
	if err != nil {
		return Added{}, fmt.Errorf("add URIs to the frontier: %w", err)
	}
	if len(fresh) == 0 {
		return added, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rest, err := f.addBatches(fresh, now, nil)
	if err != nil {
		err = fmt.Errorf("add URIs to the frontier: %w", err)
	}
	return added.plus(rest), err
}

// filterKnown returns the candidates that are not known, or are to be due sooner, and counts the others. It holds no
// lock while it reads, so that a page full of known links does not delay other visits. The result must be looked up
// again under the lock.
func (f *Frontier) filterKnown(found []Candidate) (fresh []newCandidate, added Added, err error) {
	if len(found) == 0 {
		return nil, Added{}, nil
	}
	cs, names, err := f.nameCandidates(found)
	if err != nil {
		return nil, Added{}, err
	}
	hosts, uncounted, err := f.candidateHosts(cs)
	if err != nil {
		return nil, Added{}, err
	}
	for _, h := range uncounted {
		if err := f.countFolders(h); err != nil {
			return nil, Added{}, err
		}
	}
	hashes, cached := make([]RecentHash, len(cs)), make([]bool, len(cs))
	for i, c := range cs {
		hashes[i] = f.knownURIs.Hash(c.URI.String())
	}
	round := f.knownURIs.Contains(hashes, cached)
	fps := make([]fingerprint, len(cs))
	for i, c := range cs {
		if !cached[i] || c.Sooner {
			fps[i] = newFingerprint(c.URI.String())
		}
	}
	known, err := f.lookUp(cs, fps, hosts, cached)
	if err != nil {
		return nil, Added{}, err
	}
	var uncached []RecentHash // of known URIs
	for i, c := range cs {
		if known[i] && !c.Sooner {
			added.Known++
			if !cached[i] {
				uncached = append(uncached, hashes[i])
			}
			continue
		}
		n := newCandidate{Candidate: c, fp: fps[i]}
		if names != nil {
			n.name = names[i]
		}
		fresh = append(fresh, n)
	}
	f.knownURIs.Remember(uncached, round)
	return fresh, added, err
}

// candidateHost is the host of a candidate: its number, 0 if it is not known, and the number of its URIs.
type candidateHost struct {
	id   uint32
	uris int64
}

// candidateHosts returns the host of each candidate, and the hosts whose folders must be counted first.
func (f *Frontier) candidateHosts(cs []Candidate) ([]candidateHost, []*host, error) {
	list := make([]candidateHost, len(cs))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, ErrClosed
	}
	for i, c := range cs {
		if c.URI.IsZero() {
			return nil, nil, errors.New("a candidate has no URI")
		}
		if h := f.hosts[c.URI.Host()]; h != nil {
			list[i] = candidateHost{id: h.id, uris: h.uris}
		}
	}
	return list, f.hostsToCount(cs), nil
}

// addBatches inserts candidates in batches. The caller holds the lock.
func (f *Frontier) addBatches(fresh []newCandidate, now time.Time, from *hostAllowance) (Added, error) {
	var total Added
	err := inBatches(fresh, addBatchSize, func(some []newCandidate) error {
		counted := hostAllowance{}
		if from != nil {
			counted = *from
		}
		err := f.update(func(c *change) error {
			added, err := c.insert(some, now, from)
			c.after(func() { total = total.plus(added) })
			return err
		})
		if err != nil && from != nil {
			*from = counted // the batch is tried again in parts
		}
		return err
	})
	return total, err
}

// insert writes a row and a place for each candidate, unless the URI has become known meanwhile or its host is full.
func (c *change) insert(fresh []newCandidate, now time.Time, from *hostAllowance) (Added, error) {
	var added Added
	for _, n := range fresh {
		if foreign, err := c.postForeign(n, now, &added); err != nil {
			return Added{}, err
		} else if foreign {
			continue
		}
		if !c.mayAddHost(n.Candidate, from, now) {
			added.Refused++
			c.f.refused.Add(1)
			continue
		}
		if taken, err := c.takesNoHost(n); err != nil {
			return Added{}, err
		} else if taken {
			added.Known++
			continue
		}
		d := c.draft(n.URI.Host())
		ok, collides, err := isKnown(c.txn, d.h.id, n.fp, n.URI)
		if err != nil {
			return Added{}, err
		}
		if ok {
			added.Known++
			if n.Sooner && !collides {
				moved, err := c.makeSooner(d, n, now)
				if err != nil {
					return Added{}, err
				}
				added.Sooner += int(countIf(moved))
			}
			continue
		}
		if taken, err := c.nameTaken(n); err != nil {
			return Added{}, err
		} else if taken {
			added.Known++
			continue
		}
		full, err := c.countURI(d, n.URI)
		if err != nil {
			return Added{}, err
		}
		if full {
			added.Refused++
			continue
		}
		if err := c.putURI(d, n.fp, uriRow{}, n.row(now)); err != nil {
			return Added{}, err
		}
		if err := c.writeName(n.name, n.URI); err != nil {
			return Added{}, err
		}
		added.New++
	}
	return added, nil
}

// row returns the first row of the URI.
func (c Candidate) row(now time.Time) uriRow {
	due := c.Due
	if due.IsZero() {
		due = now
	}
	return newURIRow(Record{
		URI: c.URI, Hops: c.Hops, Via: c.Via, Seed: c.Seed,
		History: History{FirstSeen: now, Source: c.Source, Born: c.Born, Urgent: c.Urgent, RobotsVia: c.RobotsVia},
	}, dueMillis(due, now))
}

// makeSooner brings the due time of a known URI forward, and reports whether its place moved.
func (c *change) makeSooner(d *draft, n newCandidate, now time.Time) (bool, error) {
	was, ok, err := uriRowAt(c.txn, d.h.id, n.fp)
	if err != nil || !ok || was.Due == 0 && n.RobotsVia == "" {
		return false, err
	}
	due := dueMillis(n.Due, now)
	if due == 0 {
		due = dueMillis(now, now)
	}
	report := sourceReport{micros(n.ReportedChange), micros(n.ReportedUnchanged)}
	is := was
	news := is.mergeReport(report)
	if s := d.slotClaiming(n.fp); s != nil {
		d.dirty = true // so that the draft replaces the host in memory; on disk only the report changes
		if s.sooner == 0 || due < s.sooner {
			s.sooner = due
		}
		s.reported = s.reported.merge(report)
		if news {
			err = c.putURI(d, n.fp, was, is) // in case the claim is released
		}
		return true, err
	}
	if is.Due == 0 || is.Due > due {
		is.Due = due
	}
	is.Urgent = was.Urgent || n.Urgent && is.Due <= due
	moved := is.Due != was.Due || is.Urgent != was.Urgent
	if n.RobotsVia != "" && string(was.RobotsVia) != n.RobotsVia {
		is.RobotsVia, moved = bounded(n.RobotsVia), true
	}
	if moved {
		is.Why = WhySooner
	}
	if !moved && !news {
		return false, nil
	}
	return moved, c.putURI(d, n.fp, was, is)
}

// sourceReport holds what feeds and sitemaps report about a URI: when it last changed, and the latest time before
// that at which they had not reported the change yet. Times are in µs.
type sourceReport struct{ changed, unchanged int64 }

// merge combines two reports: the latest change, and the earliest time without one.
func (h sourceReport) merge(o sourceReport) sourceReport {
	if o.changed <= h.changed {
		return h
	}
	if h.changed != 0 {
		o.unchanged = h.unchanged
	}
	return o
}

// mergeReport adds a report to the row, and reports whether the row changed.
func (w *uriRow) mergeReport(report sourceReport) bool {
	was := sourceReport{w.ReportedChange, w.ReportedUnchanged}
	is := was.merge(report)
	w.ReportedChange, w.ReportedUnchanged = is.changed, is.unchanged
	return is != was
}
