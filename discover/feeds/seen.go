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
	// maxSeen is how many ids and links are remembered of one source: what the largest sitemap lists.
	maxSeen = 50_000
	// maxClaims is how many claims of one source wait for their proof at once. More would say no more.
	maxClaims = 64
	// maxUpdates is how many updates of one reading are given. Those beyond are given by the next one.
	maxUpdates = 1000
	// leastKept is how many items are remembered at least that are no longer listed.
	leastKept = 500
	// longestClaim bounds the URIs of claims, so that a Seen stays below what a store takes at once.
	longestClaim = 1000
)

// Seen is what a source has listed so far. The zero value has listed nothing. It is a value: no method changes it.
type Seen struct {
	known   []mark // those listed last come first
	claims  []Claim
	started bool
}

// mark is what is remembered of one id or link.
type mark struct {
	id   uint64
	date uint32 // seconds since 1970 of the last date claimed, 0 for none
	text uint16
}

// Claim is that the page was modified.
type Claim struct {
	URI uri.URI
	At  time.Time // when the claim was read
}

// Reading is what one reading of a source brought.
type Reading struct {
	First   bool   // nothing was known of the source: all of it is New, and not news
	New     []Item // the newest first
	Updated []Item
	Stamped int // of Updated, those that have the date of most others: that says little
	Listed  int
	Gap     bool // nothing is listed that was listed last time: items may have come and gone in between
}

// Any reports whether the reading brought something new.
func (r Reading) Any() bool { return len(r.New)+len(r.Updated) > 0 }

// Read compares what a source says with what it has listed so far.
func (s Seen) Read(now time.Time, d Document) (Seen, Reading) {
	round := Reading{First: !s.started, Listed: len(d.Items)}
	at := make(map[uint64]int, len(s.known))
	for i, m := range s.known {
		at[m.id] = i
	}
	listed := make([]mark, 0, len(d.Items))
	taken := make(map[uint64]bool, len(d.Items))
	overlap, made := false, d.commonDate()
	for _, item := range d.Items {
		is, linked := marks(item)
		was, known := s.find(at, is.id, linked)
		news := !known && !taken[is.id] && !taken[linked]
		switch {
		case known:
			overlap = true
			if was.updatedBy(is, now, was.id == is.id) {
				if len(round.Updated) == maxUpdates {
					is = was
					break
				}
				round.Updated = append(round.Updated, item)
				if restamped(item, made) {
					round.Stamped++
				}
			}
			is = was.after(is, now)
		case news:
			round.New = append(round.New, item)
		}
		for _, id := range []uint64{is.id, linked} {
			if !taken[id] {
				taken[id] = true
				listed = append(listed, mark{id, is.date, is.text})
			}
		}
	}
	round.Gap = d.Kind.ListsNewest() && len(s.known) > 0 && len(d.Items) > 0 && !overlap
	slices.SortStableFunc(round.New, func(a, b Item) int { return b.when(now).Compare(a.when(now)) })
	return Seen{known: s.keep(listed, taken), claims: s.claims, started: true}, round
}

// marks are what is to be remembered of an item: by its id, and the hash of its link.
func marks(i Item) (m mark, linked uint64) {
	if date := i.Date().Unix(); !i.Date().IsZero() && date > 0 && date < math.MaxUint32 {
		m.date = uint32(date)
	}
	m.id, m.text = xxhash.Sum64String(i.ID), i.Text
	return m, xxhash.Sum64String(i.URI.String())
}

// find looks an item up, by its id first.
func (s Seen) find(at map[uint64]int, id, linked uint64) (mark, bool) {
	for _, key := range []uint64{id, linked} {
		if i, ok := at[key]; ok {
			m := s.known[i]
			if key == linked && id != linked {
				m.id = linked
			}
			return m, true
		}
	}
	return mark{}, false
}

