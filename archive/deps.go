package archive

import (
	"slices"
	"strings"
)

// Dependency is a file that others depend on, or that depends on others, and by how many revisits.
type Dependency struct {
	File     string `json:"file"`
	Revisits int    `json:"revisits"`
}

// Dependencies are those of one file.
type Dependencies struct {
	File     string       `json:"file"`
	Captures int          `json:"captures"`
	Needs    []Dependency `json:"needs"`    // files with originals of this file's revisits
	NeededBy []Dependency `json:"neededBy"` // files with revisits of this file's records
	Missing  int          `json:"missing"`  // revisits whose original is in no file
}

// Dependencies tells for each of the files what it needs and what needs it.
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
	for i, c := range s.each() {
		captures[c.file]++
		if !c.revisit {
			continue
		}
		o := s.original(i)
		if o < 0 {
			missing[c.file]++
		} else if other := s.capture(o).file; other != c.file {
			count(needs, c.file, other)
			count(neededBy, other, c.file)
		}
	}
	var all []Dependencies
	for i, f := range s.files {
		if n := int32(i); set[n] {
			all = append(all, Dependencies{
				File: f.Name, Captures: captures[n], Missing: missing[n],
				Needs: s.named(needs[n]), NeededBy: s.named(neededBy[n]),
			})
		}
	}
	return all, nil
}

func (s *Survey) named(counts map[int32]int) []Dependency {
	list := make([]Dependency, 0, len(counts))
	for i, n := range counts {
		list = append(list, Dependency{s.files[i].Name, n})
	}
	slices.SortFunc(list, func(a, b Dependency) int { return strings.Compare(a.File, b.File) })
	return list
}

// Loss is what could no longer be played of one host in one period.
type Loss struct {
	Host     string `json:"host"`
	Period   string `json:"period"`
	Captures int    `json:"captures"` // all that are lost, those below among them
	Revisits int    `json:"revisits"` // of them, revisits in other files whose original would be lost
	Saved    int    `json:"saved"`    // of all, those whose payload stands in a file that is left, under whatever URI
}

// Lost is one capture that could no longer be played.
type Lost struct {
	URI      string `json:"uri"`
	Date     string `json:"date"`
	File     string `json:"file"`
	Offset   int64  `json:"offset"`
	Original string `json:"original,omitempty"` // file of the original, of a revisit that is not lost itself
	Saved    bool   `json:"saved"`
}

// Impact tells which captures could no longer be played if the files were lost: those in them, and the revisits in other
// files whose originals are in them. The layout of time.Format makes the periods. Each is called with every such capture.
func (s *Survey) Impact(names []string, period string, each func(Lost) error) ([]Loss, error) {
	set, err := s.find(names)
	if err != nil {
		return nil, err
	}
	sums := map[[2]string]*Loss{}
	for i, c := range s.each() {
		o := s.original(i)
		if o < 0 || !set[c.file] && !set[s.capture(o).file] {
			continue // what cannot be played anyway is not lost by this
		}
		lost := Lost{URI: c.target, Date: c.time().Format(warcDate), File: s.files[c.file].Name, Offset: c.offset}
		lost.Saved = s.elsewhere(s.capture(o), set)
		if !set[c.file] {
			lost.Original = s.files[s.capture(o).file].Name
		}
		if err := each(lost); err != nil {
			return nil, err
		}
		at := [2]string{c.host(), c.time().Format(period)}
		if sums[at] == nil {
			sums[at] = &Loss{Host: at[0], Period: at[1]}
		}
		sums[at].Captures++
		if lost.Original != "" {
			sums[at].Revisits++
		}
		if lost.Saved {
			sums[at].Saved++
		}
	}
	list := make([]Loss, 0, len(sums))
	for _, l := range sums {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Loss) int { return strings.Compare(a.Host+"\x00"+a.Period, b.Host+"\x00"+b.Period) })
	return list, nil
}

// elsewhere tells whether a payload is also in a file that is not in the set.
func (s *Survey) elsewhere(c holding, set map[int32]bool) bool {
	if c.method == "" {
		return false
	}
	at, _ := slices.BinarySearchFunc(s.payloads, c.payload, s.comparePayload)
	for ; at < len(s.payloads) && s.comparePayload(s.payloads[at], c.payload) == 0; at++ {
		if !set[s.rows.at(s.payloads[at]).file] {
			return true
		}
	}
	return false
}
