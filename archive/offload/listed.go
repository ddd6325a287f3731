// Package offload takes finished WARC files to other places: to further folders on other disks, and to a bucket of an
// S3-compatible server. It takes only files that the manifest lists, and compares each copy with the manifest.
//
// A file that is moved to another folder leaves a symbolic link under its old name. So all who read the archive find
// it, and the manifest, the indexes and the records that refer to it stay true.
package offload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/archive/fixity"
)

// listed is the list of finished files of a folder. It is read again only after it has grown.
type listed struct {
	dir     string
	size    int64
	changed time.Time
	entries []fixity.Entry
}

// read returns the entries of the manifest, oldest first.
func (l *listed) read() ([]fixity.Entry, error) {
	info, err := os.Stat(filepath.Join(l.dir, fixity.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no file was finished yet
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the WARC files: %w", err)
	}
	if info.Size() == l.size && info.ModTime().Equal(l.changed) {
		return l.entries, nil
	}
	m, err := fixity.Read(l.dir)
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the WARC files: %w", err)
	}
	l.entries, l.size, l.changed = m.Entries, info.Size(), info.ModTime()
	return l.entries, nil
}
