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
)

// RepairKind says what [Open] found.
type RepairKind string

// What may be found. The first three are of .open files that a crash left, and are put right. The others are for a person.
const (
	Whole          RepairKind = "whole"           // it ended with a whole record, and was sealed
	Cut            RepairKind = "cut"             // its torn tail was cut off, and it was sealed
	Removed        RepairKind = "removed"         // it held no visit, and was removed
	Short          RepairKind = "short"           // it is shorter than what was synced (Before); what is whole was sealed: visits are lost
	Differs        RepairKind = "differs"         // a sealed file has not the size that it was sealed with (Before); it was not touched
	DamagedJournal RepairKind = "damaged journal" // so many lines could not be read, and were passed over
)

// Repair is what was found at the start and done about it, for the log.
type Repair struct {
	File          string // its name as it was found, without folder
	Before, After int64  // bytes; lines for a damaged journal
	Kind          RepairKind
	Sealed        string // its name now, where it was sealed
	Tail          string // a copy of the cut-off tail, where that had whole records after the damage
}

// String is the finding as a sentence.
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

// Name is the name by which records of the file are known.
func (r Repair) Name() string { return strings.TrimSuffix(r.File, openSuffix) }

// LostFrom tells from which byte on the file holds nothing any more of what it may have held; lost is false when nothing
// is known to be missing.
func (r Repair) LostFrom() (from int64, lost bool) {
	switch r.Kind {
	case Cut, Short:
		return r.After, true
	case Removed:
		return 0, true
	case Differs:
		if r.After < r.Before {
			return r.After, true
		}
	}
	return 0, false
}

// repairer puts a folder in order before anything is written.
type repairer struct {
	dir     string
	names   naming
	journal *journal
	known   map[string]remembered
	now     time.Time
}

// repairAll repairs our .open files and compares sealed ones with the journal. Other files are not looked at.
func (r *repairer) repairAll() ([]Repair, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("look for files to repair: %w", err)
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
	return found, syncDir(r.dir)
}

// repair works on one .open file, unless it is live: another writer has it.
func (r *repairer) repair(name string) (one Repair, live bool, err error) {
	f, err := os.OpenFile(filepath.Join(r.dir, name+openSuffix), os.O_RDWR, 0)
	if err != nil {
		return Repair{}, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if lockFile(f) != nil {
		return Repair{}, true, nil
	}
	info, err := f.Stat()
	if err != nil {
		return Repair{}, false, err
	}
	one = Repair{File: name + openSuffix, Before: info.Size(), Kind: Whole}
	from := extent{r.known[name].size, r.known[name].records}
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
			return one, false, fmt.Errorf("keep its tail: %w", err)
		}
	}
	if short {
		one.Kind, one.Before = Short, r.known[name].size
	}
	return r.finish(f, name, whole, one)
}

// finish leaves nothing but the whole records in the file and gives it its name, or removes it.
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

// compareSealed reports sealed files that have another size than they were sealed with.
func (r *repairer) compareSealed() ([]Repair, error) {
	var found []Repair
	for name, k := range r.known {
		if k.last != eventSealed {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // moved to where it is kept, or still .open and live
		}
		if err != nil {
			return nil, err
		}
		if info.Size() != k.size {
			found = append(found, Repair{File: name, Before: k.size, After: info.Size(), Kind: Differs})
		}
	}
	return found, nil
}

// keepTail copies a tail that has a whole record in it to a file of its own and tells its name; a torn tail is not kept.
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
