package fixity

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Elsewhere returns the names of the WARC files that are at other places, each with its path: in folders and below, and
// in lists, where the path is empty. A line of a list is the name of a file, possibly after a checksum as sha256sum
// writes it, or a line of a manifest.
func Elsewhere(places []string) (map[string]string, error) {
	names := map[string]string{}
	for _, place := range places {
		files, faults := warc.FilesNamed([]string{place}, warc.IsArchive)
		for _, f := range faults {
			if f.Kind != warc.Empty {
				return nil, fmt.Errorf("look for moved WARC files: %w", f)
			}
		}
		if len(files) == 1 && files[0].Path == place && !warc.IsArchive(place) {
			if err := readList(place, names); err != nil {
				return nil, fmt.Errorf("read a list of moved WARC files: %w", err)
			}
			continue
		}
		for _, f := range files {
			names[filepath.Base(f.Path)] = f.Path
		}
	}
	return names, nil
}

// readList adds the names in a list of files.
func readList(list string, names map[string]string) (err error) {
	f, err := fileio.OpenText(list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		var e Entry
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &e) == nil {
			text = e.File
		} else if words := strings.Fields(text); len(words) > 0 {
			text = strings.TrimPrefix(words[len(words)-1], "*")
		}
		if name := path.Base(filepath.ToSlash(text)); warc.IsArchive(name) {
			names[name] = ""
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	return nil
}
