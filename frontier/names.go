package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// holderKey returns the key that holds the URI of a canonical name.
func holderKey(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte{kindAside, asideName}, sum[:len(sum)/2]...)
}

// canonicalName returns the name of a URI by the rules of its host. ok is false if the host has no rules, so that the
// name of a URI is the URI itself.
func (f *Frontier) canonicalName(u uri.URI) (name string, ok bool) {
	if n := f.o.Names(u.Host()); !n.Plain() {
		return n.Name(u), true
	}
	return "", false
}

// nameHolder returns the known URI that has a name; ok is false if there is none, or if it is not reachable.
func nameHolder(txn *badger.Txn, number hostNumber, name string) (u uri.URI, ok bool, err error) {
	k := holderKey(name)
	text, err := readBytes(txn, string(k))
	if err != nil || text == nil {
		return uri.URI{}, false, err
	}
	if u = uri.FromCanonical(string(text)); u.IsZero() {
		return uri.URI{}, false, damaged(k, fmt.Errorf("holds %q, which is not a URI", text))
	}
	ok, err = isReachable(txn, number, u)
	return u, ok, err
}

// hostNumber returns the number of a host, 0 if it is not known.
type hostNumber func(*badger.Txn, uri.Host) (uint32, error)

// isReachable reports whether a URI has a row, and is neither failing nor gone at present. A URI that was never
// visited counts as reachable. One that is not keeps its name only until another URI asks for the name, so that no
// page is lost behind a dead link.
func isReachable(txn *badger.Txn, number hostNumber, u uri.URI) (bool, error) {
	id, err := number(txn, u.Host())
	if err != nil || id == 0 {
		return false, err
	}
	w, ok, err := uriRowFor(txn, id, newFingerprint(u.String()), u)
	if errors.Is(err, ErrCollision) {
		return false, nil // it was refused
	}
	return ok && w.Failures == 0 && w.Gone == 0 && w.Status < firstError, err
}

// firstError is the lowest HTTP status of an error.
const firstError = 400

// storedHostID returns the number of a host on disk, 0 if it is not known.
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

// hostID returns the number that a host will have after the change, 0 if it is not known.
func (c *change) hostID(_ *badger.Txn, h uri.Host) (uint32, error) {
	if d := c.drafts[h]; d != nil {
		return d.h.id, nil
	}
	if hosted := c.host(h); hosted != nil {
		return hosted.id, nil
	}
	return 0, nil
}

// nameCandidates replaces candidates by the known URIs that have their names, and returns the names to be written. If
// no name is needed, it returns the candidates unchanged and no names.
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
			holder, ok, err := nameHolder(txn, storedHostID, name)
			if err == nil && !ok {
				holder, ok, err = itsOwnName(txn, cs[i].URI, name)
			}
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if names[i] = ""; cs[i].Hops != "" { // a seed is visited in its own right
				cs[i].URI = holder
			}
		}
		return nil
	})
}

// itsOwnName returns the reachable URI, other than u, that is its own name. It was added before the rules of its host,
// so it has no entry.
func itsOwnName(txn *badger.Txn, u uri.URI, name string) (plain uri.URI, ok bool, err error) {
	if plain = uri.FromCanonical(name); plain.IsZero() || plain == u {
		return plain, false, nil
	}
	ok, err = isReachable(txn, storedHostID, plain)
	return plain, ok, err
}

// redirectsWithinName reports whether a URI is the target of a redirect from a URI with the same name. It is then
// visited in its own right. Otherwise rules that treat http and https as the same would never reach a page behind
// such a redirect.
func (f *Frontier) redirectsWithinName(name string, hops uri.HopPath, via string) bool {
	if hops.TrailingRedirects() == 0 {
		return false
	}
	from, ok := f.canonicalName(uri.FromCanonical(via))
	return ok && from == name
}

// nameTaken reports whether another URI has got the candidate's name since it was looked up.
func (c *change) nameTaken(n newCandidate) (bool, error) {
	if n.name == "" {
		return false, nil
	}
	other, ok, err := nameHolder(c.txn, c.hostID, n.name)
	return ok && other != n.URI && n.Hops != "", err
}

// takesNoHost reports whether the host of a candidate is not known, and does not become known because another URI has
// the candidate's name. Such a host must not get a number: it would stay unused, and hosts are numbered without gaps.
func (c *change) takesNoHost(n newCandidate) (bool, error) {
	if id, err := c.hostID(c.txn, n.URI.Host()); err != nil || id != 0 {
		return false, err
	}
	return c.nameTaken(n)
}

// writeName writes that a URI has a name, unless another one has it.
func (c *change) writeName(name string, u uri.URI) error {
	if name == "" {
		return nil
	}
	if _, ok, err := nameHolder(c.txn, c.hostID, name); ok || err != nil {
		return err
	}
	return c.txn.Set(holderKey(name), []byte(u.String()))
}

// VisitedFor returns the URI that is visited for all URIs with the same name as r's: r's own URI, or one that was
// known before. A seed is visited in its own right, and so is the target of a redirect from a URI with the same name.
// If no URI has the name, or one that is not reachable while r's URI is, the name goes to the reachable URI that is its
// own name, or else to r's URI.
func (f *Frontier) VisitedFor(r Record) (uri.URI, error) {
	name, ok := f.canonicalName(r.URI)
	if !ok || r.Hops == "" || f.redirectsWithinName(name, r.Hops, r.Via) {
		return r.URI, nil
	}
	u, err := f.takeName(r.URI, name)
	if err != nil {
		return uri.URI{}, fmt.Errorf("look up the URI that has the name of %s: %w", r.URI, err)
	}
	return u, nil
}

// takeName returns the URI that has a name. If the name is free, u gets it.
func (f *Frontier) takeName(u uri.URI, name string) (other uri.URI, err error) {
	taken := false
	err = f.View(func(txn *badger.Txn) error {
		if other, taken, err = nameHolder(txn, storedHostID, name); taken || err != nil {
			return err
		}
		reachable, err := isReachable(txn, storedHostID, u)
		if err != nil || !reachable && !other.IsZero() {
			taken = true // neither is reachable, so the other one keeps the name
			return err
		}
		plain, ok, err := itsOwnName(txn, u, name)
		if ok {
			other, taken = plain, true
		}
		return err
	})
	if taken || err != nil {
		return other, err
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
	if err := c.writeName(name, u); err != nil {
		return uri.URI{}, err
	}
	return u, c.commit()
}

// VisitedInstead returns another known URI that is visited instead of u, because both have the same name; ok is false
// if there is none.
func (f *Frontier) VisitedInstead(u uri.URI) (other uri.URI, ok bool, err error) {
	name, named := f.canonicalName(u)
	if !named {
		return uri.URI{}, false, nil
	}
	err = f.View(func(txn *badger.Txn) error {
		other, ok, err = nameHolder(txn, storedHostID, name)
		return err
	})
	return other, ok && other != u, err
}
