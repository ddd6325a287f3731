package frontier

import (
	"errors"
	"fmt"
	"os"
)

// withReserve returns the options with a reserve of disk space, if they ask for one.
func (o Options) withReserve() Options {
	if o.AwaitSpace != nil && !o.Inspect {
		b := storeOptions(o)
		sizes := ReserveOptions{Dir: o.Dir, Log: 2 * b.MemTableSize, Table: 2 * b.BaseTableSize, Wait: o.AwaitSpace}
		if o.Logger == nil {
			o.reserve = NewReserve(sizes, nil)
		} else {
			o.reserve = NewReserve(sizes, o.Logger)
		}
	}
	return o
}

// beginReserve reserves what opening the store is going to write.
func beginReserve(o Options) error {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return err
	}
	mem, _, err := logsIn(o.Dir)
	if err != nil {
		return err
	}
	if err := o.reserve.Begin(len(mem)); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return nil
}

// Space makes sure that the store can be written. It returns [ErrFull] if the disk has no space for it, and nil
// without [Options].AwaitSpace. It costs nothing if nothing was written since the last call.
func (f *Frontier) Space() error {
	if f.o.reserve == nil {
		return nil
	}
	if err := f.o.reserve.Fill(); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return nil
}

// closeStore closes the store. If the disk is so full that the last tables could not be written, it leaves
// the store open, with everything in its log. The next opening writes the tables.
func (f *Frontier) closeStore() error {
	if f.o.reserve != nil {
		if err := f.o.reserve.Close(); err != nil {
			return errors.Join(fmt.Errorf("%w: %w", ErrFull, err), f.synced.syncFiles(f.o.Dir))
		}
	}
	return f.db.Close()
}
