package feeds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// maxSeen is how many ids and links of one source are remembered. The largest sitemap lists that many items.
	maxSeen = 50_000
	// maxStatements is how many statements of one source are pending at once. More would not be more informative.
	maxStatements = 64
	// maxUpdates is how many updates one reading reports. The next reading reports the others.
	maxUpdates = 1000
	// minKept is the minimum number of ids and links that are remembered, even of a source that lists only a few.
	minKept = 500
	// maxStatementURI bounds the URIs of statements, so that a Seen stays below the size that the store accepts.
	maxStatementURI = 1000
)

// Seen is the memory of what a source has listed. The zero value is the memory of a source that was never read. No
// method changes it.
type Seen struct {
	known      []mark // the most recently listed first
	statements []Statement
	started    bool // the source was read at least once
}

// mark is the memory of one id or link.
type mark struct {
	id   uint64
	date uint32 // last date of the item in seconds since 1970; 0 = none
	text uint16
}

// Statement records that a source listed a known URI as modified.
type Statement struct {
	URI uri.URI
	At  time.Time // when the statement was read
}

// Reading is the difference between what a source lists and what it has listed before.
type Reading struct {
	First   bool   // the source was never read before: all items are in New, though they may be old
	New     []Item // the newest first
	Updated []Item
	Stamped int  // number of items in Updated that have the date of most items, which says little
	Listed  int  // number of all items
	Gap     bool // nothing that was listed last time is listed now: items may have come and gone in between
}

// Any reports whether there are new or updated items.
func (r Reading) Any() bool { return len(r.New)+len(r.Updated) > 0 }

// Read compares a document with what its source has listed before. It returns the memory to keep and the differences.
func (s Seen) Read(now time.Time, d Document) (Seen, Reading) {
	r := Reading{First: !s.started, Listed: len(d.Items)}
	at := make(map[uint64]int, len(s.known))
	for i, m := range s.known {
		at[m.id] = i
	}
	listed := make([]mark, 0, len(d.Items))
	taken := make(map[uint64]bool, len(d.Items))
	overlap, common := false, d.commonDate()
	for _, item := range d.Items {
		current, link := marksOf(item)
		before, known := s.find(at, current.id, link)
		switch {
		case known:
			overlap = true
			if before.updatedBy(current, now, before.id == current.id) {
				if len(r.Updated) == maxUpdates {
					current = before
					break
				}
				item.Reworded = current.date <= before.date
				r.Updated = append(r.Updated, item)
				if item.hasDate(common) {
					r.Stamped++
				}
			}
			current = before.after(current, now)
		case !taken[current.id] && !taken[link]:
			r.New = append(r.New, item)
		}
		for _, id := range []uint64{current.id, link} {
			if !taken[id] {
				taken[id] = true
				listed = append(listed, mark{id, current.date, current.text})
			}
		}
	}
	r.Gap = d.Kind.ListsNewest() && len(s.known) > 0 && len(d.Items) > 0 && !overlap
	slices.SortStableFunc(r.New, func(a, b Item) int { return b.sortTime(now).Compare(a.sortTime(now)) })
	return Seen{known: s.keep(listed, taken), statements: s.statements, started: true}, r
}

// marksOf returns the mark of an item under its id, and the hash of its link.
func marksOf(i Item) (m mark, link uint64) {
	if date := i.Date().Unix(); !i.Date().IsZero() && date > 0 && date < math.MaxUint32 {
		m.date = uint32(date)
	}
	m.id, m.text = xxhash.Sum64String(i.ID), i.Text
	return m, xxhash.Sum64String(i.URI.String())
}

// find returns the mark of an item that is known by its id or, if not, by its link. at is the index of s.known.
func (s Seen) find(at map[uint64]int, id, link uint64) (mark, bool) {
	for _, key := range []uint64{id, link} {
		if i, ok := at[key]; ok {
			m := s.known[i]
			if key == link && id != link {
				m.id = link
			}
			return m, true
		}
	}
	return mark{}, false
}

// updatedBy reports whether the current mark of an item says that its page was modified. If the item is known by its
// link alone, only a later date counts: its text may belong to another item with the same link.
func (m mark) updatedBy(current mark, now time.Time, sameID bool) bool {
	if current.date > m.date {
		// The first date of an item that had none is an update only if it is recent.
		return m.date != 0 || int64(current.date) > now.Add(-24*time.Hour).Unix()
	}
	return sameID && current.text != m.text && current.text != 0 && m.text != 0
}

