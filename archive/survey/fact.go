package survey

import "crypto/sha1"

// Key is a hash of a text of any length: an id, a URI or a digest.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(s string) Key {
	var k Key
	sum := sha1.Sum([]byte(s))
	copy(k[:], sum[:])
	return k
}

// Moment names a capture as revisits do, by URI and date. The date is in Unix seconds, because some writers write it
// only to the second.
type Moment struct {
	URI    Key
	Second int64
}

// Record is the part of a WARC record that references from other records need.
type Record struct {
	ID      Key
	URI     Key
	Payload Key // of the payload digest; zero if there is none
	Date    int64
	Offset  int64
	File    int32
	Kind    Kind
	Method  string // algorithm of the payload digest
}

// Kind is the role of a record in references.
type Kind uint8

// The kinds of records.
const (
	KindOther Kind = iota
	KindFull       // response or resource
	KindRevisit
)

// SameAs reports whether two records with one id are copies of each other, as far as is known. Packages hold copies,
// and so do files that were extracted from others.
func (f Record) SameAs(g Record) bool {
	return f.Kind == g.Kind && f.Date == g.Date && f.URI == g.URI && f.Method == g.Method && f.Payload == g.Payload
}
