package reputation

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// kindDates begins the keys of what dates of feeds and sitemaps were worth; the rest is the host.
const kindDates = "pF"

// datesRow is how [evaluators.Dates] are stored, behind the format: CBOR maps with integer keys, to which keys are only ever
// added. The class of a standing is what is dated.
type datesRow struct {
	Standings []standing `cbor:"1,keyasint,omitempty"`
}

// Dates gives what the dates of feeds and sitemaps have been worth on a host; the zero value if nothing is known.
func (b *Book) Dates(host uri.Host) (d evaluators.Dates, err error) {
	err = b.db.View(func(txn *badger.Txn) error {
		d, err = getDates(txn, host)
		return err
	})
	if err != nil {
		return evaluators.Dates{}, fmt.Errorf("look up what dates of %s were worth: %w", host, err)
	}
	return d, nil
}

// EachDates calls see with every host of which dates were looked into, in the order of their names, until see returns an error,
// which EachDates returns.
func (b *Book) EachDates(see func(uri.Host, evaluators.Dates) error) error {
	return each(b.db, kindDates, decodeDates, see)
}

// AddDate adds what became of a date on a host.
func (b *Book) AddDate(host uri.Host, about evaluators.Dating, right bool) error {
	add := func(txn *badger.Txn) error {
		d, err := getDates(txn, host)
		if err != nil {
			return err
		}
		var w datesRow
		for i, s := range d.After(about, right) {
			if s != (evaluators.Standing{}) {
				w.Standings = append(w.Standings, standing{
					Class: uint8(i), ChangeRight: s.ChangeRight, ChangeWrong: s.ChangeWrong, Recent: s.Recent, Known: s.Known,
				})
			}
		}
		v, err := cbor.Marshal(w)
		if err != nil {
			return err
		}
		return txn.Set(datesKey(host), append([]byte{format}, v...))
	}
	err := b.db.Update(add)
	for errors.Is(err, badger.ErrConflict) { // another goroutine was first; each round lets one through
		err = b.db.Update(add)
	}
	if err != nil {
		return fmt.Errorf("remember what dates of %s were worth: %w", host, err)
	}
	return nil
}

func datesKey(host uri.Host) []byte { return append([]byte(kindDates), host...) }

func getDates(txn *badger.Txn, host uri.Host) (d evaluators.Dates, err error) {
	item, err := txn.Get(datesKey(host))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return d, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) error { return decodeDates(v, &d) })
	}
	return d, err
}

func decodeDates(v []byte, d *evaluators.Dates) error {
	if len(v) == 0 || v[0] != format {
		return fmt.Errorf("%w: format %x, want %x", ErrCorrupt, v[:min(1, len(v))], format)
	}
	var w datesRow
	if err := cbor.Unmarshal(v[1:], &w); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for _, s := range w.Standings {
		if int(s.Class) >= evaluators.Datings || s.Known < 0 || s.Known > 64 {
			return fmt.Errorf("%w: dates of %d, %d of them", ErrCorrupt, s.Class, s.Known)
		}
		d[s.Class] = evaluators.Standing{ChangeRight: s.ChangeRight, ChangeWrong: s.ChangeWrong, Recent: s.Recent, Known: s.Known}
	}
	return nil
}
