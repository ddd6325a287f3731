package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// VerifyOptions say what belongs to an archive in addition to the files that are verified.
type VerifyOptions struct {
	Known    []string       // files and folders to which references may lead; what is wrong in them is not reported
	Progress *warc.Progress // may be nil
	Strict   bool           // report also what the validation of another reader finds
	Now      time.Time      // dates that are later are reported; zero = none are
}

// Verified counts what was read and found.
type Verified struct {
	Files    int            `json:"files"`
	Records  map[string]int `json:"records"` // by type
	Bytes    int64          `json:"bytes"`   // of the files
	Blocks   int64          `json:"blocks"`  // bytes of all blocks
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`

	Manifests []fixity.Checked `json:"manifests,omitempty"`
}

// count counts a finding.
func (v *Verified) count(f warc.Finding) {
	if f.Severity == warc.Error {
		v.Errors++
	} else {
		v.Warnings++
	}
}

// Verify reads all records of files and folders, including WACZ packages, and reports what is wrong: first file by
// file, in the order of each file, and last what is wrong with references between records. It needs about 400 bytes of
// memory for each record. It returns an error only if ctx ends or report fails.
func Verify(ctx context.Context, paths []string, o VerifyOptions, report func(warc.Finding) error) (Verified, error) {
	v := verification{pass: report, sum: Verified{Records: map[string]int{}}}
	files, faults := warc.FilesNamed(paths, isArchiveOrPackage)
	if err := warc.ReportAll(faults, v.report); err != nil {
		return v.sum, err
	}
	files, err := unpack(files, v.report)
	if err != nil {
		return v.sum, err
	}
	verified := len(files)
	known, _ := warc.FilesNamed(o.Known, isArchiveOrPackage) // faults of known files are not reported
	if known, err = unpack(known, func(warc.Finding) error { return nil }); err != nil {
		return v.sum, err
	}
	for _, k := range known {
		if !slices.ContainsFunc(files[:verified], func(f warc.File) bool { return f.Path == k.Path }) {
			files = append(files, k)
		}
	}
	o.Progress.Expect(files)
	results := make([]*fileScan, len(files))
	work := func(ctx context.Context, i int) error {
		results[i] = &fileScan{file: files[i], index: int32(i), known: i >= verified, records: map[string]int{}, now: o.Now}
		results[i].strict = o.Strict && !results[i].known
		return results[i].run(ctx, o.Progress)
	}
	finish := func(i int) error {
		defer func() { results[i] = nil }()
		return v.add(results[i])
	}
	if err := warc.ForEach(ctx, len(files), work, finish); err != nil {
		return v.sum, err
	}
	return v.sum, v.resolve(ctx, slices.Concat(paths, o.Known), files)
}

// verification collects the results of all scans.
type verification struct {
	pass  func(warc.Finding) error
	sum   Verified
	facts []depend.Record
	refs  []reference
}

func (v *verification) report(f warc.Finding) error {
	v.sum.count(f)
	return v.pass(f)
}

func (v *verification) add(s *fileScan) error {
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

// fileScan reads one file.
type fileScan struct {
	file  warc.File
	index int32
	known bool // its records are only targets of references

	strict bool // another reader validates it too
	now    time.Time

	found   []warc.Finding
	records map[string]int
	blocks  int64
	facts   []depend.Record
	refs    []reference
}

func (s *fileScan) run(ctx context.Context, watch *warc.Progress) error {
	notes := warc.NewFindings(s.file)
	checker, in := warc.NewChecker(notes.Add), warc.NewHeadReader()
	checker.Now = s.now
	first := true
	err := warc.EachRecord(ctx, s.file, watch, notes, func(rec *warc.Record) error {
		if first && rec.Header.Type() != "warcinfo" {
			f := rec.Finding(warc.NoInfo,
				"the first record of the file is not a warcinfo record, so the file does not say who made it and how")
			f.Severity = warc.Warning
			notes.Add(f)
		}
		first = false
		if s.known {
			rec.ReadFraming(in)
			if err := rec.Close(); err != nil {
				return nil // faults of known files are not reported
			}
		} else if !checker.Check(rec) {
			return nil
		}
		s.record(rec, checker.Status())
		return nil
	})
	checker.End()
	isError := func(f warc.Finding) bool { return f.Severity == warc.Error || f.Kind == warc.StillOpen }
	if err == nil && s.strict && s.file.Package() == "" && !slices.ContainsFunc(notes.All(), isError) {
		err = secondOpinion(ctx, s.file, len(s.facts), notes.Add)
	}
	s.found = notes.All()
	s.dropResolved()
	return err
}

// record counts a record that is whole, and keeps what references need.
func (s *fileScan) record(rec *warc.Record, status int) {
	s.remember(rec, status)
	s.blocks += rec.Size
	kind := rec.Header.Type()
	if _, seen := s.records[kind]; !seen && len(s.records) >= 32 {
		kind = "other" // the file chooses the names of types: there may be many
	}
	s.records[kind]++
}

// Kinds returns the record types that were read, in alphabetical order.
func (v Verified) Kinds() []string {
	return slices.Sorted(maps.Keys(v.Records))
}

// isArchiveOrPackage reports whether a file name is one of a WARC file or a WACZ package.
func isArchiveOrPackage(file string) bool { return warc.IsArchive(file) || warc.IsPackage(file) }

// unpack replaces each package in a list by the WARC files in it, and reports what is wrong with the package itself.
func unpack(files []warc.File, report func(warc.Finding) error) ([]warc.File, error) {
	var all []warc.File
	for _, f := range files {
		if !warc.IsPackage(f.Path) {
			all = append(all, f)
			continue
		}
		members, found := wacz.Check(f.Path, readStamp)
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

// secondOpinion reads a file without errors with gowarc, another reader of WARC files, and reports what its validation
// finds, as warnings. Some damaged files keep gowarc busy without end, so a file with an error is not given to it.
//
// What gowarc says about payload digests of responses does not count: it digests the chunks too, against WARC/1.1,
// section 6.3.2, and those digests were checked before.
func secondOpinion(ctx context.Context, file warc.File, records int, report func(warc.Finding)) (err error) {
	offset := int64(-1)
	finding := func(text string) {
		report(warc.Finding{
			File: file.Path, Offset: offset, Severity: warc.Warning, Kind: warc.SecondReader,
			Text: "gowarc: " + strings.TrimPrefix(text, "gowarc: "),
		})
	}
	defer func() {
		if p := recover(); p != nil {
			finding(fmt.Sprintf("stopped reading: %v", p))
		}
	}()
	r, err := gowarc.NewWarcFileReader(file.Path, 0, gowarc.WithStrictValidation(),
		gowarc.WithSyntaxErrorPolicy(gowarc.ErrFail), gowarc.WithSpecViolationPolicy(gowarc.ErrWarn),
		gowarc.WithUnknownRecordTypePolicy(gowarc.ErrWarn), gowarc.WithBlockErrorPolicy(gowarc.ErrWarn))
	if err != nil {
		finding(err.Error())
		return nil
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for range records + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := r.Next()
		offset = record.Offset
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			finding(err.Error())
			return nil
		}
		notes, err := record.WarcRecord.ValidateDigest()
		if err != nil {
			finding(err.Error())
		}
		said := map[string]bool{} // the digest of a block may be in both lists
		for _, note := range append(record.Validation, notes...) {
			if text := note.Error(); !said[text] && !isFraming(record.WarcRecord, text) {
				said[text] = true
				finding(text)
			}
		}
		if err := record.Close(); err != nil {
			finding(err.Error())
			return nil
		}
	}
	finding(fmt.Sprintf("finds more than the %d records of the file", records))
	return nil
}

// isFraming reports whether a text is about the payload digest of a response.
func isFraming(record gowarc.WarcRecord, text string) bool {
	return record.Type() == gowarc.Response && strings.Contains(text, "payload") && strings.Contains(text, "digest")
}
