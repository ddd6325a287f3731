// This file remembers how reliable the validators of each host have been, and the dates in its feeds and sitemaps.
//
// A [Reputation] keeps one [evaluators.Reputation] for each host, about its ETag and Last-Modified headers.
// [Reputation.Get] returns it before a visit, and [Reputation.Add] adds one observation. The store also keeps one
// [evaluators.Dates] for each host, for [Reputation.Dates] and [Reputation.AddDate].
//
// An observation is added after its visit is archived and logged, and before it is settled in the frontier. If a crash
// comes in between, the visit and the observation are made again, and both observations are true. What was added
// survives the end of the process. The owner of the Badger store syncs it, so that it survives the machine.
//
// The keys begin with the letter 't', with "pF" for dates, or with "pI" for indexes, see [Reputation.Indexes]. The host
// follows.

package hosts

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// reputationMaxInMemory is the number of hosts in memory, of reputationRowBytes each. Each conditional request needs a
// reputation.
const (
	reputationMaxInMemory = 1000
	reputationRowBytes    = 2500

	maxIndexBytes = 8 << 20 // in memory, of the indexes of all hosts
)

// Reputation keeps the reputations in an open Badger store. Its methods may be called by several goroutines at once. It
// needs no closing, and must not be used after the Badger store is closed.
type Reputation struct {
	reputations *Rows[uri.Host, evaluators.Reputation]
	dates       *Rows[uri.Host, evaluators.Dates]
	indexes     *Rows[uri.Host, []evaluators.HostIndex]
}

// OpenReputation returns a store of reputations in db.
func OpenReputation(db *badger.DB) *Reputation {
	return &Reputation{
		reputations: NewHostRows(db, RowKind[uri.Host, evaluators.Reputation]{
			Name: "reputation", Prefix: "t", MaxInMemory: reputationMaxInMemory, RowBytes: reputationRowBytes,
			Encode: encodeReputation, Decode: decodeReputation,
		}),
		dates: NewHostRows(db, RowKind[uri.Host, evaluators.Dates]{
			Name: "reputation of dates", Prefix: "pF", MaxInMemory: reputationMaxInMemory, RowBytes: reputationRowBytes,
			Encode: encodeDates, Decode: decodeDates,
		}),
		indexes: NewHostRows(db, RowKind[uri.Host, []evaluators.HostIndex]{
			Name: "record of indexes", Prefix: "pI", MaxInMemory: reputationMaxInMemory, MaxBytes: maxIndexBytes,
			Encode: func(all []evaluators.HostIndex) ([]byte, error) { return EncodeRow(all) },
			Decode: func(b []byte, to *[]evaluators.HostIndex) error { return DecodeRow(b, to) },
		}),
	}
}

// OnDamage makes the store report each damaged row once, and replace it by an empty one. It must be called before the
// store is used.
func (s *Reputation) OnDamage(report func(error)) {
	s.reputations.OnDamage(report)
	s.dates.OnDamage(report)
	s.indexes.OnDamage(report)
}

// Flush writes what could not be written when it was added.
func (s *Reputation) Flush() error {
	return errors.Join(s.reputations.Flush(), s.dates.Flush(), s.indexes.Flush())
}

// Forget drops the reputations of hosts from memory, as [Rows.Forget] does.
func (s *Reputation) Forget(is func(uri.Host) bool) {
	s.reputations.Forget(is)
	s.dates.Forget(is)
	s.indexes.Forget(is)
}

// Bytes returns how much memory the reputations take at most.
func (s *Reputation) Bytes() int64 {
	return s.reputations.Bytes() + s.dates.Bytes() + s.indexes.Bytes()
}

// Get returns the reputation of a host, or the zero value if nothing was observed there yet.
func (s *Reputation) Get(host uri.Host) (evaluators.Reputation, error) {
	return s.reputations.Get(host)
}

// Add adds an observation to the reputation of a host and writes it.
func (s *Reputation) Add(host uri.Host, o evaluators.Observation) error {
	return change(s.reputations, host, func(r evaluators.Reputation) evaluators.Reputation { return r.After(o) })
}

// Each calls see with each host of which something was observed, ordered by name. Each stops at the first error of see,
// and returns it.
func (s *Reputation) Each(see func(uri.Host, evaluators.Reputation) error) error {
	return s.reputations.Each(nil, see)
}

