package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
)

// VerifyOptions say what to verify against.
type VerifyOptions struct {
	Known    []string  // files and folders whose records may be referred to; they are read and not verified
	Progress *Progress // may be nil
}

// Verified sums up what was read.
type Verified struct {
	Files    int            `json:"files"`
	Records  map[string]int `json:"records"` // by type
	Bytes    int64          `json:"bytes"`   // of the files
	Blocks   int64          `json:"blocks"`  // bytes of all blocks
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
}

// Verify reads all records of the files and folders, WACZ packages among them, and gives see each finding, those of a file in the
// order of the file, and last those about how records hang together. It needs some 400 bytes of memory for each record. An error is given
// only when ctx ends or see fails: what is wrong with the archive is a finding.
func Verify(ctx context.Context, paths []string, o VerifyOptions, see func(Finding) error) (Verified, error) {
	v := verification{see: see, sum: Verified{Records: map[string]int{}}, bufs: new(buffers)}
	files, faults := listed(paths, isArchiveOrPackage)
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
	known, _ := listed(o.Known, isArchiveOrPackage) // what is wrong there is not asked
	if known, err = unpack(known, func(Finding) error { return nil }); err != nil {
		return v.sum, err
	}
	for _, k := range known {
		if !contains(files[:verified], k) {
			files = append(files, k)
		}
	}
	if o.Progress != nil {
		o.Progress.expect(files)
	}
	results := make([]*scan, len(files))
	work := func(ctx context.Context, i int) error {
		results[i] = newScan(files[i], int32(i), i >= verified, v.bufs, o.Progress)
		return results[i].run(ctx)
	}
	finish := func(i int) error {
		defer func() { results[i] = nil }()
		return v.add(results[i])
	}
	if err := inParallel(ctx, len(files), work, finish); err != nil {
		return v.sum, err
	}
	return v.sum, v.resolve(files)
}

func contains(files []File, f File) bool {
	for _, g := range files {
		if g.Path == f.Path {
			return true
		}
	}
	return false
}

// verification collects what the scans of files found.
type verification struct {
	see   func(Finding) error
	sum   Verified
	bufs  *buffers
	facts []fact
	refs  []reference
}

