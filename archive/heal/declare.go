package heal

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
)

// What an operator can say of files.
const (
	Lost  = "lost"
	Moved = "moved"
	Found = "found"
)

// Declare records what the operator says of WARC files: that they are lost or damaged, that they were moved away, or
// that they are neither. It returns how many of them were in another state before. A file that is still being written
// cannot be declared lost.
func Declare(index *dedup.Index, dir string, files []string, are string) (changed int, err error) {
	cause := dedup.Declared
	switch are {
	case Moved:
		cause = dedup.Moved
	case Lost, Found:
	default:
		return 0, fmt.Errorf("unknown state %q of WARC files; valid states: %q", are, []string{Lost, Moved, Found})
	}
	open, _ := warc.Files([]string{dir})
	for _, file := range files {
		name := filepath.Base(file)
		if !warc.IsArchive(name) || filepath.Ext(name) == warc.OpenSuffix {
			return changed, fmt.Errorf("%s is not the name of a finished WARC file", file)
		}
		writing := func(f warc.File) bool { return filepath.Base(f.Path) == name+warc.OpenSuffix }
		if are != Found && slices.ContainsFunc(open, writing) {
			return changed, fmt.Errorf("%s is still being written: repeat this when it is finished", name)
		}
		var is bool
		if are == Found {
			is = slices.ContainsFunc(index.Losses(), func(l dedup.Loss) bool { return l.File == name })
			err = index.Recall(name)
		} else {
			is, err = index.Lose(dedup.Loss{File: name, Cause: cause, Pending: cause != dedup.Moved})
		}
		if err != nil {
			return changed, err
		}
		if is {
			changed++
		}
	}
	return changed, nil
}
