package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// full reports whether a URI that is not known finds its host or its folder full. If not, it counts as one of its folder.
func (c *change) countURI(d *draft, u uri.URI) (bool, error) {
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

// empty takes a forgotten URI off the count of its folder, if it was ever counted.
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

// count reads a counter, zero where there is none.
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

// directoryKey is where the URIs of u's folder are counted.
func directoryKey(host uint32, u uri.URI) []byte { return asideKey(asideDirectory, host, folder(u)) }

// Usage says how full a host and one of its folders are. The limits are those in force.
type Usage struct {
	URIs, InDirectory int64
	Limits
}

// Usage tells how much room there is for one more URI beside u.
func (f *Frontier) Usage(u uri.URI) (Usage, error) {
	id, err := f.hostID(u)
	if err != nil || u.IsZero() {
		return Usage{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fill := Usage{Limits: f.hostLimits(u.Host())}
	if id == 0 {
		return fill, nil
	}
	fill.URIs = f.hosts[u.Host()].uris
	c := f.begin()
	defer c.discard()
	fill.InDirectory, err = c.readCounter(directoryKey(id, u))
	return fill, err
}

// limitsOf are the limits of a host, with those of the whole store where it has none of its own.
func (f *Frontier) hostLimits(h uri.Host) Limits {
	limits := f.limits(h)
	if limits.URIs <= 0 {
		limits.URIs = f.maxURIs
	}
	return limits
}

// foldersBatch is how many folders are written in one transaction: with their keys some 300 KB.
const folderBatch = 5_000

// uncounted lists the hosts of candidates whose folders have a limit and were not counted yet. The lock is held.
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

// countFolders counts the URIs of each folder of a host that was known before its folders had a limit. It reads all rows of
// the host, once in the life of the store, and holds the lock only to write. What is added meanwhile by others goes by the
// counts as far as they are known, and is counted.
func (f *Frontier) countFolders(h *host) error {
	f.mu.Lock()
	if f.closed || h.counted || h.folders != nil {
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
	c := f.begin()
	defer c.discard()
	d := c.draft(h.name)
	d.counted, d.dirty = true, true
	return c.commit()
}

// foldersOf counts the URIs of each folder of a host, as they were when the transaction began.
func countPerFolder(txn *badger.Txn, host uint32) (map[fingerprint]int64, error) {
	counts := map[fingerprint]int64{}
	o := badger.DefaultIteratorOptions
	o.Prefix = key(kindURI, host, nil)
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		err := it.Item().Value(func(v []byte) error {
			t, ok := rowText(v)
			if !ok {
				var row uriRow
				if err := decodeRow(it.Item(), &row); err != nil {
					return err
				}
				t = []byte(row.URI)
			}
			if u := uri.FromCanonical(string(t)); !u.IsZero() && u != u.Robots() { // which nobody takes: it is asked for on demand
				counts[folder(u)]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// writeFolders writes some of the counts, with what came and went meanwhile, and takes them out.
func (f *Frontier) writeFolders(h *host, counts map[fingerprint]int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	var written []fingerprint
	err := f.db.Update(func(txn *badger.Txn) error {
		for folder, n := range counts {
			if len(written) == folderBatch {
				return nil
			}
			written = append(written, folder)
			n = max(0, n+h.folders[folder])
			if err := txn.Set(asideKey(asideDirectory, h.id, folder), binary.BigEndian.AppendUint64(nil, uint64(n))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count the folders of %s: %w", h.name, err)
	}
	for _, folder := range written {
		delete(counts, folder)
	}
	return nil
}

// folderOf is the folder of a URI. Schemes are not told apart, as hosts do not.
func folder(u uri.URI) fingerprint {
	return newFingerprint(u.Path()[:strings.LastIndexByte(u.Path(), '/')+1])
}

// cameOrWent notes for a count in progress that a URI came to a folder, or went.
func (h *host) trackFolder(u uri.URI, n int64) {
	if h.folders != nil {
		h.folders[folder(u)] += n
	}
}