func (v *verification) report(f Finding) error {
	if f.Severity == Error {
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
	for _, f := range s.notes.all(s.file.Path) {
		if err := v.report(f); err != nil {
			return err
		}
	}
	return nil
}

// scan is the reading of one file.
type scan struct {
	file   File
	index  int32
	known  bool // only its records count, not what is wrong with them
	bufs   *buffers
	hashes hashes
	watch  *Progress

	notes   notes
	records map[string]int
	blocks  int64
	facts   []fact
	refs    []reference
}

func newScan(f File, index int32, known bool, bufs *buffers, watch *Progress) *scan {
	if watch == nil {
		watch = new(Progress)
	}
	return &scan{
		file: f, index: index, known: known, notes: notes{open: strings.HasSuffix(f.Path, openSuffix)}, bufs: bufs, watch: watch,
		hashes: hashes{}, records: map[string]int{},
	}
}

func (s *scan) run(ctx context.Context) error {
	defer s.watch.files.Add(1)
	if s.notes.open {
		s.notes.add(stillOpen(s.file.Path))
	}
	r, err := s.file.reader()
	if f, ok := asFinding(err); ok {
		s.notes.add(*f)
		return nil
	}
	if err != nil {
		return err
	}
	err = s.all(ctx, r)
	s.settle()
	return errors.Join(err, r.Close())
}

func (s *scan) all(ctx context.Context, r *Reader) error {
	for n, before := 0, int64(0); ; n++ {
		rec, err := r.Next()
		s.watch.done.Add(r.Offset() - before)
		before = r.Offset()
		switch f, ok := asFinding(err); {
		case errors.Is(err, io.EOF):
			return nil
		case ok:
			s.notes.add(*f)
		case err != nil:
			s.notes.add(Finding{File: s.file.Path, Offset: r.Offset(), Severity: Error, Kind: Unreadable, Text: err.Error()})
			return nil
		default:
			if n == 0 && rec.Header.Type() != "warcinfo" {
				s.warn(rec, NoInfo, "the first record of the file is no warcinfo record, so nothing says who made it and how")
			}
			s.record(rec)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (s *scan) fail(rec *Record, k Kind, format string, args ...any) {
	f := rec.finding(k, fmt.Sprintf(format, args...))
	s.notes.add(f)
}

func (s *scan) warn(rec *Record, k Kind, format string, args ...any) {
	f := rec.finding(k, fmt.Sprintf(format, args...))
	f.Severity = Warning
	s.notes.add(f)
}

func (rec *Record) finding(k Kind, text string) Finding {
	return Finding{File: rec.File, Offset: rec.Offset, Severity: Error, Kind: k, Text: text, Record: rec.ID(), URI: rec.Header.Target()}
}

// record verifies one record. What its bytes say counts only when the record is proved whole.
func (s *scan) record(rec *Record) {
	var digests func()
	if !s.known {
		digests = s.block(rec)
	}
	if err := rec.Close(); err != nil {
		if f, ok := asFinding(err); ok {
			s.notes.add(*f)
		} else {
			s.fail(rec, Unreadable, "%v", err)
		}
		return
	}
	if rec.SharesMember() {
		s.fail(rec, Members, "another record follows in the same gzip member, where no index can point at it")
	}
	if digests != nil {
		digests()
	}
	s.headers(rec)
	s.remember(rec)
	s.blocks += rec.Size
	kind := rec.Header.Type()
	if _, seen := s.records[kind]; !seen && len(s.records) >= 32 {
		kind = "other" // types are the file's own words: there may be many
	}
	s.records[kind]++
}

// required are the headers that each record has, and those that records of some types have besides.
var (
	required       = []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}
	withTarget     = map[string]bool{"response": true, "resource": true, "request": true, "revisit": true, "conversion": true, "continuation": true}
	revisitProfile = map[string]bool{
		"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.1/revisit/server-not-modified":      true,
		"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.0/revisit/server-not-modified":      true,
	}
)

// hasWARCName tells whether the specification speaks of a header, so that it may stand there only once.
func hasWARCName(f Field) bool {
	const prefix = "WARC-"
	return len(f.Name) > len(prefix) && strings.EqualFold(f.Name[:len(prefix)], prefix) || strings.EqualFold(f.Name, "Content-Length")
}

// headers looks at the header of a record by itself.
func (s *scan) headers(rec *Record) {
	h := rec.Header
	for _, text := range rec.faults {
		s.fail(rec, BadHeader, "%s", text)
	}
	if rec.Version != "1.0" && rec.Version != "1.1" {
		s.fail(rec, BadVersion, "the record is of version %.20q, neither 1.0 nor 1.1", rec.Version)
	}
	for _, name := range required {
		if h.Get(name) == "" {
			s.fail(rec, BadHeader, "there is no %s", name)
		}
	}
	if withTarget[h.Type()] && h.Target() == "" {
		s.fail(rec, BadHeader, "a %s without WARC-Target-URI", h.Type())
	}
	for i, f := range h {
		if hasWARCName(f) && !strings.EqualFold(f.Name, "WARC-Concurrent-To") && h[:i].Get(f.Name) != "" {
			s.fail(rec, BadHeader, "%s stands there twice", f.Name)
		}
	}
	if date := h.Get("WARC-Date"); date != "" {
		if _, err := parseDate(date); err != nil {
			s.fail(rec, BadHeader, "WARC-Date: %v", err)
		}
	}
	if id := h.Get("WARC-Record-ID"); id != "" && (!strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">")) {
		s.warn(rec, BadHeader, "WARC-Record-ID is not in angle brackets")
	}
	if strings.HasPrefix(h.Get("WARC-Target-URI"), "<") && rec.Version != "1.0" { // the grammar of WARC/1.0 has them
		s.warn(rec, BadHeader, "WARC-Target-URI is in angle brackets, which WARC/1.1 does not have")
	}
	if h.Type() == "revisit" {
		s.revisitHeaders(rec)
	}
}

func (s *scan) revisitHeaders(rec *Record) {
	h := rec.Header
	profile := h.Get("WARC-Profile")
	switch {
	case profile == "":
		s.fail(rec, BadHeader, "a revisit without WARC-Profile")
	case !revisitProfile[profile]:
		s.warn(rec, BadHeader, "WARC-Profile is %.80q, which WARC/1.1 does not name", profile)
	}
	if strings.HasSuffix(profile, "identical-payload-digest") && h.Get("WARC-Payload-Digest") == "" {
		s.fail(rec, BadHeader, "a revisit by payload without WARC-Payload-Digest")
	}
	for _, name := range []string{"WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"} {
		if h.Get(name) == "" {
			s.warn(rec, BadHeader, "a revisit without %s, which replay tools need", name)
		}
	}
}

// Kinds lists the record types that were read, in alphabetical order.
func (v Verified) Kinds() []string {
	var list []string
	for kind := range maps.Keys(v.Records) {
		list = append(list, kind)
	}
	return sorted(list)
}
