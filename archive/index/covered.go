package index

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// FileName is the name under which an index lies beside the files that it is of.
const FileName = "index.cdxj"

// coveredSuffix ends the name of the list of what an index covers.
const coveredSuffix = ".files"

// WriteFile is [Index] into a file, which is replaced when the new one is whole. A second file, with .files after its
// name, lists what the index covers, one line for each file: size, time of change, name. By it a reader knows which files
// have come or changed since.
func WriteFile(ctx context.Context, paths []string, o Options, path string, see func(warc.Finding) error) (Summary, error) {
	files, _ := warc.Files(paths) // before the index: what changes while it is made is not covered
	list := coverage(files)
	out, err := warc.CreateFile(path)
	if err != nil {
		return Summary{}, err
	}
	defer out.Discard()
	sum, err := Build(ctx, paths, o, out, see)
	if err != nil {
		return sum, err
	}
	if err := out.Commit(true); err != nil {
		return sum, err
	}
	note, err := warc.CreateFile(path + coveredSuffix)
	if err != nil {
		return sum, err
	}
	defer note.Discard()
	for _, f := range files {
		if line, ok := list[f.Name]; ok {
			fmt.Fprintln(note, line) // an error comes again at commit
		}
	}
	return sum, note.Commit(true)
}

// coverage describes files by name, as they are now. Files that are being written are left out.
func coverage(files []warc.File) map[string]string {
	list := make(map[string]string, len(files))
	for _, f := range files {
		if info, err := os.Stat(f.Path); err == nil && !strings.HasSuffix(f.Path, warc.OpenSuffix) {
			list[f.Name] = fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), f.Name)
		}
	}
	return list
}

// covered reads which of the files an index covers as they are now. No list means none.
func covered(index string, files []warc.File) (map[string]bool, error) {
	f, err := os.Open(index + coveredSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the index covers: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	listed := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		listed[lines.Text()] = true
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read what the index covers: %w", err)
	}
	same := map[string]bool{}
	for name, line := range coverage(files) {
		if listed[line] {
			same[name] = true
		}
	}
	return same, nil
}
