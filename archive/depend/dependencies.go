package depend

import (
	"maps"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Dependency is a file on the other side of a dependency, and the number of revisits that cause it.
type Dependency struct {
	File     string `json:"file"`
	Revisits int    `json:"revisits"`
	Gone     bool   `json:"gone,omitempty"` // the file is not in the folder; only an index knows it
}

// Dependencies are the dependencies of one file.
type Dependencies struct {
	File     string       `json:"file"`
	Captures int          `json:"captures"`
	Needs    []Dependency `json:"needs"`     // files that hold originals of this file's revisits
	NeededBy []Dependency `json:"needed_by"` // files that hold revisits of this file's records
	Missing  int          `json:"missing"`   // revisits whose original is in no file
	Packages []Dependency `json:"packages"`  // packages that these revisits name
}

// Dependencies returns for each of the named files which files it needs, and which files need it.
func (s *Survey) Dependencies(names []string) ([]Dependencies, error) {
	set, err := s.find(names)
	if err != nil {
		return nil, err
	}
	needs, neededBy := map[int32]map[int32]int{}, map[int32]map[int32]int{}
	count := func(m map[int32]map[int32]int, a, b int32) {
		if m[a] == nil {
			m[a] = map[int32]int{}
		}
		m[a][b]++
	}
	captures, missing := map[int32]int{}, map[int32]int{}
	packages := map[int32]map[string]int{}
	for i, c := range s.All() {
		captures[c.File]++
		if !c.IsRevisit {
			continue
		}
		o := s.Original(i)
		if o < 0 {
			missing[c.File]++
			if c.Container != "" {
				countName(packages, c.File, c.Container)
			}
		} else if other := s.At(o).File; other != c.File {
			count(needs, c.File, other)
			count(neededBy, other, c.File)
		}
	}
	var all []Dependencies
	for i, f := range s.Files {
		if n := int32(i); set[n] {
			all = append(all, Dependencies{
				File: f.Name, Captures: captures[n], Missing: missing[n],
				Needs: s.ByFile(needs[n]), NeededBy: s.ByFile(neededBy[n]),
				Packages: byName(packages[n]),
			})
		}
	}
	return all, nil
}

func countName(m map[int32]map[string]int, file int32, name string) {
	if m[file] == nil {
		m[file] = map[string]int{}
	}
	m[file][name]++
}

// byName returns counts as a sorted list.
func byName(counts map[string]int) []Dependency {
	list := make([]Dependency, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, Dependency{File: name, Revisits: counts[name]})
	}
	return list
}

// ByFile returns counts, given by number of file, as a list sorted by name.
func (s *Survey) ByFile(counts map[int32]int) []Dependency {
	list := make([]Dependency, 0, len(counts))
	for i, n := range counts {
		list = append(list, Dependency{File: s.Files[i].Name, Revisits: n})
	}
	slices.SortFunc(list, func(a, b Dependency) int { return strings.Compare(a.File, b.File) })
	return list
}

// Loss counts the captures of one host in one period that could no longer be replayed.
type Loss struct {
	Host     string `json:"host"`
	Period   string `json:"period"`
	Captures int    `json:"captures"` // all lost captures
	Revisits int    `json:"revisits"` // lost captures that are revisits in other files and lose only their original
	Saved    int    `json:"saved"`    // lost captures whose payload is also in another file, under any URI
}

// Lost is one capture that could no longer be replayed.
type Lost struct {
	URI      string `json:"uri"`
	Date     string `json:"date"`
	File     string `json:"file"`
	Offset   int64  `json:"offset"`
	Original string `json:"original,omitempty"` // file of the original, if the capture is a revisit in another file
	Saved    bool   `json:"saved"`
}

// Impact returns which captures could no longer be replayed if the named files were lost: the captures in these files,
// and revisits in other files whose originals are in them. period is a layout of time.Format, for example "2006-01" for
// months. Impact calls each with every such capture.
func (s *Survey) Impact(names []string, period string, each func(Lost) error) ([]Loss, error) {
	set, err := s.find(names)
	if err != nil {
		return nil, err
	}
	sums := newLosses(period)
	for i, c := range s.All() {
		o := s.Original(i)
		if o < 0 || !set[c.File] && !set[s.At(o).File] {
			continue // a capture that cannot be replayed now cannot be lost
		}
		lost := Lost{URI: c.Target, Date: c.Time().Format(warc.DateLayout), File: s.Files[c.File].Name, Offset: c.Offset}
		lost.Saved = s.elsewhere(s.At(o), set)
		if !set[c.File] {
			lost.Original = s.Files[s.At(o).File].Name
		}
		if err := each(lost); err != nil {
			return nil, err
		}
		sums.Add(lost, c.Time())
	}
	return sums.List(), nil
}

// elsewhere reports whether the payload of a capture is also in a file outside the set.
func (s *Survey) elsewhere(c Capture, set map[int32]bool) bool {
	if c.Method == "" {
		return false
	}
	at, _ := slices.BinarySearchFunc(s.payloads, c.Payload, s.comparePayload)
	for ; at < len(s.payloads) && s.comparePayload(s.payloads[at], c.Payload) == 0; at++ {
		if !set[s.rows.at(s.payloads[at]).file] {
			return true
		}
	}
	return false
}
