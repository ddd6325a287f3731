package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/warcout"
)

// checkSeries accepts the name of a series of WARC files.
var checkSeries = schema.Accept(warcout.IsSeries,
	"cannot be a part of file names", "use up to 32 lower-case letters, digits and _, a letter first")

// maxFolders is the maximum number of folders for WARC files.
const maxFolders = 64

// Folders are further folders for finished WARC files. An entry is a path, or SERIES=PATH for the files of one series.
type Folders []string

// split returns the series and the path of an entry.
func (f Folders) split(i int) (series, path string) {
	series, path, ok := strings.Cut(f[i], "=")
	if !ok || !warcout.IsSeries(series) {
		return "", f[i]
	}
	return series, path
}

// Resolve makes the paths absolute.
func (f Folders) Resolve(absolute func(path string) string) {
	for i := range f {
		series, path := f.split(i)
		if f[i] = absolute(path); series != "" {
			f[i] = series + "=" + f[i]
		}
	}
}

// Of returns the paths for the files of a series. With "" it returns the paths for all files of no series, and of
// series without a folder of their own.
func (f Folders) Of(series string) (paths []string) {
	for i := range f {
		if of, path := f.split(i); of == series {
			paths = append(paths, path)
		}
	}
	return paths
}

// All returns all paths.
func (f Folders) All() (paths []string) {
	for i := range f {
		_, path := f.split(i)
		paths = append(paths, path)
	}
	return paths
}

// Check returns what is wrong with the folders. warc and state are the folders of the crawl, series the names of all
// series.
func (f Folders) Check(warc, state string, series []string) (problem, remedy string) {
	seen := f.All()
	for i, path := range seen {
		switch of, _ := f.split(i); {
		case path == warc || within(warc, path) || within(state, path) || slices.Contains(seen[:i], path):
			return "has a folder that is listed twice, or is in storage.warc or storage.state", "name other folders"
		case i >= maxFolders:
			return fmt.Sprintf("has more than %d folders", maxFolders), "use larger ones"
		case of != "" && !slices.Contains(series, of):
			return "has a folder for the series " + of + ", which is not in warc.series_names",
				"add it there, or write ./" + of + "=… if it is a path"
		}
	}
	return "", ""
}

// within reports whether path is below folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
