package depend

import (
	"crypto/sha1"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Key is a hash of a text of any length: an id, a URI or a digest.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(s string) Key {
	var k Key
	sum := sha1.Sum([]byte(s))
	copy(k[:], sum[:])
	return k
}

// Moment names a capture as revisits do, by URI and date. Captures are looked up by URI and second, because some
// writers write the date only to the second.
type Moment struct {
	URI  Key
	Date int64 // Unix nanoseconds
}

// Second returns the date in Unix seconds.
func (m Moment) Second() int64 { return time.Unix(0, m.Date).Unix() }

// Fits returns how well a record of the right URI and second fits as the original that a revisit names: better if it is
// no revisit, has the same payload, and exactly the same date.
func (f Record) Fits(m Moment, method string, payload Key) (n int) {
	return warc.Fit(f.Kind == KindFull, method != "" && f.Method == method, f.Payload == payload, f.Date == m.Date)
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
	KindRequest
)

// SameAs reports whether two records with one id are copies of each other, as far as is known. Packages hold copies,
// and so do files that were extracted from others.
func (f Record) SameAs(g Record) bool {
	return f.Kind == g.Kind && f.Date == g.Date && f.URI == g.URI && f.Method == g.Method && f.Payload == g.Payload
}
