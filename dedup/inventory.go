package dedup

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Held is a record that the index holds under one URI.
type Held struct {
	digest.Origin
	Collection uint32 // number of its collection; 0 = this crawl
	Revisits   int64  // that refer to it, of this crawl and of active collections
}

// EachPayload reads the whole index, and calls visit with the records of one payload after the other. It has a record
// more than once if it is the first of several kinds. The slice is valid only during the call.
func (i *Index) EachPayload(ctx context.Context, visit func([]Held)) error {
	group := payloadGroup{index: i, visit: visit}
	err := i.Flush()
	if err == nil {
		err = i.each(ctx, group.take)
	}
	if err != nil {
		return fmt.Errorf("read the dedup index: %w", err)
	}
	group.flush()
	return nil
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
	visit   func([]Held)
	payload digest.Digest
	held    []Held
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
		g.held = append(g.held, Held{Origin: e.Origin, Collection: e.source})
	}
	return err
}

// flush passes a payload on.
func (g *payloadGroup) flush() {
	for n, h := range g.held {
		g.held[n].Revisits = g.refs[refName(h.Origin, false)]
		if h.RecordID != "" {
			g.held[n].Revisits += g.refs[refName(h.Origin, true)]
		}
	}
	g.visit(g.held)
	g.held, g.refs = g.held[:0], nil
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
