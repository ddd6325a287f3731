package fixity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Check compares the files of a folder with its manifest and reports each difference. A folder without a manifest has
// none. checked is the number of files that were compared.
func Check(ctx context.Context, dir string, report func(warc.Finding) error) (checked int, err error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	path := filepath.Join(dir, FileName)
	say := func(file string, severity warc.Severity, format string, args ...any) error {
		return report(warc.Finding{
			File: file, Offset: -1, Severity: severity, Kind: warc.Fixity, Text: fmt.Sprintf(format, args...),
		})
	}
	if err != nil {
		return 0, say(path, warc.Error, "the manifest cannot be read: %v", err)
	}
	for _, fault := range m.Faults {
		if err := say(path, warc.Error, "%s", fault); err != nil {
			return 0, err
		}
	}
	for _, e := range m.Entries {
		file := filepath.Join(dir, filepath.FromSlash(e.File))
		got, size, err := hashFile(ctx, file)
		switch {
		case ctx.Err() != nil:
			return checked, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			err = say(file, warc.Warning, "is not here: moved away or lost; it had %d bytes and SHA-256 %s", e.Size, e.SHA256)
		case err != nil:
			err = say(file, warc.Error, "cannot be read: %v", err)
		case size < e.Size:
			err = say(file, warc.Error, "has %d bytes, and %d when it was sealed: %d are lost", size, e.Size, e.Size-size)
		case got != e.SHA256:
			err = say(file, warc.Error, "has SHA-256 %s, and %s when it was sealed: it was changed", got, e.SHA256)
		}
		if err != nil {
			return checked, err
		}
		checked++
	}
	missing, err := m.Missing(m.Since)
	if err != nil {
		return checked, err
	}
	for _, name := range missing {
		err := say(filepath.Join(dir, name), warc.Warning, "is not in the manifest; a running daemon adds it")
		if err != nil {
			return checked, err
		}
	}
	return checked, nil
}
