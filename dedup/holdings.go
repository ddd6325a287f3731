package dedup

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Holdings is what the index holds of one collection, or, for number 0, of what the crawl itself wrote.
type Holdings struct {
	Originals  int64 // records that stand for a payload, of whatever URI
	Bytes      int64 // of their payloads, where known
	Referred   int64 // of them, those that revisits refer to
	References int64 // revisits that refer to them
}

// Holdings reads the whole index, in the order of payloads, and gives what it holds of each collection by its number.
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

// each gives all keys that are about a payload. They are good only until the next.
func (i *Index) each(ctx context.Context, see func(key []byte, item *badger.Item) error) error {
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
			if err := see(key, it.Item()); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// payloadGroup gathers what is known of one payload after the other.
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

// flush counts a payload. A record that stands under several URIs is one.
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

// Purge deletes what removed collections brought, and the collections; that their files are lost is remembered. It gives how many entries and counts it deleted. After a
// crash it is called again.
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
	if err == nil { // the collections last: until then their entries are known to be removed
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