// after returns the mark to remember after m. A date that moves back is accepted only if the date before was in the
// future.
func (m mark) after(current mark, now time.Time) mark {
	if current.date < m.date && (current.date == 0 || int64(m.date) <= now.Unix()) {
		current.date = m.date
	}
	return current
}

// keep returns the marks to remember: first the marks of listed items, then of items that are no longer listed.
func (s Seen) keep(listed []mark, taken map[uint64]bool) []mark {
	room := min(max(minKept, 2*len(listed)), maxSeen)
	if len(listed) >= room {
		return listed[:min(len(listed), maxSeen)]
	}
	for _, m := range s.known {
		if len(listed) == room {
			break
		}
		if !taken[m.id] {
			listed = append(listed, m)
		}
	}
	return listed
}

// sortTime returns the time by which new items are ordered. Items without a date, or with one in the future, count as
// the newest.
func (i Item) sortTime(now time.Time) time.Time {
	if d := i.Date(); !d.IsZero() && d.Before(now) {
		return d
	}
	return now
}

// Statements returns the pending statements.
func (s Seen) Statements() []Statement { return slices.Clone(s.statements) }

// WithStatements returns s with these statements pending. Of more than 64 statements it keeps the last.
func (s Seen) WithStatements(statements []Statement) Seen {
	kept := make([]Statement, 0, min(len(statements), maxStatements))
	for _, c := range statements[max(0, len(statements)-maxStatements):] {
		if len(c.URI.String()) <= maxStatementURI {
			kept = append(kept, c)
		}
	}
	s.statements = kept
	return s
}

// errDamaged means that stored bytes are not a Seen or a State.
var errDamaged = errors.New("the stored memory of a source is damaged")

const (
	seenVersion = 1
	markLength  = 8 + 4 + 2
)

type seenRow struct {
	Known      []byte         `cbor:"1,keyasint,omitempty"`
	Statements []statementRow `cbor:"2,keyasint,omitempty"`
}

type statementRow struct {
	_   struct{} `cbor:",toarray"`
	URI string
	At  int64
}

// Bytes returns s in its stored form: a version, then CBOR.
func (s Seen) Bytes() []byte {
	var w seenRow
	w.Known = make([]byte, 0, len(s.known)*markLength)
	for _, m := range s.known {
		w.Known = binary.BigEndian.AppendUint64(w.Known, m.id)
		w.Known = binary.BigEndian.AppendUint32(w.Known, m.date)
		w.Known = binary.BigEndian.AppendUint16(w.Known, m.text)
	}
	for _, c := range s.statements {
		w.Statements = append(w.Statements, statementRow{URI: c.URI.String(), At: c.At.Unix()})
	}
	return versioned(seenVersion, w)
}

// versioned returns a row in its stored form. CBOR can encode every row, because rows hold only numbers and texts.
func versioned(version byte, row any) []byte {
	b, err := cbor.Marshal(row)
	if err != nil {
		panic("arcrawl/feeds: " + err.Error())
	}
	return append([]byte{version}, b...)
}

// OpenSeen returns the Seen that [Seen.Bytes] wrote. For an empty slice it returns the zero Seen.
func OpenSeen(b []byte) (Seen, error) {
	if len(b) == 0 {
		return Seen{}, nil
	}
	var w seenRow
	if b[0] != seenVersion {
		return Seen{}, fmt.Errorf("%w: version %d", errDamaged, b[0])
	}
	if err := cbor.Unmarshal(b[1:], &w); err != nil {
		return Seen{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(w.Known)%markLength != 0 || len(w.Known) > maxSeen*markLength || len(w.Statements) > maxStatements {
		return Seen{}, fmt.Errorf("%w: %d bytes, %d statements", errDamaged, len(w.Known), len(w.Statements))
	}
	s := Seen{started: true}
	for k := w.Known; len(k) > 0; k = k[markLength:] {
		m := mark{id: binary.BigEndian.Uint64(k), date: binary.BigEndian.Uint32(k[8:]), text: binary.BigEndian.Uint16(k[12:])}
		s.known = append(s.known, m)
	}
	for _, c := range w.Statements {
		if u := uri.FromCanonical(c.URI); !u.IsZero() {
			s.statements = append(s.statements, Statement{URI: u, At: time.Unix(c.At, 0).UTC()})
		}
	}
	return s, nil
}
