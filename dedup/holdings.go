package dedup

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Holdings counts the records of one collection in the index, or, for number 0, of the crawl itself.
type Holdings struct {
	Originals  int64 // number of records that represent a payload, of any URI
	Bytes      int64 // size of their payloads, if known
	Referred   int64 // number of originals that revisits refer to
	References int64 // number of revisits that refer to them
}

// Holdings reads the whole index, and returns the holdings of each collection by its number.
func (i *Index) Holdings(ctx context.Context) (map[uint32]*Holdings, error) {
	if err := i.Flush(); err != nil {
		return nil, fmt.Errorf("read the dedup index: %w", err)
	}
	all := map[uint32]*Holdings{}
	group := payloadGroup{index: i, into: all}
	err := i.each(ctx, func(key []byte, item *badger.Item) error {
		return item.Value(func(v []byte) error { return group.take(key, v) })
	})
	if err != nil {
		return nil, fmt.Errorf("read the dedup index: %w", err)
	}
	group.flush()
	return all, nil
}

// each calls visit for all keys of payloads, in their order. A key is valid only during the call.
func (i *Index) each(ctx context.Context, visit func(key []byte, item *badger.Item) error) error {
	meta := string(about(0, ""))
	meta = meta[:len(meta)-1]
	return i.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}, PrefetchValues: true, PrefetchSize: 100})
		defer it.Close()
		for it.Rewind(); it.Valid() && ctx.Err() == nil; it.Next() {
			key := it.Item().Key()
			if len(key) < len(meta) || string(key[:len(meta)]) == meta {
				continue
			}
			if err := visit(key, it.Item()); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// payloadGroup collects the entries of one payload after the other.
type payloadGroup struct {
	index   *Index
	into    map[uint32]*Holdings
	payload digest.Digest
	entries []entry
	refs    map[[refLen]byte]int64
}

func (g *payloadGroup) take(key, v []byte) error {
	if payload := key[1 : 1+len(g.payload)]; string(payload) != string(g.payload[:]) {
		g.flush()
		copy(g.payload[:], payload)
	}
	if key[1+len(g.payload)] == reference {
		n, err := decodeCount(v)
		source := binary.BigEndian.Uint32(key[len(key)-4:])
		if err == nil && g.index.imported.counts(source) {
			if g.refs == nil {
				g.refs = map[[refLen]byte]int64{}
			}
			g.refs[[refLen]byte(key[2+len(g.payload):])] += int64(n)
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
		if n := (name{e.RecordID, e.URI}); seen[n] {
			continue
		} else {
			seen[n] = true
		}
		h := g.into[e.source]
		if h == nil {
			h = new(Holdings)
			g.into[e.source] = h
		}
		h.Originals++
		h.Bytes += e.Size
		refs := g.refs[refName(e.Origin, false)]
		if e.RecordID != "" {
			refs += g.refs[refName(e.Origin, true)]
		}
		if refs > 0 {
			h.Referred++
			h.References += refs
		}
	}
	g.entries, g.refs = g.entries[:0], nil
}

func refName(o digest.Origin, byID bool) [refLen]byte {
	k := refKey(o, byID, 0)
	return [refLen]byte(k[2+len(o.Payload):])
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
	err = i.each(ctx, func(key []byte, item *badger.Item) error {
		if key[1+len(digest.Digest{})] == reference {
			if !drop[binary.BigEndian.Uint32(key[len(key)-4:])] {
				return nil
			}
		} else {
			var e entry
			if err := item.Value(func(v []byte) (err error) {
				e, err = i.decode(digest.Digest(key[1:1+len(digest.Digest{})]), v)
				return err
			}); err != nil || !drop[e.source] {
				return err
			}
		}
		deleted++
		return batch.Delete(item.KeyCopy(nil))
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
