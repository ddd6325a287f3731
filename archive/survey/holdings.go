package survey

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Capture is a capture and what its record says about its original.
type Capture struct {
	Record
	Target    string
	toID      Key // of a revisit; zero for none
	to        Moment
	IsRevisit bool
}

// namedCapture is a holding with its record id as it stands there.
type namedCapture struct {
	Capture
	text string
}

func holdingOf(rec *warc.Record, file int32) (namedCapture, bool) {
	h := rec.Header
	c := namedCapture{text: rec.ID()}
	c.Capture = Capture{
		Record: Record{ID: IDKey(rec.ID()), URI: KeyOf(h.Target()), File: file, Offset: rec.Offset, Date: h.Date().UnixNano()},
		Target: h.Target(),
	}
	switch h.Type() {
	case "response", "resource":
		c.Kind = KindFull
	case "revisit":
		c.Kind, c.IsRevisit = KindRevisit, true
	default:
		return namedCapture{}, false
	}
	if d, err := warc.ParseDigest(h.Get("WARC-Payload-Digest")); err == nil && !d.IsZero() {
		c.Method, c.Payload = d.Algorithm, KeyOf(d.Algorithm+string(d.Value))
	}
	if id := h.ID("WARC-Refers-To"); id != "" {
		c.toID = IDKey(id)
	}
	if date, err := warc.ParseDate(h.Get("WARC-Refers-To-Date")); err == nil {
		c.to = Moment{KeyOf(warc.TrimID(h.Get("WARC-Refers-To-Target-URI"))), date.Unix()}
	}
	return c, true
}

// IDKey stands for a record id: a UUID for itself, of which [idText] can make the id again, and anything else as in [keyOf].
func IDKey(id string) Key {
	if u, err := uuid.Parse(id); err == nil && u.URN() == id {
		return Key(u)
	}
	return KeyOf(id)
}

// holdingRow is a holding as it is kept: millions of them are.
type holdingRow struct {
	id, payload  Key
	date, offset int64
	file         int32
	target       int32 // number of the URI
	refers       int32 // number of what it refers to, counted from 1; 0 for none
	method       uint8 // number of the algorithm
	kind         Kind
}

// referral is what a revisit refers to.
type referral struct {
	id Key
	to Moment
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
	keys    parcels[Key] // of targets
	number  map[Key]int32
	odd     map[int32]string // ids that cannot be made of their keys
	methods []string
}

func (s *holdings) add(c namedCapture) {
	target, known := s.number[c.URI]
	if !known {
		if s.number == nil {
			s.number, s.odd = map[Key]int32{}, map[int32]string{}
		}
		target = s.targets.add(strings.Clone(c.Target)) // no part of a whole head
		s.keys.add(c.URI)
		s.number[c.URI] = target
	}
	r := holdingRow{id: c.ID, payload: c.Payload, date: c.Date, offset: c.Offset, file: c.File, target: target, kind: c.Kind}
	if c.toID != (Key{}) || c.to != (Moment{}) {
		r.refers = s.refers.add(referral{c.toID, c.to}) + 1
	}
	method := slices.Index(s.methods, c.Method)
	if method < 0 {
		method = len(s.methods)
		s.methods = append(s.methods, c.Method) // there are fewer than ten
	}
	r.method = uint8(method)
	i := s.rows.add(r)
	if uuid.UUID(c.ID).URN() != c.text {
		s.odd[i] = strings.Clone(c.text)
	}
}

// At gives the capture of a number.
func (s *holdings) At(i int32) Capture {
	r := s.rows.at(i)
	c := Capture{
		Record: Record{
			ID: r.id, URI: *s.keys.at(r.target), Payload: r.payload, Date: r.date, Offset: r.offset, File: r.file, Kind: r.kind,
			Method: s.methods[r.method],
		},
		Target: *s.targets.at(r.target), IsRevisit: r.kind == KindRevisit,
	}
	if r.refers > 0 {
		to := s.refers.at(r.refers - 1)
		c.toID, c.to = to.id, to.to
	}
	return c
}

// IDOf is the record id of the capture of a number.
func (s *holdings) IDOf(i int32) string {
	if text, odd := s.odd[i]; odd {
		return text
	}
	return uuid.UUID(s.rows.at(i).id).URN()
}

// All gives all captures with their numbers.
func (s *holdings) All() iter.Seq2[int32, Capture] {
	return func(yield func(int32, Capture) bool) {
		for i := range s.rows.n {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// momentOf is how a revisit may name the capture of a number.
func (s *holdings) momentOf(i int32) Moment {
	r := s.rows.at(i)
	return Moment{*s.keys.at(r.target), r.date / int64(time.Second)}
}

// Time returns the date of the capture.
func (c Capture) Time() time.Time { return time.Unix(0, c.Date).UTC() }

// host is the host of a capture, with its port when the URI has one.
func (c Capture) host() string { return HostOf(c.Target) }

// HostOf returns the host of a URI in lower case, with its port if the URI has one.
func HostOf(uri string) string {
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

// cutBefore cuts s before the first of the characters.
func cutBefore(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
