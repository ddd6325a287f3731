package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// countURI adds a new URI to the count of its folder. It returns true instead if the host or the folder is full.
func (c *change) countURI(d *draft, u uri.URI) (full bool, err error) {
	limits := c.f.hostLimits(d.h.name)
	if d.uris >= limits.URIs {
		return true, nil
	}
	if limits.PerDirectory <= 0 && !d.counted && d.h.folders == nil {
		return false, nil
	}
	k := directoryKey(d.h.id, u)
	n, err := c.readCounter(k)
	if err != nil || limits.PerDirectory > 0 && n >= limits.PerDirectory {
		return true, err
	}
	d.h.trackFolder(u, 1)
	return false, c.txn.Set(k, binary.BigEndian.AppendUint64(nil, uint64(n+1)))
}

// uncountURI removes a URI from the count of its folder, if it was ever counted.
func (c *change) uncountURI(d *draft, u uri.URI) error {
	d.h.trackFolder(u, -1)
	k := directoryKey(d.h.id, u)
	n, err := c.readCounter(k)
	switch {
	case err != nil || n == 0:
		return err
	case n == 1:
		return c.txn.Delete(k)
	}
	return c.txn.Set(k, binary.BigEndian.AppendUint64(nil, uint64(n-1)))
}

// readCounter reads a counter; it is 0 if there is no such key.
func (c *change) readCounter(k []byte) (int64, error) {
	v, err := readBytes(c.txn, string(k))
	switch {
	case err != nil || v == nil:
		return 0, err
	case len(v) != 8:
		return 0, damaged(k, fmt.Errorf("a counter of %d bytes, want 8", len(v)))
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

// directoryKey returns the key that counts the URIs of u's folder.
func directoryKey(host uint32, u uri.URI) []byte { return asideKey(asideDirectory, host, folder(u)) }

// Usage is the number of URIs of a host and of one of its folders, with the limits in force.
type Usage struct {
	URIs, InDirectory int64
	Limits
}

// Usage returns the numbers of URIs, and their limits, that apply to u.
func (f *Frontier) Usage(u uri.URI) (Usage, error) {
	id, err := f.hostID(u)
	if err != nil || u.IsZero() {
		return Usage{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	usage := Usage{Limits: f.hostLimits(u.Host())}
	if id == 0 {
		return usage, nil
	}
	usage.URIs = f.hosts[u.Host()].uris
	c := f.begin()
	defer c.discard()
	usage.InDirectory, err = c.readCounter(directoryKey(id, u))
	return usage, err
}

// hostLimits returns the limits of a host. Where it has none of its own, the limits of all hosts apply.
func (f *Frontier) hostLimits(h uri.Host) Limits {
	limits := f.o.Limits(h)
	if limits.URIs <= 0 {
		limits.URIs = f.o.MaxURIsPerHost
	}
	return limits
}

// folderBatch is how many counts of folders are written in one transaction: some 300 KB with their keys.
const folderBatch = 5_000

// hostsToCount returns the hosts of candidates whose folders have a limit and are not counted yet. The caller holds
// the lock.
func (f *Frontier) hostsToCount(cs []Candidate) []*host {
	var list []*host
	var last uri.Host // most links of a page are of one host
	for _, c := range cs {
		name := c.URI.Host()
		h := f.hosts[name]
		if name == last || h == nil || h.counted || h.folders != nil {
			continue
		}
		last = name
		if f.hostLimits(name).PerDirectory > 0 {
			list = append(list, h)
		}
	}
	return list
}

// countFolders counts the URIs of each folder of a host that was known before its folders had a limit. It reads all
// rows of the host, once in the life of the store, and holds the lock only to write. URIs that are added meanwhile
// are counted, and are checked against the counts that are known by then.
func (f *Frontier) countFolders(h *host) error {
	f.mu.Lock()
	if f.closed || h.counted || h.folders != nil || !f.isKnownHost(h) {
		f.mu.Unlock()
		return nil
	}
	h.folders = map[fingerprint]int64{}
	txn := f.db.NewTransaction(false)
	f.mu.Unlock()
	counts, err := countPerFolder(txn, h.id)
	txn.Discard()
	for err == nil && len(counts) > 0 {
		err = f.writeFolders(h, counts)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h.folders = nil
	if err != nil || f.closed {
		return err
	}
	return f.update(func(c *change) error {
		d := c.draft(h.name)
		d.counted, d.dirty = true, true
		return nil
	})
}

// countPerFolder counts the URIs of each folder of a host, as they were when the transaction began.
func countPerFolder(txn *badger.Txn, host uint32) (map[fingerprint]int64, error) {
	counts := map[fingerprint]int64{}
	for k, err := range scan(txn, key(kindURI, host, nil), nil, prefetched) {
		if err == nil {
			err = withText(k.item, func(t []byte) {
				u := uri.FromCanonical(string(t))
				if !u.IsZero() && u != u.Robots() { // robots.txt is visited on demand and has no limit
					counts[folder(u)]++
				}
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// writeFolders writes a batch of counts, including the changes of the meantime, and removes them from the map.
func (f *Frontier) writeFolders(h *host, counts map[fingerprint]int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	var written []fingerprint
	err := f.db.Update(func(txn *badger.Txn) error {
		for fp, n := range counts {
			if len(written) == folderBatch {
				return nil
			}
			written = append(written, fp)
			n = max(0, n+h.folders[fp])
			if err := txn.Set(asideKey(asideDirectory, h.id, fp), binary.BigEndian.AppendUint64(nil, uint64(n))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count the folders of %s: %w", h.name, err)
	}
	for _, fp := range written {
		delete(counts, fp)
	}
	return nil
}

// folder returns the fingerprint of a URI's folder, regardless of the scheme.
func folder(u uri.URI) fingerprint {
	return newFingerprint(u.Path()[:strings.LastIndexByte(u.Path(), '/')+1])
}

// trackFolder notes for a count in progress that n URIs came to a folder.
func (h *host) trackFolder(u uri.URI, n int64) {
	if h.folders != nil {
		h.folders[folder(u)] += n
	}
}
