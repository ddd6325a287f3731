package dedup

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Row says what the index holds of this crawl or of one imported file.
type Row struct {
	Number     uint32 `json:"number"` // 0 = this crawl
	Name       string `json:"name"`
	State      string `json:"state"`
	Crawl      string `json:"crawl,omitempty"`
	Hash       string `json:"hash,omitempty"`
	Size       int64  `json:"size"`       // bytes of the file
	Originals  int64  `json:"originals"`  // records that are first of their payload, of any URI
	Bytes      int64  `json:"bytes"`      // of the payloads of originals, if known
	Referred   int64  `json:"referred"`   // originals that revisits refer to
	References int64  `json:"references"` // revisits that refer to originals
	Changed    string `json:"changed,omitempty"`
}

// Inventory reads the whole index. The first row is about this crawl, and the others about imported files, including
// removed ones until [Index.Purge].
func (i *Index) Inventory(ctx context.Context) ([]Row, error) {
	if err := i.Flush(); err != nil {
		return nil, fmt.Errorf("read the dedup index: %w", err)
	}
	rows := []Row{{Name: "(this crawl)", State: Active.String()}}
	for _, c := range i.Collections() {
		row := Row{
			Number: c.Number, Name: c.Name, State: c.State.String(), Crawl: c.Crawl, Hash: c.Hash, Size: c.Size, Changed: "-",
		}
		if !c.Changed.IsZero() {
			row.Changed = c.Changed.UTC().Format(time.RFC3339)
		}
		rows = append(rows, row)
	}
	group := payloadGroup{index: i, into: map[uint32]*Row{}}
	for n := range rows {
		group.into[rows[n].Number] = &rows[n]
	}
	if err := i.each(ctx, group.take); err != nil {
		return nil, fmt.Errorf("read the dedup index: %w", err)
	}
	group.flush()
	return rows, nil
}

// each calls visit for all rows of payloads, in the order of their keys. Both slices are valid only during the call.
func (i *Index) each(ctx context.Context, visit func(key, value []byte) error) error {
	meta := about(0, "")
	meta = meta[:len(meta)-1]
	return i.db.View(func(txn *badger.Txn) error {
		return scan(txn, []byte{kind}, func(key, value []byte) error {
			if ctx.Err() != nil || len(key) < len(meta) || bytes.HasPrefix(key, meta) {
				return ctx.Err()
			}
			return visit(key, value)
		})
	})
}

// payloadGroup collects the entries of one payload after the other.
type payloadGroup struct {
	index   *Index
	into    map[uint32]*Row // by the number of the collection
	payload digest.Digest
	entries []entry
	refs    map[[refLen]byte]int64
}

func (g *payloadGroup) take(key, v []byte) error {
	if payload := key[1:payloadEnd]; string(payload) != string(g.payload[:]) {
		g.flush()
		copy(g.payload[:], payload)
	}
	if key[payloadEnd] == reference {
		n, err := decodeCount(v)
		source := binary.BigEndian.Uint32(key[len(key)-4:])
		if err == nil && g.index.imported.counts(source) {
			if g.refs == nil {
				g.refs = map[[refLen]byte]int64{}
			}
			g.refs[[refLen]byte(key[payloadEnd+1:])] += int64(n)
		}
		return err
	}
	e, err := g.index.decode(g.payload, v)
	if err == nil {
		g.entries = append(g.entries, e)
	}
	return err
}

// flush counts a payload. A record under several URIs counts once.
func (g *payloadGroup) flush() {
	type name struct{ id, uri string }
	seen := map[name]bool{}
	for _, e := range g.entries {
		row, n := g.into[e.source], name{e.RecordID, e.URI}
		if seen[n] || row == nil {
			continue
		}
		seen[n] = true
		row.Originals++
		row.Bytes += e.Size
		refs := g.refs[refName(e.Origin, false)]
		if e.RecordID != "" {
			refs += g.refs[refName(e.Origin, true)]
		}
		if refs > 0 {
			row.Referred++
			row.References += refs
		}
	}
	g.entries, g.refs = g.entries[:0], nil
}

func refName(o digest.Origin, byID bool) [refLen]byte {
	k := refKey(o, byID, 0)
	return [refLen]byte(k[payloadEnd+1:])
}

// Purge deletes the records of removed collections, and the collections. Their files stay recorded as lost. It returns
// the number of deleted entries and counts. After a crash it has to be called again.
func (i *Index) Purge(ctx context.Context) (deleted int64, err error) {
	drop := map[uint32]bool{}
	for _, c := range i.Collections() {
		if c.State != Removed {
			continue
		}
		drop[c.Number] = true
		for _, f := range c.Files {
			if !i.imported.isGone(f) {
				continue // another collection has it
			}
			if err := i.Forget(f, 0); err != nil {
				return 0, err
			}
		}
	}
	if len(drop) == 0 {
		return 0, nil
	}
	batch := i.db.NewWriteBatch()
	defer batch.Cancel()
	err = i.each(ctx, func(key, v []byte) error {
		var source uint32
		if key[payloadEnd] == reference {
			source = binary.BigEndian.Uint32(key[len(key)-4:])
		} else {
			e, err := i.decode(digest.Digest(key[1:payloadEnd]), v)
			if err != nil {
				return err
			}
			source = e.source
		}
		if !drop[source] {
			return nil
		}
		deleted++
		return batch.Delete(bytes.Clone(key))
	})
	if err == nil {
		err = batch.Flush()
	}
	if err == nil { // the collections last: until then their entries count as removed
		err = i.db.Update(func(txn *badger.Txn) error {
			for number := range drop {
				if err := txn.Delete(numbered(number)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return deleted, fmt.Errorf("purge the dedup index: %w", err)
	}
	return deleted, i.readCollections()
}
