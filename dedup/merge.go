package dedup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/arcrawl/arcrawl/digest"
)

// Merger makes one index of the indexes of several stores. It gets their rows with [Merger.Add], in the order of the
// keys, so that rows with one key follow each other, and then [Merger.End].
//
// Files and collections get new numbers. Of several records of a payload the first one that is not lost stays. The
// counts of revisits are the largest ones: indexes that were copied once have counted the same revisits.
type Merger struct {
	Damaged int // entries that cannot be read and are left out: their payloads are archived again

	put func(key, value []byte) error

	files  []map[uint32]string // names by their numbers, of each index
	number map[string]uint32   // of the files, in the new index

	sources     []map[uint32]uint32  // new numbers of the collections of each index
	numbers     map[[2]string]uint32 // of the collections, by hash and crawl
	collections []Collection         // number n is at n-1

	losses map[string]Loss

	// What the rows with the last key say.
	key     []byte
	entries []entry
	counts  map[uint32]uint64 // of revisits, by the new number of the collection
}

// NewMerger returns a merger of n indexes, which calls put with the rows of the new one. Of two rows with one key the
// later one counts.
func NewMerger(n int, put func(key, value []byte) error) *Merger {
	m := &Merger{
		put: put, number: map[string]uint32{}, numbers: map[[2]string]uint32{}, losses: map[string]Loss{},
		counts: map[uint32]uint64{},
	}
	for range n {
		m.files = append(m.files, map[uint32]string{})
		m.sources = append(m.sources, map[uint32]uint32{0: 0})
	}
	return m
}

// IsRow reports whether a key of a store belongs to its index.
func IsRow(key []byte) bool { return len(key) > 0 && key[0] == kind }

// Add adds a row of an index; the first one has the number 0. It keeps neither slice.
func (m *Merger) Add(index int, key, value []byte) (err error) {
	if !bytes.Equal(key, m.key) {
		if err := m.flush(); err != nil {
			return err
		}
		m.key = bytes.Clone(key)
	}
	switch zero := about(0, ""); {
	case len(key) > payloadEnd && bytes.HasPrefix(key, zero[:payloadEnd]):
		err = m.addOther(index, key[payloadEnd], string(key[payloadEnd+1:]), bytes.Clone(value))
	case len(key) == len(countKey{}):
		err = m.addCount(index, value)
	default:
		err = m.addEntry(index, value)
	}
	if errors.Is(err, ErrCorrupt) {
		m.Damaged++
		return nil
	}
	return err
}

// addOther adds a row that is not about a payload.
func (m *Merger) addOther(index int, mark byte, name string, value []byte) error {
	switch {
	case mark == collection && len(name) == 4:
		c, err := decodeCollection(binary.BigEndian.Uint32([]byte(name)), value)
		if err == nil {
			m.addCollection(index, c)
		}
		return err
	case mark == fileName && len(name) == 4 && len(value) > 1 && value[0] == format:
		m.files[index][binary.BigEndian.Uint32([]byte(name))] = string(value[1:])
		return nil
	case mark == lostFile:
		var l Loss
		if err := decodeRow(value, &l); err != nil {
			return err
		}
		return m.addLoss(l, value)
	}
	return ErrCorrupt
}

// addCollection adds a collection, which several indexes may have. If one index has removed it, none may refer to its
// records. If one has read it to its end, all its records are known.
func (m *Merger) addCollection(index int, c Collection) {
	is := [2]string{c.Hash, c.Crawl}
	number, known := m.numbers[is]
	if !known {
		number = uint32(len(m.collections) + 1)
		m.numbers[is], m.collections = number, append(m.collections, Collection{})
	}
	m.sources[index][c.Number] = number
	if c.Number = number; c.State > m.collections[number-1].State {
		m.collections[number-1] = c
	}
}

// addLoss adds a loss. What the operator said goes before what was found, and a loss of more before a loss of less.
func (m *Merger) addLoss(l Loss, value []byte) error {
	asked := func(l Loss) bool { return l.Cause == Moved || l.Cause == Declared }
	before, known := m.losses[l.File]
	if known && (asked(before) && !asked(l) || asked(before) == asked(l) && !l.exceeds(before)) {
		return nil
	}
	m.losses[l.File] = l
	return m.put(m.key, value)
}

func (m *Merger) addCount(index int, value []byte) error {
	n, err := decodeCount(value)
	if err != nil {
		return err
	}
	source, known := m.sources[index][binary.BigEndian.Uint32(m.key[len(m.key)-4:])]
	if !known {
		return ErrCorrupt
	}
	m.counts[source] = max(m.counts[source], n)
	return nil
}

func (m *Merger) addEntry(index int, value []byte) (err error) {
	if len(m.key) != keyLen && len(m.key) != keyLen+1+uriLen {
		return ErrCorrupt
	}
	var payload digest.Digest
	copy(payload[:], m.key[1:])
	var e entry
	if len(value) > 0 && value[0] == compact {
		name := func(n uint32) (string, bool) { name, ok := m.files[index][n]; return name, ok }
		e, err = decodeCompact(payload, value, name)
	} else if e, err = decodeLong(value); err == nil && e.Payload != payload {
		err = ErrCorrupt
	}
	if err != nil {
		return err
	}
	source, known := m.sources[index][e.source]
	if !known {
		return ErrCorrupt
	}
	e.source = source
	m.entries = append(m.entries, e)
	return nil
}

// End writes what is left.
func (m *Merger) End() error {
	err := m.flush()
	for _, c := range m.collections {
		v, wrong := c.encode()
		if wrong == nil {
			wrong = m.put(c.key(), v)
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// flush writes what the rows with the last key say.
func (m *Merger) flush() (err error) {
	for source, n := range m.counts {
		key := binary.BigEndian.AppendUint32(bytes.Clone(m.key[:len(m.key)-4]), source)
		err = errors.Join(err, m.put(key, binary.AppendUvarint([]byte{format}, n)))
	}
	clear(m.counts)
	slices.SortStableFunc(m.entries, func(a, b entry) int {
		if lost := m.isLost(a); lost != m.isLost(b) {
			if lost {
				return 1
			}
			return -1
		}
		return a.Date.Compare(b.Date)
	})
	for i, e := range m.entries {
		key := m.key
		if i > 0 && (len(key) > keyLen || e.URI == m.entries[0].URI || m.isLost(e)) {
			continue
		}
		if i > 0 { // the record of another URI, which a capture of that URI may prefer
			key = under(key, sameURI, e.URI)
		}
		v, wrong := m.encode(e)
		err = errors.Join(err, wrong)
		if wrong == nil {
			err = errors.Join(err, m.put(key, v))
		}
	}
	m.entries = m.entries[:0]
	return err
}

// isLost reports whether no revisit may refer to a record.
func (m *Merger) isLost(e entry) bool {
	l, known := m.losses[e.File]
	return known && l.covers(e.Origin) || e.source > 0 && m.collections[e.source-1].State != Active
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