// updatedBy reports whether what is claimed now says that the page was modified. Of an item that is known by its link alone
// only a later date counts: its id is new, and so its text may be that of another item with the same link.
func (m mark) updatedBy(is mark, now time.Time, sameID bool) bool {
	if is.date > m.date {
		return m.date != 0 || int64(is.date) > now.Add(-24*time.Hour).Unix() // a date at last is news only if it is recent
	}
	return sameID && is.text != m.text && is.text != 0 && m.text != 0
}

// after is what is remembered from now on. A date that went back is believed only in place of one in the future.
func (m mark) after(is mark, now time.Time) mark {
	if is.date < m.date && (is.date == 0 || int64(m.date) <= now.Unix()) {
		is.date = m.date
	}
	return is
}

// keep puts those that are no longer listed behind those that are.
func (s Seen) keep(listed []mark, taken map[uint64]bool) []mark {
	room := min(max(leastKept, 2*len(listed)), maxSeen)
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

// when orders new items: those without a date, or with one in the future, are as new as can be.
func (i Item) when(now time.Time) time.Time {
	if d := i.Date(); !d.IsZero() && d.Before(now) {
		return d
	}
	return now
}

// Claims lists the claims that wait for their proof.
func (s Seen) Claims() []Claim { return slices.Clone(s.claims) }

// WithClaims is s with these claims waiting, the last of them if they are too many.
func (s Seen) WithClaims(claims []Claim) Seen {
	kept := make([]Claim, 0, min(len(claims), maxClaims))
	for _, c := range claims[max(0, len(claims)-maxClaims):] {
		if len(c.URI.String()) <= longestClaim {
			kept = append(kept, c)
		}
	}
	s.claims = kept
	return s
}

// errDamaged is a Seen or a State that cannot be what was written.
var errDamaged = errors.New("what is remembered of a source is damaged")

const (
	seenVersion = 1
	markLength  = 8 + 4 + 2
)

type seenRow struct {
	Known  []byte     `cbor:"1,keyasint,omitempty"`
	Claims []claimRow `cbor:"2,keyasint,omitempty"`
}

type claimRow struct {
	_   struct{} `cbor:",toarray"`
	URI string
	At  int64
}

// Bytes is s as it is stored: a version, then CBOR.
func (s Seen) Bytes() []byte {
	var w seenRow
	w.Known = make([]byte, 0, len(s.known)*markLength)
	for _, m := range s.known {
		w.Known = binary.BigEndian.AppendUint64(w.Known, m.id)
		w.Known = binary.BigEndian.AppendUint32(w.Known, m.date)
		w.Known = binary.BigEndian.AppendUint16(w.Known, m.text)
	}
	for _, c := range s.claims {
		w.Claims = append(w.Claims, claimRow{URI: c.URI.String(), At: c.At.Unix()})
	}
	return versioned(seenVersion, w)
}

// versioned is a row as it is stored. Rows are made of numbers and texts, which CBOR always takes.
func versioned(version byte, row any) []byte {
	b, err := cbor.Marshal(row)
	if err != nil {
		panic("arcrawl/feeds: " + err.Error())
	}
	return append([]byte{version}, b...)
}

// OpenSeen reads what [Seen.Bytes] wrote; nothing is the zero Seen.
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
	if len(w.Known)%markLength != 0 || len(w.Known) > maxSeen*markLength || len(w.Claims) > maxClaims {
		return Seen{}, fmt.Errorf("%w: %d bytes, %d claims", errDamaged, len(w.Known), len(w.Claims))
	}
	s := Seen{started: true}
	for k := w.Known; len(k) > 0; k = k[markLength:] {
		s.known = append(s.known, mark{binary.BigEndian.Uint64(k), binary.BigEndian.Uint32(k[8:]), binary.BigEndian.Uint16(k[12:])})
	}
	for _, c := range w.Claims {
		if u := uri.FromCanonical(c.URI); !u.IsZero() {
			s.claims = append(s.claims, Claim{URI: u, At: time.Unix(c.At, 0).UTC()})
		}
	}
	return s, nil
}
