package frontier

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// evictBatch is how many URIs of an evicted host are removed in one transaction, which holds the lock for some
	// hundred µs.
	evictBatch = 40
	// scanBatch is how many hosts are looked at while the lock is held.
	scanBatch = 5_000
	// maxEvicted is the maximum number of hosts that one call of MakeRoom evicts.
	maxEvicted = 10_000
)

// MakeRoom evicts hosts if nearly as many are known as [NewHosts].Total allows, so that a hundredth of the total is
// free for new ones. Only hosts that never answered are evicted, first those that rest longest. A host stays if it has
// a seed, an archived or held URI or a claim in progress, if it is paused, or if [Options].Keep says so. Call MakeRoom
// every minute or so. It holds the lock for some dozens of URIs at a time, and stops early when stop is closed.
//
// An evicted host has no URIs any more. It stays known, with its rest, until a new host takes its number.
func (f *Frontier) MakeRoom(stop <-chan struct{}) (evicted int, err error) {
	want, hosts, err := f.missingRoom()
	if err != nil || want <= 0 {
		return 0, err
	}
	for _, v := range f.evictable(hosts) {
		if err != nil || evicted == want || isClosed(stop) {
			break
		}
		var gone bool
		if gone, err = f.evict(stop, v.h); gone {
			evicted++
		}
	}
	if err != nil {
		return evicted, fmt.Errorf("evict hosts of the frontier that never answered: %w", err)
	}
	return evicted, nil
}

func isClosed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// EvictedHosts returns the number of hosts that were evicted since the opening.
func (f *Frontier) EvictedHosts() int64 { return f.evicted.Load() }

// missingRoom returns how many hosts must be evicted, and all hosts if there are any.
func (f *Frontier) missingRoom() (want int, hosts []*host, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, nil, ErrClosed
	}
	total := f.o.NewHosts.Total
	if total == 0 || len(f.byID) < total-total/100 {
		return 0, nil, nil
	}
	f.vacant = slices.DeleteFunc(f.vacant, func(h *host) bool {
		h.vacant = h.uris == 0
		return !h.vacant
	})
	want = len(f.byID) - len(f.vacant) - (total - max(1, total/100))
	return min(want, maxEvicted), f.listHosts(), nil
}

// victim is a host that may be evicted, as it was when it was looked at.
type victim struct {
	h    *host
	uris bool // it has any
	rest int64
}

// evictable returns the hosts that may be evicted, in the order of their eviction.
func (f *Frontier) evictable(hosts []*host) (list []victim) {
	for some := range slices.Chunk(hosts, scanBatch) {
		f.mu.Lock()
		for _, h := range some {
			if f.mayEvict(h) {
				list = append(list, victim{h: h, uris: h.uris > 0, rest: h.rest})
			}
		}
		f.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b victim) int {
		if a.uris != b.uris {
			return int(countIf(a.uris) - countIf(b.uris)) // hosts without URIs first
		}
		return cmp.Or(cmp.Compare(b.rest, a.rest), cmp.Compare(a.h.id, b.h.id))
	})
	return list
}

// mayEvict reports whether a host may be evicted now, as far as its rows need not be read for that.
func (f *Frontier) mayEvict(h *host) bool {
	if h.leaving {
		return h.stray && h.claims() == 0 && !h.vacant && f.hosts[h.name] == h
	}
	return h.met == metNever && (h.failures > 0 || h.uris == 0) && h.claims() == 0 && h.paused == 0 && h.held == 0 &&
		h.folders == nil && !h.mustStay && !h.vacant && f.hosts[h.name] == h && !f.o.Keep(h.name)
}

// evict removes the URIs of a host and all that belongs to them, in portions. gone is false if the host must stay, or
// was used meanwhile.
func (f *Frontier) evict(stop <-chan struct{}, h *host) (gone bool, err error) {
	stays, err := f.hasRowToKeep(h.id)
	if err != nil || stays {
		f.mu.Lock()
		defer f.mu.Unlock()
		h.mustStay = stays
		return false, err
	}
	more := true
	for from := (fingerprint{}); more && err == nil && !isClosed(stop); {
		from, gone, more, err = f.evictPortion(h, from)
	}
	return gone, err
}

// mustStay reports whether a URI is never evicted: it is a seed, or the archive has something of it.
func (w *uriRow) mustStay() bool {
	return len(w.Hops) == 0 || w.LastCapture != 0 || w.Versions > 0 || w.Origin != nil
}

// hasRowToKeep reports whether a host has a URI that is never evicted.
func (f *Frontier) hasRowToKeep(host uint32) (found bool, err error) {
	err = f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, key(kindURI, host, nil), nil, prefetched) {
			var w uriRow
			if err == nil {
				err = decodeRow(k.item, &w)
			}
			if err != nil {
				return err
			}
			if found = w.mustStay(); found {
				return nil
			}
		}
		return nil
	})
	return found, err
}

