package warcout

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// RepairKind is a kind of finding of [Open].
type RepairKind string

// The kinds of findings. The first three are about .open files that a crash left, and are repaired. The others need a
// person.
const (
	Whole          RepairKind = "whole"           // the file ended with a whole record, and was sealed
	Cut            RepairKind = "cut"             // its damaged tail was cut off, and it was sealed
	Removed        RepairKind = "removed"         // it had no visit, and was removed
	Short          RepairKind = "short"           // it is shorter than its synced size (Before): visits are lost
	Differs        RepairKind = "differs"         // a sealed file does not have its sealed size (Before)
	Absent         RepairKind = "absent"          // a file of the journal is not in the folder
	DamagedJournal RepairKind = "damaged journal" // Before lines could not be read, and were skipped
)

// Repair is a finding of [Open] and what was done about it, for the log.
type Repair struct {
	File          string // its name before the repair, without folder
	Before, After int64  // bytes; lines for a damaged journal
	Kind          RepairKind
	Sealed        string // its name now, if it was sealed
	Tail          string // a copy of the cut-off tail, if that had whole records after the damage
}

// String returns the finding as a sentence.
func (r Repair) String() string {
	s := fmt.Sprintf("%s: %s, %d bytes before, %d after", r.File, r.Kind, r.Before, r.After)
	if r.Kind == DamagedJournal {
		s = fmt.Sprintf("%s: %d lines cannot be read", r.File, r.Before)
	}
	if r.Sealed != "" {
		s += ", sealed as " + r.Sealed
	}
	if r.Tail != "" {
		s += ", tail kept as " + r.Tail
	}
	return s
}

// Name returns the name of the file without the suffix .open, as records refer to it.
func (r Repair) Name() string { return strings.TrimSuffix(r.File, openSuffix) }

// LostFrom returns the byte from which on the content of the file may be lost. lost is false if nothing is known to be
// missing.
func (r Repair) LostFrom() (from int64, lost bool) {
	switch r.Kind {
	case Cut, Short:
		return r.After, true
	case Removed, Absent:
		return 0, true
	case Differs:
		if r.After < r.Before {
			return r.After, true
		}
	}
	return 0, false
}

// repairer repairs a folder before anything is written.
type repairer struct {
	dir     string
	names   naming
	journal *journal
	known   map[string]remembered
	now     time.Time
}

// repairAll repairs our .open files and compares sealed ones with the journal. It ignores other files.
func (r *repairer) repairAll() ([]Repair, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("find files to repair: %w", err)
	}
	var found []Repair
	for _, e := range entries {
		name, ours := r.names.openName(e.Name())
		if !ours || !e.Type().IsRegular() {
			continue
		}
		one, live, err := r.repair(name)
		if err != nil {
			return found, fmt.Errorf("repair %s: %w", e.Name(), err)
		}
		if !live {
			found = append(found, one)
		}
	}
	differing, err := r.compareSealed()
	if err != nil {
		return found, fmt.Errorf("compare sealed files with the journal: %w", err)
	}
	found = append(found, differing...)
	slices.SortStableFunc(found, func(a, b Repair) int { return cmp.Compare(a.File, b.File) })
	return found, fileio.SyncDir(r.dir)
}

// repair works on one .open file, unless it is live: another writer has it.
func (r *repairer) repair(name string) (one Repair, live bool, err error) {
	f, err := os.OpenFile(filepath.Join(r.dir, name+openSuffix), os.O_RDWR, 0)
	if err != nil {
		return Repair{}, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if fileio.TryLock(f) != nil {
		return Repair{}, true, nil
	}
	info, err := f.Stat()
	if err != nil {
		return Repair{}, false, err
	}
	one = Repair{File: name + openSuffix, Before: info.Size(), Kind: Whole}
	from := extent{size: r.known[name].size, records: r.known[name].records}
	short := from.size > info.Size()
	if short {
		from = extent{}
	}
	whole, err := scan(f, from, info.Size())
	if err != nil {
		return one, false, err
	}
	if whole.size < info.Size() {
		one.Kind = Cut
		if one.Tail, err = r.keepTail(f, name, whole.size, info.Size()); err != nil {
			return one, false, fmt.Errorf("copy its tail: %w", err)
		}
	}
	if short {
		one.Kind, one.Before = Short, r.known[name].size
	}
	return r.finish(f, name, whole, one)
}

// finish cuts the file to its whole records and renames it to its final name, or removes it.
func (r *repairer) finish(f *os.File, name string, whole extent, one Repair) (Repair, bool, error) {
	if whole.records <= 1 { // the warcinfo record
		if one.Kind != Short {
			one.Kind = Removed
		}
		err := os.Remove(f.Name())
		return one, false, errors.Join(err, r.journal.add(r.now, eventRemoved, name, 0, 0))
	}
	if err := errors.Join(f.Truncate(whole.size), f.Sync()); err != nil {
		return one, false, err
	}
	final, err := place(r.dir, r.names, r.journal, name, whole, r.now)
	one.After, one.Sealed = whole.size, final
	r.known[final] = remembered{eventSealed, whole.size, whole.records}
	return one, false, err
}

// compareSealed returns sealed files whose size has changed, and files that are not in the folder. Whoever reads the
// result knows whether these were moved away.
func (r *repairer) compareSealed() ([]Repair, error) {
	var found []Repair
	for name, k := range r.known {
		info, err := os.Stat(filepath.Join(r.dir, name)) // a file that was moved to another folder has a link
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(filepath.Join(r.dir, name+openSuffix)); errors.Is(err, fs.ErrNotExist) {
				found = append(found, Repair{File: name, Before: k.size, Kind: Absent})
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if k.last == eventSealed && info.Size() != k.size {
			found = append(found, Repair{File: name, Before: k.size, After: info.Size(), Kind: Differs})
		}
	}
	return found, nil
}

// keepTail copies a tail that contains a whole record to a file of its own, and returns its name. It drops other tails.
func (r *repairer) keepTail(f *os.File, name string, from, size int64) (string, error) {
	keep, err := hasWholeRecord(f, from, size)
	if err != nil || !keep {
		return "", err
	}
	t, err := os.CreateTemp(r.dir, name+tailSuffix+".*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(t, io.NewSectionReader(f, from, size-from))
	return filepath.Base(t.Name()), errors.Join(err, t.Sync(), t.Close())
}
