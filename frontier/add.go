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
	Due  time.Time // zero is now

	// Source, Born and Urgent are what its history begins with.
	Source string
	Born   time.Time
	Urgent bool

	// Sooner tells that a known URI which is due later than Due is due then, urgent if Urgent says so. One that is on
	// demand stays that. Of one that is being visited meanwhile the next visit comes so early.
	Sooner bool

	// ReportedChange and ReportedUnchanged are remembered of a known URI if Sooner says so: the latest change that was told of since it
	// was visited, and the first silence. While it is being visited a change counts that comes after that visit's capture.
	ReportedChange, ReportedUnchanged time.Time
}

// Added says what became of candidates.
type Added struct {
	New     int // became known
	Known   int // were known, and stay exactly as they were but for those of Sooner
	Sooner  int // of Known, those that are due sooner now
	Refused int // their host has as many URIs as it may have
}

func (a Added) plus(b Added) Added {
	return Added{New: a.New + b.New, Known: a.Known + b.Known, Sooner: a.Sooner + b.Sooner, Refused: a.Refused + b.Refused}
}

// addBatch is how many candidates go into one transaction, if they are not too long for it: the store takes 0.9 MB at a time.
// Larger portions are not faster either.
const addBatchSize = 100

// newcomer is a candidate that was not known when it was looked up.
type newCandidate struct {
	namedCandidate
	fp fingerprint
}

// Add makes candidates known. Known ones stay exactly as they are, but for those of Sooner. Candidates are written in
// portions of a hundred: after an error, or a crash, some may be known already, and adding them again does no harm.
func (f *Frontier) Add(now time.Time, cs ...Candidate) (Added, error) {
	fresh, added, err := f.filterKnown(cs)
	if err != nil {
		return Added{}, fmt.Errorf("add to frontier: %w", err)
	}
	if len(fresh) == 0 {
		return added, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rest, err := f.addBatches(fresh, now)
	if err != nil {
		err = fmt.Errorf("add to frontier: %w", err)
	}
	return added.plus(rest), err
}

// sieve keeps the candidates that are not known, and counts the others. It holds no lock while it reads, so that a page
// full of known links costs other visits nothing; what it keeps must be looked up again under the lock.
func (f *Frontier) filterKnown(found []Candidate) (fresh []newCandidate, added Added, err error) {
	if len(found) == 0 {
		return nil, Added{}, nil
	}
	cs, names, err := f.nameCandidates(found)
	if err != nil {
		return nil, Added{}, err
	}
	homes, before, err := f.candidateHosts(cs)
	if err != nil {
		return nil, Added{}, err
	}
	for _, h := range before {
		if err := f.countFolders(h); err != nil {
			return nil, Added{}, err
		}
	}
	marks, seen := make([]uriHash, len(cs)), make([]bool, len(cs))
	for i, c := range cs {
		marks[i] = f.knownURIs.hash(c.URI.String())
	}
	round := f.knownURIs.contains(marks, seen)
	fps := make([]fingerprint, len(cs))
	for i, c := range cs {
		if !seen[i] || c.Sooner {
			fps[i] = newFingerprint(c.URI.String())
		}
	}
	known, err := f.lookUp(cs, fps, homes, seen)
	if err != nil {
		return nil, Added{}, err
	}
	var again []uriHash // known, and not remembered yet
	for i, c := range cs {
		if known[i] && !c.Sooner {
			added.Known++
			if !seen[i] {
				again = append(again, marks[i])
			}
			continue
		}
		n := newCandidate{namedCandidate: namedCandidate{Candidate: c}, fp: fps[i]}
		if names != nil {
			n.name = names[i]
		}
		fresh = append(fresh, n)
	}
	f.knownURIs.remember(again, round)
	return fresh, added, err
}

// home is the number of a candidate's host, 0 for one that is not known, and how many URIs that has.
type candidateHost struct {
	id   uint32
	uris int64
}

// homesOf gives the home of each candidate, and the hosts whose folders are to be counted first.
func (f *Frontier) candidateHosts(cs []Candidate) ([]candidateHost, []*host, error) {
	homes := make([]candidateHost, len(cs))
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
			homes[i] = candidateHost{id: h.id, uris: h.uris}
		}
	}
	return homes, f.hostsToCount(cs), nil
}

// addBatches inserts newcomers in portions. The lock is held.
func (f *Frontier) addBatches(fresh []newCandidate, now time.Time) (Added, error) {
	var total Added
	if f.closed {
		return total, ErrClosed
	}
	for len(fresh) > 0 {
		n := min(len(fresh), addBatchSize)
		err := inBatches(fresh[:n], func(some []newCandidate) error {
			added, err := f.addBatch(some, now)
			if err == nil {
				total = total.plus(added)
			}
			return err
		})
		if err != nil {
			return total, err
		}
		fresh = fresh[n:]
	}
	return total, nil
}

func (f *Frontier) addBatch(fresh []newCandidate, now time.Time) (Added, error) {
	c := f.begin()
	defer c.discard()
	added, err := c.insert(fresh, now)
	if err != nil {
		return Added{}, err
	}
	return added, c.commit()
}

// insert gives each newcomer a row and a place, unless it has become known or its host is full.
func (c *change) insert(fresh []newCandidate, now time.Time) (Added, error) {
	var added Added
	for _, n := range fresh {
		d := c.draft(n.URI.Host())
		ok, err := isKnown(c.txn, d.h.id, n.fp, n.URI)
		if err != nil {
			return Added{}, err
		}
		if ok {
			added.Known++
			moved := false
			if n.Sooner {
				if moved, err = c.makeSooner(d, n, now); err != nil {
					return Added{}, err
				}
			}
			if moved {
				added.Sooner++
			}
			continue
		}
		taken, err := c.nameTaken(n.namedCandidate)
		if err != nil {
			return Added{}, err
		}
		if taken {
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
		due := n.Due
		if due.IsZero() {
			due = now
		}
		r := Record{URI: n.URI, Hops: n.Hops, Via: n.Via, Seed: n.Seed, History: History{FirstSeen: now, Source: n.Source, Born: n.Born, Urgent: n.Urgent}}
		if err := c.putURI(d, n.fp, uriRow{}, newURIRow(r, dueMillis(due, now))); err != nil {
			return Added{}, err
		}
		if err := c.writeName(n.namedCandidate); err != nil {
			return Added{}, err
		}
		added.New++
	}
	return added, nil
}
