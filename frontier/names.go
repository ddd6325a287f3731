package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// holderKey is where it is written which URI has a name.
func holderKey(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte{kindAside, asideName}, sum[:len(sum)/2]...)
}

// nameOf is the name of a URI by the rules of its host; ok is false when each URI of the host is its own name.
func (f *Frontier) canonicalName(u uri.URI) (name string, ok bool) {
	if n := f.names(u.Host()); !n.Plain() {
		return n.Name(u), true
	}
	return "", false
}

// holder is the known URI that has a name; ok is false when none has that answers.
func nameHolder(txn *badger.Txn, idOf func(*badger.Txn, uri.Host) (uint32, error), name string) (u uri.URI, ok bool, err error) {
	k := holderKey(name)
	text, err := readBytes(txn, string(k))
	if err != nil || text == nil {
		return uri.URI{}, false, err
	}
	if u = uri.FromCanonical(string(text)); u.IsZero() {
		return uri.URI{}, false, damaged(k, fmt.Errorf("holds %q, which is no URI", text))
	}
	ok, err = isReachable(txn, idOf, u)
	return u, ok, err
}

// answers reports whether a URI has a row, and does not fail or turn out to be gone at present. One that was never visited
// may well answer. Who does not answer keeps its name only until another one asks for it: no page is lost behind a dead
// link.
func isReachable(txn *badger.Txn, idOf func(*badger.Txn, uri.Host) (uint32, error), u uri.URI) (bool, error) {
	id, err := idOf(txn, u.Host())
	if err != nil || id == 0 {
		return false, err
	}
	w, ok, err := uriRowFor(txn, id, newFingerprint(u.String()), u)
	return ok && w.Failures == 0 && w.Gone == 0 && w.Status < firstError, err
}

// firstError is the first HTTP status that tells of no page.
const firstError = 400

// storedID is the number of a host as it is on disk, 0 if it is not known.
func storedHostID(txn *badger.Txn, h uri.Host) (uint32, error) {
	k := nameKey(h)
	id, err := readBytes(txn, string(k))
	switch {
	case err != nil || id == nil:
		return 0, err
	case len(id) != hostPrefix-1:
		return 0, damaged(k, fmt.Errorf("a host number of %d bytes", len(id)))
	}
	return binary.BigEndian.Uint32(id), nil
}

// idOf is the number of a host as it will be.
func (c *change) hostID(_ *badger.Txn, h uri.Host) (uint32, error) {
	if d := c.drafts[h]; d != nil {
		return d.h.id, nil
	}
	if known := c.f.hosts[h]; known != nil {
		return known.id, nil
	}
	return 0, nil
}

// called is a candidate, or the known URI that has its name in its place, and the name that it will have if it is new.
type namedCandidate struct {
	Candidate
	name string // empty when none is to be written
}

// call finds the names of candidates. It gives them as they are, and no names, where each is its own.
func (f *Frontier) nameCandidates(cs []Candidate) ([]Candidate, []string, error) {
	var names []string
	for i, c := range cs {
		if c.URI.IsZero() {
			continue
		}
		if name, ok := f.canonicalName(c.URI); ok && !f.redirectsWithinName(name, c.Hops, c.Via) {
			if names == nil {
				names = make([]string, len(cs))
			}
			names[i] = name
		}
	}
	if names == nil {
		return cs, nil, nil
	}
	cs = slices.Clone(cs)
	return cs, names, f.View(func(txn *badger.Txn) error {
		for i, name := range names {
			if name == "" {
				continue
			}
			c := namedCandidate{cs[i], name}
			if err := c.resolveName(txn); err != nil {
				return err
			}
			cs[i], names[i] = c.Candidate, c.name
		}
		return nil
	})
}

// settleName puts the URI that has the candidate's name in its place. Seeds stay themselves.
func (c *namedCandidate) resolveName(txn *badger.Txn) error {
	u, ok, err := nameHolder(txn, storedHostID, c.name)
	if err != nil {
		return err
	}
	if !ok {
		// Before the rules were these, a URI that is its own name was written nowhere.
		u = uri.FromCanonical(c.name)
		if u.IsZero() || u == c.URI {
			return nil
		}
		if ok, err = isReachable(txn, storedHostID, u); err != nil || !ok {
			return err
		}
	}
	c.name = ""
	if c.Hops != "" {
		c.URI = u
	}
	return nil
}

// follows reports whether a URI of this name is what a URI of the same name redirects to. Such a one is visited in its own
// right: who takes http and https for one would never see a page otherwise.
func (f *Frontier) redirectsWithinName(name string, hops uri.HopPath, via string) bool {
	if hops.TrailingRedirects() == 0 {
		return false
	}
	from, ok := f.canonicalName(uri.FromCanonical(via))
	return ok && from == name
}

// nameTaken reports whether another URI has got the newcomer's name since it was looked up.
func (c *change) nameTaken(n namedCandidate) (bool, error) {
	if n.name == "" {
		return false, nil
	}
	other, ok, err := nameHolder(c.txn, c.hostID, n.name)
	return ok && other != n.URI && n.Hops != "", err
}

// writeName notes that a URI has its name from now on, unless another one has it already.
func (c *change) writeName(n namedCandidate) error {
	if n.name == "" {
		return nil
	}
	if _, ok, err := nameHolder(c.txn, c.hostID, n.name); ok || err != nil {
		return err
	}
	return c.txn.Set(holderKey(n.name), []byte(n.URI.String()))
}

// VisitedFor is the URI that is visited for all that have one name with r's: r's own, or another one that was known before. A
// seed, and what a URI of the same name redirects to, are visited in their own right. If nobody has the name yet, or one
// that does not answer while r does, r's URI has it from now on.
func (f *Frontier) VisitedFor(r Record) (uri.URI, error) {
	name, ok := f.canonicalName(r.URI)
	if !ok || r.Hops == "" || f.redirectsWithinName(name, r.Hops, r.Via) {
		return r.URI, nil
	}
	u, err := f.holderOf(r.URI, name)
	if err != nil {
		return uri.URI{}, fmt.Errorf("look up who has the name of %s: %w", r.URI, err)
	}
	return u, nil
}

func (f *Frontier) holderOf(u uri.URI, name string) (other uri.URI, err error) {
	taken, able := false, false
	err = f.View(func(txn *badger.Txn) error {
		if other, taken, err = nameHolder(txn, storedHostID, name); taken || err != nil {
			return err
		}
		able, err = isReachable(txn, storedHostID, u)
		return err
	})
	if taken || err != nil {
		return other, err
	}
	if !able && !other.IsZero() {
		return other, nil // neither answers: the name stays where it is
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return uri.URI{}, ErrClosed
	}
	c := f.begin()
	defer c.discard()
	if other, taken, err = nameHolder(c.txn, c.hostID, name); taken || err != nil {
		return other, err
	}
	if err := c.writeName(namedCandidate{Candidate: Candidate{URI: u}, name: name}); err != nil {
		return uri.URI{}, err
	}
	return u, c.commit()
}

// VisitedInstead is another known URI that is visited in u's place, because the two have one name; ok is false when there is none.
func (f *Frontier) VisitedInstead(u uri.URI) (other uri.URI, ok bool, err error) {
	name, called := f.canonicalName(u)
	if !called {
		return uri.URI{}, false, nil
	}
	err = f.View(func(txn *badger.Txn) error {
		other, ok, err = nameHolder(txn, storedHostID, name)
		return err
	})
	return other, ok && other != u, err
}
