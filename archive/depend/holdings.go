package depend

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Capture is a capture and the original that its record names.
type Capture struct {
	Record
	text      string // of the record id; empty in a survey, see [Survey.IDOf]
	Target    string
	toID      Key // record id of the original; zero if there is none
	to        Moment
	IsRevisit bool
	Container string // name of the package with the original, as the revisit says (WARC-Refers-To-Container)
}

// captureIn returns the capture in a record. ok is false if it is of another kind.
func captureIn(rec *warc.Record, file int32) (c Capture, ok bool) {
	h := rec.Header
	c = Capture{Record: RecordOf(rec, file), text: rec.ID(), Target: h.Target()}
	if c.Kind != KindFull && c.Kind != KindRevisit {
		return c, false
	}
	c.IsRevisit = c.Kind == KindRevisit
	c.Container = strings.TrimPrefix(h.Get("WARC-Refers-To-Container"), "file://")
	if id := h.ID("WARC-Refers-To"); id != "" {
		c.toID = IDKey(id)
	}
	if date, err := warc.ParseDate(h.Get("WARC-Refers-To-Date")); err == nil {
		c.to = Moment{KeyOf(warc.TrimID(h.Get("WARC-Refers-To-Target-URI"))), date.UnixNano()}
	}
	return c, true
}

// IDKey returns the key of a record id. The key of a UUID is the UUID itself, so that [Survey.IDOf] can restore the id.
// Any other id has the key of [KeyOf].
func IDKey(id string) Key {
	if u, err := uuid.Parse(id); err == nil && u.URN() == id {
		return Key(u)
	}
	return KeyOf(id)
}

// row is a capture in memory. A survey may have millions.
type row struct {
	id, payload  Key
	date, offset int64
	file         int32
	target       int32 // index of the URI in targets
	refers       int32 // index in refers + 1; 0 = none
	method       uint8 // index in methods
	kind         Kind
}

// referral names the original of a revisit.
type referral struct {
	id        Key
	to        Moment
	container int32 // index in containers
}

// listBlockSize is the number of elements in one block of a list.
const listBlockSize = 4096

// blockList is a list that grows without being copied, because it consists of blocks.
type blockList[T any] struct {
	full [][]T
	n    int32
}

func (p *blockList[T]) add(x T) int32 {
	if int(p.n)%listBlockSize == 0 {
		p.full = append(p.full, make([]T, 0, listBlockSize))
	}
	last := &p.full[len(p.full)-1]
	*last = append(*last, x)
	p.n++
	return p.n - 1
}

func (p *blockList[T]) at(i int32) *T { return &p.full[i/listBlockSize][i%listBlockSize] }

// captures holds captures in the order in which they were added. Each URI is stored once.
type captures struct {
	rows    blockList[row]
	refers  blockList[referral]
	targets blockList[string]
	keys    blockList[Key] // of targets
	number  map[Key]int32
	odd     map[int32]string // record ids that their keys cannot restore
	methods []string

	containers []string // names of packages that revisits name; the first is empty
	container  map[string]int32
}

func (s *captures) add(c Capture) {
	target, known := s.number[c.URI]
	if !known {
		if s.number == nil {
			s.number, s.odd = map[Key]int32{}, map[int32]string{}
		}
		target = s.targets.add(strings.Clone(c.Target)) // the text would keep the whole header in memory
		s.keys.add(c.URI)
		s.number[c.URI] = target
	}
	r := row{id: c.ID, payload: c.Payload, date: c.Date, offset: c.Offset, file: c.File, target: target, kind: c.Kind}
	if c.toID != (Key{}) || c.to != (Moment{}) {
		r.refers = s.refers.add(referral{c.toID, c.to, s.numberOf(c.Container)}) + 1
	}
	method := slices.Index(s.methods, c.Method)
	if method < 0 {
		method = len(s.methods)
		s.methods = append(s.methods, c.Method) // fewer than ten algorithms exist
	}
	r.method = uint8(method)
	i := s.rows.add(r)
	if uuid.UUID(c.ID).URN() != c.text {
		s.odd[i] = strings.Clone(c.text)
	}
}

// maxContainers is the maximum number of different packages that revisits name. The names of further ones are dropped:
// they come from the files.
const maxContainers = 10_000

func (s *captures) numberOf(container string) int32 {
	if s.container == nil {
		s.container, s.containers = map[string]int32{"": 0}, []string{""}
	}
	n, known := s.container[container]
	if !known && len(s.containers) < maxContainers {
		n = int32(len(s.containers))
		name := strings.Clone(container)
		s.container[name], s.containers = n, append(s.containers, name)
	}
	return n
}

// At returns the capture with a number.
func (s *captures) At(i int32) Capture {
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
		c.toID, c.to, c.Container = to.id, to.to, s.containers[to.container]
	}
	return c
}

// IDOf returns the record id of the capture with a number.
func (s *captures) IDOf(i int32) string {
	if text, odd := s.odd[i]; odd {
		return text
	}
	return uuid.UUID(s.rows.at(i).id).URN()
}

// All returns all captures with their numbers.
func (s *captures) All() iter.Seq2[int32, Capture] {
	return func(yield func(int32, Capture) bool) {
		for i := range s.rows.n {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

func (s *captures) momentOf(i int32) Moment {
	r := s.rows.at(i)
	return Moment{*s.keys.at(r.target), r.date}
}

// Time returns the date of the capture.
func (c Capture) Time() time.Time { return time.Unix(0, c.Date).UTC() }

// HostOf returns the host of a URI in lower case, with its port if the URI has one.
func HostOf(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	return strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
}
