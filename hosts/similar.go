// This file remembers what the URIs of one kind on a host have in common: how often they change, how that changes with
// age, and at which hours.
//
// A [Similar] keeps one [rate.Relatives] for each host and [rate.Kind]. [Similar.Get] returns it before the
// wait interval of a URI is decided. [Similar.Add] adds the difference that one visit makes, so that visits at the same
// time do not undo each other. A host has at most 97 rows, of some 120 bytes, or 600 where two or more URIs were seen
// to change.
//
// Add changes a row in memory. [Rows.Flush] writes the changed rows; it is called with each sync of the Badger store
// and before that is closed. A visit is added after it is archived and logged, and before it is settled in the
// frontier. A crash loses what was added since the last Flush, or has a repeated visit counted twice. Both change the
// numbers of a kind little.
//
// The keys begin with the letter 'k'. A byte for the kind follows, and the host. Another row, whose key is "pP", counts
// the probes of the whole crawl.

package hosts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/uri"
)

// letter begins each key, and one of the formats each value. The numbers of [rate.Relatives] follow the format,
// in the order of its fields, as big-endian floats of 64 bits. Rows without a rhythm are shorter.
const (
	similarLetter = 'k'
	withoutRhythm = 1
	withRhythm    = 2
)

// maxInMemory is the number of rows in memory, of rowBytes each.
const (
	similarMaxInMemory = 4000
	similarRowBytes    = 1200
)

// Similar keeps the numbers of all kinds in an open Badger store, and the probes of the crawl.
type Similar struct {
	*Rows[hostKind, rate.Relatives]
	probes *Rows[wholeCrawl, rate.Probes]
}

// wholeCrawl is the key of the only row about the whole crawl.
type wholeCrawl struct{}

const probesKey = "pP"

// hostKind is a kind of URIs on a host.
type hostKind struct {
	host uri.Host
	kind rate.Kind
}

func (h hostKind) String() string { return fmt.Sprintf("kind %d on %s", h.kind, h.host) }

// OpenSimilar returns a store of kinds in db.
func OpenSimilar(db *badger.DB) *Similar {
	probes := NewRows(db, RowKind[wholeCrawl, rate.Probes]{
		Name: "count of probes", Prefix: probesKey, MaxInMemory: 1, RowBytes: 100,
		Own:      func(k wholeCrawl) wholeCrawl { return k },
		Key:      func(wholeCrawl) []byte { return []byte(probesKey) },
		ParseKey: func([]byte) (wholeCrawl, bool) { return wholeCrawl{}, true },
		Encode:   func(p rate.Probes) ([]byte, error) { return EncodeRow(p) },
		Decode:   decodeProbes,
	})
	return &Similar{probes: probes, Rows: NewRows(db, RowKind[hostKind, rate.Relatives]{
		Name: "summary", Prefix: string(similarLetter), MaxInMemory: similarMaxInMemory, RowBytes: similarRowBytes,
		Own: func(h hostKind) hostKind { return hostKind{h.host.Clone(), h.kind} },
		Key: similarKey, ParseKey: similarParseKey, Encode: similarEncode, Decode: similarDecode,
	})}
}

func decodeProbes(v []byte, p *rate.Probes) error {
	if err := DecodeRow(v, p); err != nil {
		return err
	}
	if !p.Sound() {
		return fmt.Errorf("%w: %v", ErrCorrupt, *p)
	}
	return nil
}

// Probes returns the probes of the crawl.
func (s *Similar) Probes() (rate.Probes, error) { return s.probes.Get(wholeCrawl{}) }

// AddProbes adds to the probes of the crawl.
func (s *Similar) AddProbes(more rate.Probes) error {
	return s.probes.Change(wholeCrawl{}, func(p rate.Probes) (rate.Probes, bool) {
		return p.Plus(more), more != rate.Probes{}
	})
}

// Flush writes the changed rows, as [Rows.Flush] does.
func (s *Similar) Flush() error { return errors.Join(s.Rows.Flush(), s.probes.Flush()) }

// Forget drops the kinds on hosts from memory, as [Rows.Forget] does.
func (s *Similar) Forget(is func(uri.Host) bool) {
	s.Rows.Forget(func(k hostKind) bool { return is(k.host) })
}

// OnDamage says what happens to a damaged row, as [Rows.OnDamage] does.
func (s *Similar) OnDamage(report func(error)) {
	s.Rows.OnDamage(report)
	s.probes.OnDamage(report)
}

// Get returns what the URIs of a kind on a host have in common, or the zero value if nothing is known.
func (s *Similar) Get(host uri.Host, kind rate.Kind) (rate.Relatives, error) {
	return s.Rows.Get(hostKind{host, kind})
}

// Add adds the difference that one visit makes to its kind. Kind zero is ignored.
func (s *Similar) Add(host uri.Host, kind rate.Kind, lesson rate.Relatives) error {
	if kind == 0 || lesson == (rate.Relatives{}) {
		return nil
	}
	return s.Change(hostKind{host, kind}, func(r rate.Relatives) (rate.Relatives, bool) {
		return r.Plus(lesson), true
	})
}

func similarKey(h hostKind) []byte { return append([]byte{similarLetter, byte(h.kind)}, h.host...) }

func similarParseKey(k []byte) (hostKind, bool) {
	if len(k) < 3 {
		return hostKind{}, false
	}
	return hostKind{uri.Host(k[2:]), rate.Kind(k[1])}, true
}

// similarNumbers lists the fields of r in the order in which they are stored.
func similarNumbers(r *rate.Relatives, rhythm bool) []*float64 {
	all := []*float64{&r.URIs, &r.Rate[0], &r.Rate[1], &r.Ageing[0], &r.Ageing[1]}
	for i := range r.Weight {
		all = append(all, &r.Weight[i])
	}
	if !rhythm {
		return all
	}
	all = append(all, &r.Rhythm.At)
	for i := range r.Rhythm.Seen {
		all = append(all, &r.Rhythm.Seen[i])
	}
	for i := range r.Rhythm.Expected {
		all = append(all, &r.Rhythm.Expected[i])
	}
	return all
}

func similarEncode(r rate.Relatives) ([]byte, error) {
	format := byte(withoutRhythm)
	if r.Rhythm.At > 0 {
		format = withRhythm
	}
	all := similarNumbers(&r, format == withRhythm)
	b := append(make([]byte, 0, 1+8*len(all)), format)
	for _, n := range all {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(*n))
	}
	return b, nil
}

func similarDecode(v []byte, r *rate.Relatives) error {
	if len(v) == 0 {
		return fmt.Errorf("%w: it is empty", ErrCorrupt)
	}
	all := similarNumbers(r, v[0] == withRhythm)
	if len(v) != 1+8*len(all) || v[0] != withRhythm && v[0] != withoutRhythm {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, len(v))
	}
	for i, n := range all {
		*n = math.Float64frombits(binary.BigEndian.Uint64(v[1+8*i:]))
		if math.IsNaN(*n) || math.IsInf(*n, 0) {
			return fmt.Errorf("%w: number %d is not finite", ErrCorrupt, i)
		}
	}
	return nil
}
