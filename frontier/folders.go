package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// foldersBatch is how many folders are written in one transaction: with their keys some 300 KB.
const foldersBatch = 5_000

// uncounted lists the hosts of candidates whose folders have a limit and were not counted yet. The lock is held.
func (f *Frontier) uncounted(cs []Candidate) []*host {
	var list []*host
	var last uri.Host // most links of a page are of one host
	for _, c := range cs {
		name := c.URI.Host()
		h := f.hosts[name]
		if name == last || h == nil || h.counted || h.folders != nil {
			continue
		}
		last = name
		if f.limitsOf(name).PerDirectory > 0 {
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
	counts, err := foldersOf(txn, h.id)
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
func foldersOf(txn *badger.Txn, host uint32) (map[fingerprint]int64, error) {
	counts := map[fingerprint]int64{}
	o := badger.DefaultIteratorOptions
	o.Prefix = key(kindURI, host, nil)
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		err := it.Item().Value(func(v []byte) error {
			t, ok := textOf(v)
			if !ok {
				var row uriRow
				if err := decode(it.Item(), &row); err != nil {
					return err
				}
				t = []byte(row.URI)
			}
			if u := uri.FromCanonical(string(t)); !u.IsZero() && u != u.Robots() { // which nobody takes: it is asked for on demand
				counts[folderOf(u)]++
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
			if len(written) == foldersBatch {
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
func folderOf(u uri.URI) fingerprint {
	return fingerprintOf(u.Path()[:strings.LastIndexByte(u.Path(), '/')+1])
}

// cameOrWent notes for a count in progress that a URI came to a folder, or went.
func (h *host) cameOrWent(u uri.URI, n int64) {
	if h.folders != nil {
		h.folders[folderOf(u)] += n
	}
}
