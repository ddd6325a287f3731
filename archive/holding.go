package archive

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// holding is a capture and what its record says about its original.
type holding struct {
	fact
	target  string
	toID    key // of a revisit; zero for none
	to      moment
	revisit bool
}

// named is a holding with its record id as it stands there.
type named struct {
	holding
	text string
}

func holdingOf(rec *Record, file int32) (named, bool) {
	h := rec.Header
	c := named{text: rec.ID()}
	c.holding = holding{
		fact:   fact{id: idKey(rec.ID()), uri: keyOf(h.Target()), file: file, offset: rec.Offset, date: h.Date().UnixNano()},
		target: h.Target(),
	}
	switch h.Type() {
	case "response", "resource":
		c.kind = fullRecord
	case "revisit":
		c.kind, c.revisit = revisitRecord, true
	default:
		return named{}, false
	}
	if d, err := parseSum(h.Get("WARC-Payload-Digest")); err == nil && !d.isZero() {
		c.method, c.payload = d.algorithm, keyOf(d.algorithm+string(d.value))
	}
	if id := h.ID("WARC-Refers-To"); id != "" {
		c.toID = idKey(id)
	}
	if date, err := parseDate(h.Get("WARC-Refers-To-Date")); err == nil {
		c.to = moment{keyOf(trimID(h.Get("WARC-Refers-To-Target-URI"))), date.Unix()}
	}
	return c, true
}

// idKey stands for a record id: a UUID for itself, of which [idText] can make the id again, and anything else as in [keyOf].
func idKey(id string) key {
	if u, err := uuid.Parse(id); err == nil && u.URN() == id {
		return key(u)
	}
	return keyOf(id)
}

// holdingRow is a holding as it is kept: millions of them are.
type holdingRow struct {
	id, payload  key
	date, offset int64
	file         int32
	target       int32 // number of the URI
	refers       int32 // number of what it refers to, counted from 1; 0 for none
	method       uint8 // number of the algorithm
	kind         recordKind
}

// referral is what a revisit refers to.
type referral struct {
	id key
	to moment
}

// parcel is how many things lie in one block of memory. A list in one piece would have to be copied each time that it grows.
const parcel = 4096

// parcels is a list that grows without being copied.
type parcels[T any] struct {
	full [][]T
	n    int32
}

func (p *parcels[T]) add(x T) int32 {
	if int(p.n)%parcel == 0 {
		p.full = append(p.full, make([]T, 0, parcel))
	}
	last := &p.full[len(p.full)-1]
	*last = append(*last, x)
	p.n++
	return p.n - 1
}

func (p *parcels[T]) at(i int32) *T { return &p.full[i/parcel][i%parcel] }

// holdings are captures in the order in which they were added. Each URI is kept once, as are record ids that are no UUIDs.
type holdings struct {
	rows    parcels[holdingRow]
	refers  parcels[referral]
	targets parcels[string]
	keys    parcels[key] // of targets
	number  map[key]int32
	odd     map[int32]string // ids that cannot be made of their keys
	methods []string
}

func (s *holdings) add(c named) {
	target, known := s.number[c.uri]
	if !known {
		if s.number == nil {
			s.number, s.odd = map[key]int32{}, map[int32]string{}
		}
		target = s.targets.add(strings.Clone(c.target)) // no part of a whole head
		s.keys.add(c.uri)
		s.number[c.uri] = target
	}
	r := holdingRow{id: c.id, payload: c.payload, date: c.date, offset: c.offset, file: c.file, target: target, kind: c.kind}
	if c.toID != (key{}) || c.to != (moment{}) {
		r.refers = s.refers.add(referral{c.toID, c.to}) + 1
	}
	method := slices.Index(s.methods, c.method)
	if method < 0 {
		method = len(s.methods)
		s.methods = append(s.methods, c.method) // there are fewer than ten
	}
	r.method = uint8(method)
	i := s.rows.add(r)
	if uuid.UUID(c.id).URN() != c.text {
		s.odd[i] = strings.Clone(c.text)
	}
}

// capture gives the capture of a number.
func (s *holdings) capture(i int32) holding {
	r := s.rows.at(i)
	c := holding{
		fact: fact{
			id: r.id, uri: *s.keys.at(r.target), payload: r.payload, date: r.date, offset: r.offset, file: r.file, kind: r.kind,
			method: s.methods[r.method],
		},
		target: *s.targets.at(r.target), revisit: r.kind == revisitRecord,
	}
	if r.refers > 0 {
		to := s.refers.at(r.refers - 1)
		c.toID, c.to = to.id, to.to
	}
	return c
}

// idOf is the record id of the capture of a number.
func (s *holdings) idOf(i int32) string {
	if text, odd := s.odd[i]; odd {
		return text
	}
	return uuid.UUID(s.rows.at(i).id).URN()
}

// each gives all captures with their numbers.
func (s *holdings) each() iter.Seq2[int32, holding] {
	return func(yield func(int32, holding) bool) {
		for i := range s.rows.n {
			if !yield(i, s.capture(i)) {
				return
			}
		}
	}
}

// momentOf is how a revisit may name the capture of a number.
func (s *holdings) momentOf(i int32) moment {
	r := s.rows.at(i)
	return moment{*s.keys.at(r.target), r.date / int64(time.Second)}
}

func (c holding) time() time.Time { return time.Unix(0, c.date).UTC() }

// host is the host of a capture, with its port when the URI has one.
func (c holding) host() string { return hostOf(c.target) }

func hostOf(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	authority, _ := cutBefore(rest, "/?#")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	return strings.ToLower(authority)
}
