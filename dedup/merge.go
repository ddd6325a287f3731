package dedup

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/arcrawl/arcrawl/digest"
)

// Merger makes the index of one store of an index that several stores share, and of what these have of their own. Files
// get new numbers.
type Merger struct {
	Damaged int // rows that cannot be read and are left out: their payloads are archived again

	put         func(key, value []byte) error
	number      map[string]uint32 // of the files, in the new index
	collections map[uint32]Collection
	losses      map[string]Loss
}

// NewMerger returns a merger, which calls put with the rows of the new index. Of two rows with one key the later one
// counts.
func NewMerger(put func(key, value []byte) error) *Merger {
	return &Merger{
		put: put, number: map[string]uint32{}, collections: map[uint32]Collection{}, losses: map[string]Loss{},
	}
}

// IsRow reports whether a key of a store belongs to its index.
func IsRow(key []byte) bool { return len(key) > 0 && key[0] == kind }

// Add adds a row that a store has of its own: a loss or a collection. It keeps neither slice.
func (m *Merger) Add(key, value []byte) error {
	switch name := key[min(len(key), payloadEnd+1):]; {
	case KindOf(key) == SharedLoss:
		var l Loss
		if decodeRow(value, &l) == nil {
			return m.addLoss(l, key, value)
		}
	case len(key) > payloadEnd && isMeta(key) && key[payloadEnd] == collection && len(name) == 4:
		if c, err := decodeCollection(binary.BigEndian.Uint32(name), value); err == nil {
			return m.addCollection(c)
		}
	}
	m.Damaged++
	return nil
}

// addCollection adds a collection, which several stores may have. If one has removed it, none may refer to its records.
// If one has read it to its end, all its records are known.
func (m *Merger) addCollection(c Collection) error {
	if c.State <= m.collections[c.Number].State {
		return nil
	}
	m.collections[c.Number] = c
	v, err := c.encode()
	if err != nil {
		return err
	}
	return m.put(c.key(), v)
}

// addLoss adds a loss. What the operator said goes before what was found, and a loss of more before a loss of less.
func (m *Merger) addLoss(l Loss, key, value []byte) error {
	asked := func(l Loss) bool { return l.Cause == Moved || l.Cause == Declared }
	before, known := m.losses[l.File]
	if known && (asked(before) && !asked(l) || asked(before) == asked(l) && !l.exceeds(before)) {
		return nil
	}
	m.losses[l.File] = l
	return m.put(bytes.Clone(key), bytes.Clone(value))
}

// AddShared adds a row of the shared index. It keeps neither slice.
func (m *Merger) AddShared(key, value []byte) error {
	switch KindOf(key) {
	case Entry:
		e, err := decodePortable(key, value)
		if err != nil {
			break
		}
		v, err := m.encode(e)
		return errors.Join(err, m.put(bytes.Clone(key), v))
	case Count:
		if n := portableCount(value); n > 0 {
			return m.put(bytes.Clone(key), binary.AppendUvarint([]byte{format}, n))
		}
	case SharedLoss: // the stores have it too
		return nil
	}
	m.Damaged++
	return nil
}

// decodePortable reads an entry of the shared index.
func decodePortable(key, value []byte) (e entry, err error) {
	payload := digest.Digest(key[1:payloadEnd])
	if len(key) != keyLen && len(key) != keyLen+1+uriLen {
		return e, ErrCorrupt
	}
	if len(value) > 0 && value[0] == compact {
		return decodeCompact(payload, value, func(uint32) (string, bool) { return "", false })
	}
	if e, err = decodeLong(value); err == nil && e.Payload != payload {
		err = ErrCorrupt
	}
	return e, err
}

// encode returns an entry in its stored form. A file gets a number with its first entry.
func (m *Merger) encode(e entry) ([]byte, error) {
	if !fits(e) {
		return encodeLong(e)
	}
	n := m.number[e.File]
	if n == 0 && e.File != "" && len(m.number) < maxNames {
		n = uint32(len(m.number) + 1)
		m.number[e.File] = n
		if err := m.put(nameKey(n), append([]byte{format}, e.File...)); err != nil {
			return nil, err
		}
	}
	return encodeCompact(e, n), nil
}
