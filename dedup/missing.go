package dedup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Comparison holds what the comparison of an archive with its journal found.
type Comparison struct {
	Lost   []Loss   // new losses
	Back   []string // absent files that are back
	Away   int      // files that are elsewhere on purpose
	Absent int      // files that were known to be lost and still are

	Unread []*warc.Finding // folders that could not be searched for absent files: a file that was moved there is lost
}

// Compare records as lost what the writer of the archive misses. cut maps the names of files to the byte from which on
// they are lost, and absent lists the files that are gone. A file in a folder below dir is not lost, and neither is one
// for which elsewhere returns true. A file that was absent and is back counts again.
func (i *Index) Compare(
	dir string, cut map[string]int64, absent []string, elsewhere func(file string) bool,
) (found Comparison, err error) {
	gone := map[string]bool{}
	for _, name := range absent {
		gone[name] = true
	}
	if len(gone) > 0 { // they may have been moved to a folder below
		files, faults := warc.Files([]string{dir})
		for _, f := range files {
			delete(gone, strings.TrimSuffix(filepath.Base(f.Path), warc.OpenSuffix))
		}
		for _, f := range faults {
			if f.Kind == warc.Unreadable {
				found.Unread = append(found.Unread, f)
			}
		}
	}
	lose := func(file string, from int64, cause Cause) error {
		l := Loss{File: file, From: from, Cause: cause, Pending: true}
		added, err := i.Lose(l)
		if added {
			found.Lost = append(found.Lost, l)
		}
		return err
	}
	for file, from := range cut {
		if err := lose(file, from, CutOff); err != nil {
			return found, err
		}
	}
	known := map[string]Loss{}
	for _, l := range i.Losses() {
		known[l.File] = l
	}
	for _, file := range absent {
		switch l, lost := known[file]; {
		case !gone[file]:
		case lost && l.Cause == Moved, elsewhere(file):
			found.Away++
		case lost:
			found.Absent++
		default:
			if err := lose(file, 0, Absent); err != nil {
				return found, err
			}
		}
	}
	for file, l := range known {
		if _, short := cut[file]; l.Cause == Absent && !gone[file] && !short {
			found.Back = append(found.Back, file)
		}
	}
	return found, i.Recall(found.Back...)
}

// What an operator can say of files.
const (
	AreLost  = "lost"
	AreMoved = "moved"
	AreFound = "found"
)

// Declare records what the operator says of WARC files: that they are lost or damaged, that they were moved away, or
// that they are neither. It returns how many of them were in another state before. A file that is still being written
// cannot be declared lost.
func (i *Index) Declare(dir string, files []string, are string) (changed int, err error) {
	cause := Declared
	switch are {
	case AreMoved:
		cause = Moved
	case AreLost, AreFound:
	default:
		return 0, fmt.Errorf("unknown state %q of WARC files; valid states: %q", are, []string{AreLost, AreMoved, AreFound})
	}
	open, faults := warc.Files([]string{dir})
	for _, f := range faults { // a folder below has no file that is being written
		if f.Kind == warc.Unreadable && f.File == dir {
			return 0, fmt.Errorf("look which WARC files are being written in %s: %s", dir, f.Text)
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		if !warc.IsArchive(name) || filepath.Ext(name) == warc.OpenSuffix {
			return changed, fmt.Errorf("%s is not the name of a finished WARC file", file)
		}
		writing := func(f warc.File) bool { return filepath.Base(f.Path) == name+warc.OpenSuffix }
		if are != AreFound && slices.ContainsFunc(open, writing) {
			return changed, fmt.Errorf("%s is still being written: repeat this when it is finished", name)
		}
		var differs bool
		if are == AreFound {
			differs = slices.ContainsFunc(i.Losses(), func(l Loss) bool { return l.File == name })
			err = i.Recall(name)
		} else {
			differs, err = i.Lose(Loss{File: name, Cause: cause, Pending: cause != Moved})
		}
		if err != nil {
			return changed, err
		}
		if differs {
			changed++
		}
	}
	return changed, nil
}
