package fixity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// CheckOptions say what to compare.
type CheckOptions struct {
	Only      map[string]bool   // the names of files to compare; nil = all
	Elsewhere map[string]string // files that were moved away, and where to read them; see [Elsewhere]
}

// Check compares the files of a folder with its manifest and reports each difference. A folder without a manifest has
// none. checked is the number of files that were compared.
func Check(ctx context.Context, dir string, o CheckOptions, report func(warc.Finding) error) (checked int, err error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	path := filepath.Join(dir, FileName)
	if err != nil {
		return 0, report(finding(path, warc.Error, "the manifest cannot be read: %v", err))
	}
	for _, fault := range m.Faults {
		if err := report(finding(path, warc.Error, "%s", fault)); err != nil {
			return 0, err
		}
	}
	for _, e := range m.Entries {
		if o.Only != nil && !o.Only[e.File] {
			continue
		}
		if f := e.compare(ctx, filepath.Join(dir, filepath.FromSlash(e.File)), o.Elsewhere); f.Text != "" {
			if err := report(f); err != nil {
				return checked, err
			}
		}
		if ctx.Err() != nil {
			return checked, context.Cause(ctx)
		}
		checked++
	}
	missing, err := m.Missing(m.Since)
	if err != nil || o.Only != nil {
		return checked, err
	}
	for _, name := range missing {
		f := finding(filepath.Join(dir, name), warc.Warning, "is not in the manifest; a running daemon adds it")
		if err := report(f); err != nil {
			return checked, err
		}
	}
	return checked, nil
}

// finding returns a finding about a file.
func finding(file string, severity warc.Severity, format string, args ...any) warc.Finding {
	return warc.Finding{
		File: file, Offset: -1, Severity: severity, Kind: warc.Fixity, Text: fmt.Sprintf(format, args...),
	}
}

// compare compares a file with its entry. The finding is empty if they agree.
func (e Entry) compare(ctx context.Context, file string, elsewhere map[string]string) (f warc.Finding) {
	got, size, err := hashFile(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		place, moved := elsewhere[filepath.Base(file)]
		if moved && place == "" {
			return f // a list says so
		}
		if moved {
			file = place
			got, size, err = hashFile(ctx, file)
		}
	}
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fs.ErrNotExist):
		f = finding(file, warc.Error, "is gone; it had %d bytes and SHA-256 %s; "+
			"if it was moved away, name its place with --elsewhere", e.Size, e.SHA256)
	case err != nil:
		f = finding(file, warc.Error, "cannot be read: %v", err)
	case size < e.Size:
		f = finding(file, warc.Error, "has %d bytes, and %d when it was sealed: %d are lost", size, e.Size, e.Size-size)
	case got != e.SHA256:
		f = finding(file, warc.Error, "has SHA-256 %s, and %s when it was sealed: it was changed", got, e.SHA256)
	}
	return f
}