// Dates returns how reliable the dates in feeds and sitemaps of a host have been, or the zero value if nothing is
// known.
func (s *Reputation) Dates(host uri.Host) (evaluators.Dates, error) { return s.dates.Get(host) }

// AddDate adds whether a date was right to the reputation of the dates of a host, and writes it.
func (s *Reputation) AddDate(host uri.Host, about evaluators.Dating, right bool) error {
	return change(s.dates, host, func(d evaluators.Dates) evaluators.Dates { return d.After(about, right) })
}

// EachDates calls see with each host whose dates were checked, ordered by name. EachDates stops at the first error of
// see, and returns it.
func (s *Reputation) EachDates(see func(uri.Host, evaluators.Dates) error) error {
	return s.dates.Each(nil, see)
}

// Indexes returns the indexes of a host. They must not be changed.
func (s *Reputation) Indexes(host uri.Host) ([]evaluators.HostIndex, error) {
	return s.indexes.Get(host)
}

// ChangeIndexes replaces the indexes of a host by what change returns, and writes them.
func (s *Reputation) ChangeIndexes(host uri.Host, change func([]evaluators.HostIndex) []evaluators.HostIndex) error {
	err := s.indexes.Change(host, func(before []evaluators.HostIndex) ([]evaluators.HostIndex, bool) {
		return change(before), true
	})
	if err != nil {
		return err
	}
	return s.indexes.Flush()
}

// EachIndex calls see with each host that has indexes, ordered by name. EachIndex stops at the first error of see, and
// returns it.
func (s *Reputation) EachIndex(see func(uri.Host, []evaluators.HostIndex) error) error {
	return s.indexes.Each(nil, see)
}

// change changes a row and writes it, unless it stays the same.
func change[V comparable](s *Rows[uri.Host, V], host uri.Host, after func(V) V) error {
	changed := false
	err := s.Change(host, func(before V) (V, bool) {
		v := after(before)
		changed = v != before
		return v, changed
	})
	if err != nil || !changed {
		return err
	}
	return s.Flush()
}

// reputationRow is a reputation, or a reputation of dates, as it is stored. Standings that know nothing are left out.
// In a reputation of dates the class is the [evaluators.Dating]. Keys are only ever added.
type reputationRow struct {
	Standings []standing `cbor:"1,keyasint,omitempty"`
}

type standing struct {
	Class   uint8 `cbor:"1,keyasint,omitempty"`
	Witness uint8 `cbor:"2,keyasint,omitempty"`
	evaluators.Standing
}

// add adds a standing, unless it knows nothing.
func (w *reputationRow) add(class, witness int, s evaluators.Standing) {
	if s != (evaluators.Standing{}) {
		w.Standings = append(w.Standings, standing{uint8(class), uint8(witness), s})
	}
}

func encodeReputation(r evaluators.Reputation) ([]byte, error) {
	var w reputationRow
	for c, standings := range r {
		for i, s := range standings {
			w.add(c, i, s)
		}
	}
	return EncodeRow(w)
}

func decodeReputation(b []byte, r *evaluators.Reputation) error {
	var w reputationRow
	if err := DecodeRow(b, &w); err != nil {
		return err
	}
	for _, s := range w.Standings {
		known := int(s.Class) < evaluators.Classes && int(s.Witness) < evaluators.Witnesses
		if !known || s.Known < 0 || s.Known > 64 {
			return fmt.Errorf("%w: class %d, witness %d, %d predictions", ErrCorrupt, s.Class, s.Witness, s.Known)
		}
		r[s.Class][s.Witness] = s.Standing
	}
	return nil
}

func encodeDates(d evaluators.Dates) ([]byte, error) {
	var w reputationRow
	for i, s := range d {
		w.add(i, 0, s)
	}
	return EncodeRow(w)
}

func decodeDates(b []byte, d *evaluators.Dates) error {
	var w reputationRow
	if err := DecodeRow(b, &w); err != nil {
		return err
	}
	for _, s := range w.Standings {
		if int(s.Class) >= evaluators.Datings || s.Known < 0 || s.Known > 64 {
			return fmt.Errorf("%w: dating %d, %d predictions", ErrCorrupt, s.Class, s.Known)
		}
		d[s.Class] = s.Standing
	}
	return nil
}
