package dedup

import "github.com/arcrawl/arcrawl/digest"

// Copy is a row that another index of the same crawl has.
type Copy struct {
	Value []byte                  // nil = no index has the row
	Read  func(key []byte) []byte // returns other rows of that index; nil if there is none
}

// findElsewhere looks for the record of a payload in the other indexes of a crawl. It takes only records of which the
// SHA-256 is known, which that index has archived itself, and which neither index has lost.
func (i *Index) findElsewhere(key []byte, q Query) Match {
	if i.o.Elsewhere == nil || q.By == URI || q.Strong.IsZero() {
		return Match{}
	}
	c := i.o.Elsewhere(key)
	if c.Value == nil {
		return Match{}
	}
	var e entry
	var err error
	if c.Value[0] == compact {
		e, err = decodeCompact(q.Payload, c.Value, c.fileName)
	} else if e, err = decodeLong(c.Value); err == nil && e.Payload != q.Payload {
		err = ErrCorrupt
	}
	o := e.Origin
	if err != nil || e.source != 0 || i.Lost(o) || c.lost(o) {
		return Match{} // the node of that index reports what is damaged
	}
	o.Strong = q.Strong
	return Match{o, i.Hit(q.URI, o.URI, q.Equivalent)}
}

// fileName returns the name of a file by its number in the other index.
func (c Copy) fileName(n uint32) (string, bool) {
	v := c.Read(nameKey(n))
	if len(v) < 2 || v[0] != format {
		return "", false
	}
	return string(v[1:]), true
}

// lost reports whether the other index has lost a record.
func (c Copy) lost(o digest.Origin) bool {
	v := c.Read(about(lostFile, o.File))
	if v == nil {
		return false
	}
	var l Loss
	return decodeRow(v, &l) != nil || l.covers(o)
}
