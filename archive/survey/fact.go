package survey

import "crypto/sha1"

// Key stands for a text of any length: an id, a URI, a digest.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(s string) Key {
	var k Key
	sum := sha1.Sum([]byte(s))
	copy(k[:], sum[:])
	return k
}

// Moment is a capture as a revisit names it. Some writers give the date of the original only to the second.
type Moment struct {
	URI    Key
	Second int64
}

// Record is what is remembered of a record while others may refer to it.
type Record struct {
	ID      Key
	URI     Key
	Payload Key // of the digest; zero for none
	Date    int64
	Offset  int64
	File    int32
	Kind    Kind
	Method  string // algorithm of the payload digest
}

// Kind is what a record can be to others.
type Kind uint8

// The kinds of records.
const (
	KindOther Kind = iota
	KindFull       // response or resource
	KindRevisit
)

// SameAs tells whether two records with one id are copies of one, as far as they are remembered. That is what packages hold, and what
// was extracted from the files that are known.
func (f Record) SameAs(g Record) bool {
	return f.Kind == g.Kind && f.Date == g.Date && f.URI == g.URI && f.Method == g.Method && f.Payload == g.Payload
}
