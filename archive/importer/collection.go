package importer

import (
	"errors"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
)

// maxFiles bounds the file names that are stored with one collection. Records in further files of a removed collection
// are not recognised by the name of their file.
const maxFiles = 10_000

// maxBatch is the maximum number of records in one call of collecting.add.
const maxBatch = 256

// collectionOf returns the collection of an index with the given hash and crawl.
func collectionOf(i *dedup.Index, hash, crawl string) (dedup.Collection, bool) {
	all := i.Collections()
	n := slices.IndexFunc(all, func(c dedup.Collection) bool { return c.Hash == hash && c.Crawl == crawl })
	if n < 0 {
		return dedup.Collection{}, false
	}
	return all[n], true
}

// Remove marks the records of a collection as missing. [dedup.Index.Find] no longer returns them.
func Remove(i *dedup.Index, c dedup.Collection, now time.Time) error {
	c.State, c.Changed = dedup.Removed, now
	return i.Store(c)
}

// collecting reads one collection into an index.
type collecting struct {
	index *dedup.Index
	dedup.Collection
}

// begin starts the import of a collection, or continues an earlier one of the same collection. If the collection has
// been imported already, the result is nil, and a removed collection becomes active again.
func begin(i *dedup.Index, c dedup.Collection, now time.Time) (*collecting, error) {
	if c.Hash == "" {
		return nil, errors.New("begin an import: the collection has no hash")
	}
	next := uint32(1)
	for _, known := range i.Collections() {
		next = max(next, known.Number+1)
		if known.Hash != c.Hash || known.Crawl != c.Crawl {
			continue
		}
		same := c.Manifest == "" || c.Manifest == known.Manifest
		if !same {
			known.Manifest = c.Manifest
		}
		m := &collecting{i, known}
		switch {
		case known.State == dedup.Importing:
			return m, nil
		case known.State == dedup.Active && same:
			return nil, nil
		}
		return nil, m.activate(now)
	}
	c.Number, c.State, c.Changed = next, dedup.Importing, now
	c.Position, c.Entries, c.Refs, c.Skipped, c.Files = 0, 0, 0, 0, nil
	return &collecting{i, c}, i.Store(c)
}

// add takes the records up to a position. They count after activate. Added records survive a crash, and a later import
// of the same collection continues at the position.
func (m *collecting) add(records []dedup.Found, skipped, position int64) error {
	c := m.Collection
	c.Files = slices.Clone(c.Files)
	c.Position, c.Skipped = position, c.Skipped+skipped
	for _, f := range records {
		if f.Revisit {
			c.Refs++
			continue
		}
		c.Entries++
		file, last := f.Origin.File, c.Files[max(0, len(c.Files)-16):] // most records are in one of the last files
		if len(c.Files) < maxFiles && file != "" && !slices.Contains(last, file) && !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
	}
	if err := m.index.Store(c, records...); err != nil {
		return err
	}
	m.Collection = c
	return nil
}

// activate makes the records of a collection count. Its files have been read, or the operator says that they exist.
func (m *collecting) activate(now time.Time) error {
	if err := m.index.Recall(m.Files...); err != nil {
		return err
	}
	m.State, m.Changed = dedup.Active, now
	return m.index.Store(m.Collection)
}
