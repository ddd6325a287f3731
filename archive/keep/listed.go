package keep

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
