package archive

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/warcout"
)

// seriesFlags choose WARC files by their series. They keep a command from taking more than its user thinks of, such as
// files under an embargo in the same folder.
type seriesFlags struct {
	names []string // noSeries = the files of no series
}

// noSeries stands for the files of no series. No series can have this name.
const noSeries = "-"

func (s *seriesFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.names, "series", nil,
		"choose the files of this series (- = of no series); required if there are several; repeatable")
}

// choose returns a function that reports whether a file is left out because of its series. Without the flags, it
// returns an error if the files of paths are of several series.
func (s *seriesFlags) choose(paths []string) (leave func(warc.File) bool, err error) {
	wanted := map[string]bool{}
	for _, name := range s.names {
		if name == noSeries {
			name = ""
		} else if !warcout.IsSeries(name) {
			return nil, cli.Usage(fmt.Errorf("--series %q: not the name of a series; warc.series_names has the names", name))
		}
		wanted[name] = true
	}
	found, known := bySeries(paths)
	names := slices.Sorted(maps.Keys(found))
	switch {
	case len(wanted) == 0 && len(names) > 1:
		return nil, fmt.Errorf("the files are of several series: %s; choose with %s, or name each to take all",
			listSeries(names, found), flagsOf(names))
	case len(wanted) == 0:
		wanted[strings.Join(names, "")] = true // the only one
	case len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return wanted[name] }):
		return nil, fmt.Errorf("%w: no file is of a chosen series; there are %s", warc.ErrNotFound, listSeries(names, found))
	}
	return func(f warc.File) bool {
		series, seen := known[f.Path]
		if !seen {
			series = seriesOf(f)
			known[f.Path] = series
		}
		return !wanted[series]
	}, nil
}

// bySeries lists the WARC files of paths by their series, and returns the series of each file, by its path.
func bySeries(paths []string) (found map[string][]warc.File, of map[string]string) {
	found, of = map[string][]warc.File{}, map[string]string{}
	files, _ := warc.FilesAndPackages(paths) // who reads the files reports the faults
	for _, f := range files {
		series := seriesOf(f)
		found[series], of[f.Path] = append(found[series], f), series
	}
	return found, of
}

// hasSeries reports whether a file of a series is in one of the folders of paths. The log of such a crawl has lines
// about hosts of the series.
func hasSeries(paths []string) bool {
	folders := slices.Clone(paths)
	for _, path := range paths {
		if warc.IsArchive(path) {
			folders = append(folders, filepath.Dir(path))
		}
	}
	found, _ := bySeries(folders)
	delete(found, "")
	return len(found) > 0
}

// listSeries describes files by their series, with an example of each.
func listSeries(names []string, found map[string][]warc.File) string {
	var parts []string
	for _, name := range names {
		files := found[name]
		of := "of no series"
		if name != "" {
			of = "of the series " + name
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s)", human.Count(len(files), "file"), of, files[0].Path))
	}
	return strings.Join(parts, ", ")
}

// flagsOf returns the flags that choose series.
func flagsOf(names []string) string {
	var flags []string
	for _, name := range names {
		if name == "" {
			name = noSeries
		}
		flags = append(flags, "--series "+name)
	}
	return strings.Join(flags, " or ")
}

// maxLeadingInfos is the maximum number of warcinfo records at the beginning of a file. Files that were extracted from
// others have several.
const maxLeadingInfos = 8

// warcInfo is a warcinfo record.
type warcInfo struct {
	version string // of the format, as "1.1"
	date    time.Time
	file    string // the name of the file when it was written
	fields  warc.Header
}

// leadingInfos returns the warcinfo records at the beginning of a file.
func leadingInfos(f warc.File) (infos []warcInfo, err error) {
	r, rec, err := f.RecordAt(0)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for len(infos) < maxLeadingInfos && err == nil && rec.Header.Type() == "warcinfo" {
		text, err := io.ReadAll(io.LimitReader(rec, warc.MaxHeader))
		if err = errors.Join(err, rec.Close()); err != nil {
			return infos, err
		}
		infos = append(infos, warcInfo{
			rec.Version, rec.Header.Date(), rec.Header.Get("WARC-Filename"), warc.ParseFields(text),
		})
		if rec, err = r.Next(); err != nil {
			break // the other records have their own readers
		}
	}
	return infos, nil
}

// seriesOf returns the series of a WARC file, or "" if it is in none. A file of a series has it in its name, which the
// warcinfo record repeats, and in isPartOf. So a file that was renamed is still in its series. If the warcinfo record
// cannot be read, the name decides.
func seriesOf(f warc.File) string {
	infos, err := leadingInfos(f)
	if err != nil {
		return captures.SeriesOf(f.Path)
	}
	for _, i := range infos {
		for _, part := range i.fields.Values("isPartOf") {
			if part != "" && (part == captures.SeriesOf(f.Path) || part == captures.SeriesOf(i.file)) {
				return part
			}
		}
	}
	return ""
}
