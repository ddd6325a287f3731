package index

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// FileName is the name of an index in the folder of the files that it covers.
const FileName = "index.cdxj"

// coveredSuffix ends the name of the list of the files that an index covers.
const coveredSuffix = ".files"

// WriteFile makes an index as [Build] does and writes it to the file at path, which is replaced when the new index is
// whole. It also writes the list of the files that the index covers: see the package comment.
func WriteFile(
	ctx context.Context, paths []string, o Options, path string, report func(warc.Finding) error,
) (Summary, error) {
	files, _ := warc.Files(paths) // Build reports the faults
	list := coverage(files)       // before reading: a file that changes meanwhile is not covered
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Summary{}, fmt.Errorf("write %s: %w", path, err)
	}
	out, err := fileio.Create(path, 0o644)
	if err != nil {
		return Summary{}, err
	}
	defer out.Discard()
	sum, err := Build(ctx, paths, o, out, report)
	if err != nil {
		return sum, err
	}
	if err := out.Replace(); err != nil {
		return sum, err
	}
	return sum, writeCoverage(path, files, list)
}

// coverage returns one line for each file as it is now, by name: size, time of change, name. It leaves out files that
// are still open.
func coverage(files []warc.File) map[string]string {
	list := make(map[string]string, len(files))
	for _, f := range files {
		if info, err := os.Stat(f.Path); err == nil && !strings.HasSuffix(f.Path, warc.OpenSuffix) {
			list[f.Name] = fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), f.Name)
		}
	}
	return list
}

// writeCoverage writes the list of the files that an index covers, in the order of files.
func writeCoverage(index string, files []warc.File, list map[string]string) error {
	var text bytes.Buffer
	for _, f := range files {
		if line, ok := list[f.Name]; ok {
			text.WriteString(line + "\n")
		}
	}
	return fileio.Write(index+coveredSuffix, text.Bytes(), 0o644)
}

// covered returns the names of the files that an index covers as they are now. It is nil if the index has no list.
func covered(index string, files []warc.File) (map[string]bool, error) {
	f, err := os.Open(index + coveredSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of indexed files: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	listed := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		listed[lines.Text()] = true
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list of indexed files: %w", err)
	}
	unchanged := map[string]bool{}
	for name, line := range coverage(files) {
		if listed[line] {
			unchanged[name] = true
		}
	}
	return unchanged, nil
}

// coveredNames returns the names in the list of the files that an index covers, whether or not they have changed.
func coveredNames(index string) ([]string, error) {
	text, err := os.ReadFile(index + coveredSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(parts) == 3 {
			names = append(names, parts[2])
		}
	}
	return names, nil
}
