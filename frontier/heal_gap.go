package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// maxGaps is the maximum number of host numbers that may be filled at an opening. More are damage.
const maxGaps = 100_000

// fillGap fills the numbers before the next host with hosts that have no URIs. New hosts may take these numbers.
// Earlier versions could skip a number: a link to a new host that became no URI took one.
func (f *Frontier) fillGap(next uint32, now time.Time) error {
	for want := uint32(len(f.byID) + 1); want < next; want++ {
		if len(f.gaps) == maxGaps {
			return damaged(hostKey(want), errors.New("is missing"))
		}
		// No URI has a host with a space in its name.
		name := fmt.Sprintf("unused number %d", want)
		w := hostRow{Name: cbor.ByteString(name), Mark: cbor.ByteString(lastPlace[:]), Met: int(metNever)}
		h, err := f.newHost(want, w, 0, now)
		if err != nil {
			return damaged(hostKey(want), err)
		}
		f.addHost(h)
		f.gaps = append(f.gaps, h)
	}
	if want := uint32(len(f.byID) + 1); next != want {
		return damaged(hostKey(next), errors.New("follows a host with a higher number"))
	}
	return nil
}

// checkGaps returns an error if anything in the store belongs to a number that was filled: then the row of a host was
// lost, which is damage.
func (f *Frontier) checkGaps(txn *badger.Txn) error {
	if len(f.gaps) == 0 {
		return nil
	}
	filled := map[string]bool{}
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	it := txn.NewIterator(o)
	defer it.Close()
	for _, h := range f.gaps {
		number := hostKey(h.id)[1:]
		filled[string(number)] = true
		for _, prefix := range numbered {
			of := append([]byte(prefix), number...)
			if it.Seek(of); it.ValidForPrefix(of) {
				return damaged(hostKey(h.id), errors.New("is missing"))
			}
		}
	}
	names := []byte{kindName}
	for it.Seek(names); it.ValidForPrefix(names); it.Next() {
		err := it.Item().Value(func(number []byte) error {
			if filled[string(number)] {
				return damaged(append(hostKey(0)[:1], number...), errors.New("is missing"))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeGaps writes the hosts that fill gaps, with their names. New hosts may take their numbers then.
func (f *Frontier) writeGaps() error {
	err := inBatches(f.gaps, func(some []*host) error {
		c := f.begin()
		defer c.discard()
		for _, h := range some {
			c.draft(h.name).dirty = true
			if err := c.txn.Set(nameKey(h.name), hostKey(h.id)[1:]); err != nil {
				return err
			}
		}
		return c.commit()
	})
	if err != nil {
		return err
	}
	for _, h := range f.gaps {
		h.vacant = true
	}
	f.vacant = append(f.vacant, f.gaps...)
	return nil
}

// GapsFilled returns how many host numbers were filled at the opening, because an earlier version had skipped them.
func (f *Frontier) GapsFilled() int { return len(f.gaps) }
