package frontier

import (
	"encoding/binary"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// encoder writes rows as the general CBOR encoder does from their tags, byte for byte, in a tenth of its time. A test
// compares the two. It appends to a buffer that outlives it.
type encoder struct {
	b      []byte
	start  int // of the row in b
	fields int // written so far
}

// mapHead is the number of bytes that are kept free for the head of a map.
const mapHead = 2

func encodeTo(b []byte) encoder {
	return encoder{b: append(b, make([]byte, mapHead)...), start: len(b)}
}

// row ends the map, and returns its bytes and the whole buffer.
func (e *encoder) row() (row, buffer []byte) {
	if e.fields < 24 {
		e.b[e.start+1] = 5<<5 | byte(e.fields)
		return e.b[e.start+1:], e.b
	}
	e.b[e.start], e.b[e.start+1] = 0xb8, byte(e.fields)
	return e.b[e.start:], e.b
}

// head writes a major type with its number in the shortest form: RFC 8949, section 3.
func (e *encoder) head(major byte, n uint64) {
	major <<= 5
	switch {
	case n < 24:
		e.b = append(e.b, major|byte(n))
	case n <= math.MaxUint8:
		e.b = append(e.b, major|24, byte(n))
	case n <= math.MaxUint16:
		e.b = binary.BigEndian.AppendUint16(append(e.b, major|25), uint16(n))
	case n <= math.MaxUint32:
		e.b = binary.BigEndian.AppendUint32(append(e.b, major|26), uint32(n))
	default:
		e.b = binary.BigEndian.AppendUint64(append(e.b, major|27), n)
	}
}

func (e *encoder) key(k uint64) {
	e.fields++
	e.head(0, k)
}

func (e *encoder) text(k uint64, s cbor.ByteString) {
	if s != "" {
		e.always(k, s)
	}
}

// always writes a text even if it is empty.
func (e *encoder) always(k uint64, s cbor.ByteString) {
	e.key(k)
	e.head(2, uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) number(k uint64, n int64) {
	if n != 0 {
		e.key(k)
		e.int(n)
	}
}

func (e *encoder) int(n int64) {
	if n < 0 {
		e.head(1, uint64(-1-n))
		return
	}
	e.head(0, uint64(n))
}

func (e *encoder) numbers(k uint64, list []int64) {
	if len(list) == 0 {
		return
	}
	e.key(k)
	e.head(4, uint64(len(list)))
	for _, n := range list {
		e.int(n)
	}
}

func (e *encoder) unsigned(k, n uint64) {
	if n != 0 {
		e.key(k)
		e.head(0, n)
	}
}

func (e *encoder) float(k uint64, x float64) {
	if x != 0 {
		e.key(k)
		e.b = binary.BigEndian.AppendUint64(append(e.b, 0xfb), math.Float64bits(x))
	}
}

func (e *encoder) flag(k uint64, yes bool) {
	if yes {
		e.key(k)
		e.b = append(e.b, 0xf5)
	}
}

// outerMap remembers a map while a map within it is written.
type outerMap struct{ head, fields int }

// open begins a map within the map. It may have up to 23 fields.
func (e *encoder) open(k uint64) outerMap {
	e.key(k)
	outer := outerMap{head: len(e.b), fields: e.fields}
	e.b, e.fields = append(e.b, 5<<5), 0
	return outer
}

// close ends the inner map.
func (e *encoder) close(outer outerMap) {
	e.b[outer.head] |= byte(e.fields)
	e.fields = outer.fields
}
