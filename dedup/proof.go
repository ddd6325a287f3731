package dedup

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Indexes of earlier versions may name records that are not responses: an answer without a valid status line was
// archived as a metadata record and put into the index all the same. No reader can play a revisit of such a record.
//
// So the entries of an index are proven once. [Index.Prove] reads the header of each record that an entry names, and
// refuses the record if it is not a response. Until all are proven, [Index.Lost] proves a record when it is used.

const (
	maxRefused = 100_000 // refused records in memory, of some 100 bytes each
	maxTrusted = 10_000  // proven records in memory, while the index is not proven
)

// proof says how far an index is proven.
type proof struct {
	isOrigin func(digest.Origin) (bool, error) // nil = nothing is proven

	mu      sync.RWMutex // guards the fields below
	done    bool         // all entries are proven
	next    []byte       // the first key that is not proven
	refused map[place]struct{}
	trusted map[place]struct{}
}

// place is where a record is.
type place struct {
	file   string
	offset int64
}

// proofRow is the stored form of the progress. Keys are stored: do not change or reuse them.
type proofRow struct {
	Done bool   `cbor:"1,keyasint,omitempty"`
	Next []byte `cbor:"2,keyasint,omitempty"`
}

func refusedKey(p place) []byte {
	return about(refusedOrigin, p.file+"\x00"+string(binary.BigEndian.AppendUint64(nil, uint64(p.offset))))
}

// readProof reads the progress and the refused records from the store.
func (i *Index) readProof() error {
	p := &i.proof
	p.refused, p.trusted = map[place]struct{}{}, map[place]struct{}{}
	return i.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(about(progress, ""))
		if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		if err == nil {
			var row proofRow
			if err := item.Value(func(v []byte) error { return decodeRow(v, &row) }); err != nil {
				return err
			}
			p.done, p.next = row.Done, row.Next
		}
		it := txn.NewIterator(badger.IteratorOptions{Prefix: about(refusedOrigin, "")})
		defer it.Close()
		for it.Rewind(); it.Valid() && len(p.refused) < maxRefused; it.Next() {
			key := it.Item().Key()[len(about(refusedOrigin, "")):]
			if n := len(key) - 9; n > 0 {
				p.refused[place{string(key[:n]), int64(binary.BigEndian.Uint64(key[n+1:]))}] = struct{}{}
			}
		}
		return nil
	})
}

// isRefused reports whether a record is known not to be a response. While the index is not proven, it reads the record.
// A record that cannot be read counts as one, because the files of partners are elsewhere.
func (i *Index) isRefused(o digest.Origin) bool {
	p, at := &i.proof, place{o.File, o.Offset}
	p.mu.RLock()
	_, refused := p.refused[at]
	_, trusted := p.trusted[at]
	open := !p.done && p.isOrigin != nil && o.File != ""
	p.mu.RUnlock()
	if refused || trusted || !open {
		return refused
	}
	ok, err := p.isOrigin(o)
	if err == nil && !ok {
		return i.refuse(at) == nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.trusted) >= maxTrusted {
		clear(p.trusted)
	}
	p.trusted[at] = struct{}{}
	return false
}

// refuse stores that a record is not a response.
func (i *Index) refuse(at place) error {
	key := refusedKey(at)
	if err := i.db.Update(func(txn *badger.Txn) error { return txn.Set(key, []byte{format}) }); err != nil {
		return fmt.Errorf("refuse the record at %s:%d: %w", at.file, at.offset, err)
	}
	i.proof.mu.Lock()
	defer i.proof.mu.Unlock()
	if len(i.proof.refused) < maxRefused {
		i.proof.refused[at] = struct{}{}
	}
	return nil
}

// Proven reports whether all entries are proven, and how many records were refused.
func (i *Index) Proven() (done bool, refused int) {
	i.proof.mu.RLock()
	defer i.proof.mu.RUnlock()
	return i.proof.done, len(i.proof.refused)
}

// Prove proves the next n entries, and deletes the entries of records that are not responses. It returns those records.
// more is false when all entries are proven; then the caller proves the origins that are stored elsewhere with
// [Index.Lost], and calls [Index.FinishProof].
func (i *Index) Prove(n int) (refused []digest.Origin, more bool, err error) {
	i.proof.mu.RLock()
	from, done := bytes.Clone(i.proof.next), i.proof.done || i.proof.isOrigin == nil
	i.proof.mu.RUnlock()
	if done {
		return nil, false, nil
	}
	var drop [][]byte
	var next []byte
	errEnough := errors.New("enough entries")
	err = i.eachFrom(context.Background(), from, func(key []byte, item *badger.Item) error {
		if n--; n < 0 {
			next = bytes.Clone(key)
			return errEnough
		}
		if key[1+len(digest.Digest{})] == reference {
			return nil
		}
		return item.Value(func(v []byte) error {
			e, err := i.decode(digest.Digest(key[1:]), v)
			if err == nil && i.isRefused(e.Origin) {
				drop, refused = append(drop, bytes.Clone(key)), append(refused, e.Origin)
			}
			return err
		})
	})
	more = errors.Is(err, errEnough)
	if err == nil || more {
		err = i.saveProof(proofRow{Next: next}, drop)
	}
	if err != nil {
		return nil, false, fmt.Errorf("prove the entries of the dedup index: %w", err)
	}
	return refused, more, nil
}

// FinishProof records that all entries, and all origins that are stored elsewhere, are proven.
func (i *Index) FinishProof() error { return i.saveProof(proofRow{Done: true}, nil) }

// saveProof stores the progress and deletes entries, in one transaction.
func (i *Index) saveProof(row proofRow, drop [][]byte) error {
	v, err := encodeRow(row)
	if err == nil {
		err = i.update(func(txn *badger.Txn) error {
			for _, key := range drop {
				if err := txn.Delete(key); err != nil {
					return err
				}
			}
			return txn.Set(about(progress, ""), v)
		})
	}
	if err != nil {
		return fmt.Errorf("store how far the dedup index is proven: %w", err)
	}
	i.proof.mu.Lock()
	defer i.proof.mu.Unlock()
	i.proof.done, i.proof.next = row.Done, row.Next
	if row.Done {
		i.proof.trusted = nil
	}
	return nil
}

// FalseOrigins returns the entries whose records are not responses, at most limit of them, without changing anything.
// isOrigin reads the header of a record.
func (i *Index) FalseOrigins(
	ctx context.Context, limit int, isOrigin func(digest.Origin) (bool, error),
) (found []digest.Origin, err error) {
	err = i.each(ctx, func(key []byte, item *badger.Item) error {
		if key[1+len(digest.Digest{})] == reference || len(found) >= limit {
			return nil
		}
		return item.Value(func(v []byte) error {
			e, err := i.decode(digest.Digest(key[1:]), v)
			if err != nil {
				return err
			}
			if ok, err := isOrigin(e.Origin); err == nil && !ok {
				found = append(found, e.Origin)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look for entries of records that are not responses: %w", err)
	}
	return found, nil
}
