package verify

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/parallel"
	"github.com/arcrawl/arcrawl/archive/survey"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Options say what to verify against.
type Options struct {
	Known    []string       // files and folders whose records may be referred to; they are read and not verified
	Progress *warc.Progress // may be nil
}

// Summary sums up what was read.
type Summary struct {
	Files    int            `json:"files"`
	Records  map[string]int `json:"records"` // by type
	Bytes    int64          `json:"bytes"`   // of the files
	Blocks   int64          `json:"blocks"`  // bytes of all blocks
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
}

// Files reads all records of the files and folders, WACZ packages among them, and gives see each finding, those of a file in the
// order of the file, and last those about how records hang together. It needs some 400 bytes of memory for each record. An error is given
// only when ctx ends or see fails: what is wrong with the archive is a finding.
func Files(ctx context.Context, paths []string, o Options, see func(warc.Finding) error) (Summary, error) {
	v := verification{see: see, sum: Summary{Records: map[string]int{}}}
	files, faults := warc.FilesNamed(paths, isArchiveOrPackage)
	for _, f := range faults {
		if err := v.report(*f); err != nil {
			return v.sum, err
		}
	}
	files, err := unpack(files, v.report)
	if err != nil {
		return v.sum, err
	}
	verified := len(files)
	known, _ := warc.FilesNamed(o.Known, isArchiveOrPackage) // what is wrong there is not asked
	if known, err = unpack(known, func(warc.Finding) error { return nil }); err != nil {
		return v.sum, err
	}
	for _, k := range known {
		if !contains(files[:verified], k) {
			files = append(files, k)
		}
	}
	o.Progress.Expect(files)
	results := make([]*scan, len(files))
	work := func(ctx context.Context, i int) error {
		results[i] = &scan{file: files[i], index: int32(i), known: i >= verified, records: map[string]int{}}
		return results[i].run(ctx, o.Progress)
	}
	finish := func(i int) error {
		defer func() { results[i] = nil }()
		return v.add(results[i])
	}
	if err := parallel.Each(ctx, len(files), work, finish); err != nil {
		return v.sum, err
	}
	return v.sum, v.resolve(files)
}

func contains(files []warc.File, f warc.File) bool {
	for _, g := range files {
		if g.Path == f.Path {
			return true
		}
	}
	return false
}

// verification collects what the scans of files found.
type verification struct {
	see   func(warc.Finding) error
	sum   Summary
	facts []survey.Record
	refs  []reference
}

func (v *verification) report(f warc.Finding) error {
	if f.Severity == warc.Error {
		v.sum.Errors++
	} else {
		v.sum.Warnings++
	}
	return v.see(f)
}

func (v *verification) add(s *scan) error {
	v.facts = append(v.facts, s.facts...)
	if s.known {
		return nil
	}
	v.refs = append(v.refs, s.refs...)
	v.sum.Files++
	v.sum.Bytes += s.file.Size
	v.sum.Blocks += s.blocks
	for kind, n := range s.records {
		v.sum.Records[kind] += n
	}
	for _, f := range s.found {
		if err := v.report(f); err != nil {
			return err
		}
	}
	return nil
}

// scan is the reading of one file.
type scan struct {
	file  warc.File
	index int32
	known bool // only its records count, not what is wrong with them

	found   []warc.Finding
	records map[string]int
	blocks  int64
	facts   []survey.Record
	refs    []reference
}

func (s *scan) run(ctx context.Context, watch *warc.Progress) error {
	notes := warc.NewFindings(s.file)
	checker := warc.NewChecker(notes.Add)
	first := true
	err := warc.EachRecord(ctx, s.file, watch, notes, func(rec *warc.Record) error {
		if first && rec.Header.Type() != "warcinfo" {
			f := rec.Finding(warc.NoInfo, "the first record of the file is no warcinfo record, so nothing says who made it and how")
			f.Severity = warc.Warning
			notes.Add(f)
		}
		first = false
		if s.known {
			if err := rec.Close(); err != nil {
				return nil // what is wrong there is not asked
			}
		} else if !checker.Check(rec) {
			return nil
		}
		s.record(rec)
		return nil
	})
	s.found = notes.All()
	s.settle()
	return err
}

// record counts and remembers a record that was proved whole.
func (s *scan) record(rec *warc.Record) {
	s.remember(rec)
	s.blocks += rec.Size
	kind := rec.Header.Type()
	if _, seen := s.records[kind]; !seen && len(s.records) >= 32 {
		kind = "other" // types are the file's own words: there may be many
	}
	s.records[kind]++
}

// Kinds lists the record types that were read, in alphabetical order.
func (v Summary) Kinds() []string {
	return slices.Sorted(maps.Keys(v.Records))
}

// isPackage tells by its name whether a file is a WACZ package.
func isPackage(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".wacz") }

func isArchiveOrPackage(file string) bool { return warc.IsArchive(file) || isPackage(file) }

// unpack replaces each package among the files by the WARC files in it, and says what is wrong with the package itself.
func unpack(files []warc.File, report func(warc.Finding) error) ([]warc.File, error) {
	var all []warc.File
	for _, f := range files {
		if !isPackage(f.Path) {
			all = append(all, f)
			continue
		}
		members, found := wacz.Check(f.Path)
		all = append(all, members...)
		for _, finding := range found {
			finding.File, finding.Offset = f.Path, -1
			if err := report(finding); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
