package depend

import (
	"slices"
	"strings"
	"time"

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
	needs, neededBy, packages := map[int32]map[int32]int{}, map[int32]map[int32]int{}, map[int32]map[string]int{}
	captures, missing := map[int32]int{}, map[int32]int{}
	for i, c := range s.All() {
		captures[c.File]++
		if !c.IsRevisit {
			continue
		}
		o := s.Original(i)
		if o < 0 {
			missing[c.File]++
			if c.Container != "" {
				count(packages, c.File, c.Container)
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

func count[K comparable](m map[int32]map[K]int, file int32, key K) {
	if m[file] == nil {
		m[file] = map[K]int{}
	}
	m[file][key]++
}

// listOf returns counts of revisits as a list, sorted by name.
func listOf[K comparable](counts map[K]int, of func(K) Dependency) []Dependency {
	list := make([]Dependency, 0, len(counts))
	for k, n := range counts {
		d := of(k)
		d.Revisits = n
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Dependency) int { return strings.Compare(a.File, b.File) })
	return list
}

func byName(counts map[string]int) []Dependency {
	return listOf(counts, func(name string) Dependency { return Dependency{File: name} })
}

// ByFile returns counts, given by number of file, as a list sorted by name.
func (s *Survey) ByFile(counts map[int32]int) []Dependency {
	return listOf(counts, func(i int32) Dependency { return Dependency{File: s.Files[i].Name} })
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
		sums.add(lost, c.Time())
	}
	return sums.list(), nil
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

// losses counts lost captures by host and period.
type losses struct {
	period string // layout of time.Format
	sums   map[[2]string]*Loss
}

func newLosses(period string) *losses { return &losses{period, map[[2]string]*Loss{}} }

// add counts a lost capture of a date.
func (s *losses) add(l Lost, date time.Time) {
	at := [2]string{HostOf(l.URI), date.UTC().Format(s.period)}
	if s.sums[at] == nil {
		s.sums[at] = &Loss{Host: at[0], Period: at[1]}
	}
	s.sums[at].Captures++
	if l.Original != "" {
		s.sums[at].Revisits++
	}
	if l.Saved {
		s.sums[at].Saved++
	}
}

// list returns the counts, sorted by host and period.
func (s *losses) list() []Loss {
	list := make([]Loss, 0, len(s.sums))
	for _, l := range s.sums {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Loss) int { return strings.Compare(a.Host+"\x00"+a.Period, b.Host+"\x00"+b.Period) })
	return list
}

// Sum returns the sum of losses.
func Sum(losses []Loss) Loss {
	all := Loss{Host: "all"}
	for _, l := range losses {
		all.Captures, all.Revisits, all.Saved = all.Captures+l.Captures, all.Revisits+l.Revisits, all.Saved+l.Saved
	}
	return all
}

// HostOf returns the host of a URI in lower case, with its port if the URI has one.
func HostOf(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	return strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
}