// evictPortion removes the next URIs of a host, or, if there are no more, what is left of it. Each portion is one
// transaction, after which the store is sound.
func (f *Frontier) evictPortion(h *host, from fingerprint) (last fingerprint, gone, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return from, false, false, ErrClosed
	}
	if !f.mayEvict(h) {
		return from, false, false, nil
	}
	c := f.begin()
	defer c.discard()
	fps, err := nextURIs(c.txn, h.id, from)
	if err != nil {
		return from, false, false, err
	}
	if len(fps) == 0 && h.uris > 0 {
		return from, false, false, nil // a URI was added meanwhile
	}
	d := c.draft(h.name)
	var forgotten []RecentHash
	for _, fp := range fps {
		was, ok, err := uriRowAt(c.txn, h.id, fp)
		switch {
		case err == nil && !ok:
			err = damaged(uriKey(h.id, fp), errors.New("it vanished while it was read"))
		case err == nil && was.mustStay() && !h.leaving: // it was added meanwhile
			h.mustStay = true
			return from, false, false, nil
		case err == nil:
			forgotten = append(forgotten, f.knownURIs.Hash(string(was.URI)))
			err = errors.Join(c.forget(d, fp, was), c.forgetName(uri.FromCanonical(string(was.URI))))
		}
		if err != nil {
			return from, false, false, err
		}
		from = fp
	}
	if len(fps) == 0 {
		if more, err = c.removeRest(h.id); err != nil {
			return from, false, false, err
		}
		gone = !more
	}
	if err := c.commit(); err != nil {
		return from, false, false, err
	}
	f.knownURIs.Forget(forgotten)
	if gone {
		for _, scheme := range []string{"http", "https"} {
			f.robotsCopies.invalidate(robotsFile{u: uri.FromCanonical(scheme + "://" + string(h.name) + "/")})
		}
		h.vacant = true
		f.vacant = append(f.vacant, h)
		f.evicted.Add(1)
	}
	return from, gone, !gone, nil
}

// nextURIs returns the fingerprints of some URIs of a host that follow the given one.
func nextURIs(txn *badger.Txn, host uint32, from fingerprint) (fps []fingerprint, err error) {
	for k, err := range scan(txn, key(kindURI, host, nil), append(uriKey(host, from), 0), 0) {
		if err != nil || len(fps) == evictBatch {
			return fps, err
		}
		fps = append(fps, k.fp())
	}
	return fps, nil
}

// forgetName removes the name of a URI, if the URI has it.
func (c *change) forgetName(u uri.URI) error {
	name, ok := c.f.canonicalName(u)
	if !ok {
		return nil
	}
	holder, err := readBytes(c.txn, string(holderKey(name)))
	if err != nil || string(holder) != u.String() {
		return err
	}
	return c.txn.Delete(holderKey(name))
}

// removeRest removes what the store has of a host without URIs, except its record and its name. Another host is going
// to have its number, so nothing may be left. more is true if something is.
func (c *change) removeRest(host uint32) (more bool, err error) {
	return c.removeRows(host, numbered[2:]) // without its record and its URIs
}

// removeRows removes some of the rows of a host that have some kinds. more is true if others are left.
func (c *change) removeRows(host uint32, kinds []string) (more bool, err error) {
	var keys [][]byte
	for _, kind := range kinds {
		it := c.txn.NewIterator(badger.IteratorOptions{Prefix: binary.BigEndian.AppendUint32([]byte(kind), host)})
		for it.Rewind(); it.Valid() && len(keys) < 10*evictBatch; it.Next() {
			keys = append(keys, it.Item().KeyCopy(nil))
		}
		it.Close()
	}
	for _, k := range keys {
		if err := c.txn.Delete(k); err != nil {
			return false, err
		}
	}
	return len(keys) == 10*evictBatch, nil
}

// hasVacant reports whether a new host can take the number of an evicted one, the last one of the list.
func (c *change) hasVacant() bool {
	for n := len(c.f.vacant); n > 0; n-- {
		h := c.f.vacant[n-1]
		if h.uris == 0 && h.claims() == 0 && h.paused == 0 && h.folders == nil && c.drafts[h.name] == nil {
			return true
		}
		h.vacant = false // it is used again
		c.f.vacant = c.f.vacant[:n-1]
	}
	return false
}

// takeVacant returns an evicted host whose number a new host can take; nil if there is none.
func (c *change) takeVacant() *host {
	if !c.hasVacant() {
		return nil
	}
	last := len(c.f.vacant) - 1
	h := c.f.vacant[last]
	c.f.vacant[last] = nil
	c.f.vacant, c.taken = c.f.vacant[:last], append(c.taken, h)
	return h
}

// host returns a known host by its name, unless another one takes its number with this change.
func (c *change) host(name uri.Host) *host {
	h := c.f.hosts[name]
	if h != nil && h.vacant && slices.Contains(c.taken, h) {
		return nil
	}
	return h
}

// replaceHost makes a host known in memory that takes the number of an evicted one.
func (f *Frontier) replaceHost(old, h *host) {
	for kind := range old.quotas {
		f.leaveQuota(old, kind)
	}
	if g := old.group; g != nil {
		old.group = nil
		g.hosts = slices.DeleteFunc(g.hosts, func(other *host) bool { return other == old })
		if len(g.hosts) > 0 {
			f.updateGroup(g)
		}
	}
	if p := old.pool; p != nil {
		f.pooledContenders -= p.counted[0]
		f.pooledPlaces -= p.counted[1]
	}
	f.queue.remove(old)
	delete(f.hosts, old.name)
	if f.listed {
		f.byID, f.listed = slices.Clone(f.byID), false
	}
	f.byID[h.id-1] = h
	f.enterHost(h)
}

// listHosts returns the hosts that are known now. The caller holds the lock, and may read the list without it: before
// a number gets another host, the list is copied.
func (f *Frontier) listHosts() []*host {
	f.listed = true
	return f.byID[:len(f.byID):len(f.byID)]
}
