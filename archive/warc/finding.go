package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something is lost or wrong
	Warning Severity = "warning" // something deviates from the specification, but nothing is lost
)

// Kind is the kind of a finding, for programs.
type Kind string

// The kinds of findings. The first group is about whole files, the second about the container, the third about single
// records, the fourth about references between records.
const (
	Unreadable Kind = "unreadable" // a file or folder could not be opened or read
	Empty      Kind = "empty"      // an empty file, or a folder without files
	ARC        Kind = "arc"        // an ARC file; the older format is not read
	NotWARC    Kind = "not-warc"   // a file of another format
	StillOpen  Kind = "open"       // the name ends in .open: the file is being written, or a crash left it
	NoInfo     Kind = "warcinfo"   // the first record is not a warcinfo record
	Manifest   Kind = "manifest"   // a package differs from its manifest
	Fixity     Kind = "fixity"     // a file differs from what it was when it was sealed
	BadIndex   Kind = "index"      // a line of an index cannot be read

	Truncated Kind = "truncated" // the file ends within a record
	Gzip      Kind = "gzip"      // a gzip member is damaged: its data or its CRC
	Members   Kind = "members"   // a gzip member holds more than one record

	BadVersion    Kind = "version"        // neither WARC/1.0 nor WARC/1.1
	BadHeader     Kind = "header"         // a header is missing, occurs twice, or cannot be read
	Length        Kind = "length"         // the block is shorter or longer than Content-Length
	BlockDigest   Kind = "block-digest"   // the block has another digest
	PayloadDigest Kind = "payload-digest" // the payload has another digest
	Framing       Kind = "framing"        // the payload digest is of the chunked body, not of the payload
	Algorithm     Kind = "algorithm"      // a digest of an unknown algorithm or form
	SecondReader  Kind = "gowarc"         // the validation of another reader finds something
	HTTP          Kind = "http"           // the block is no HTTP message, or its head or body is cut

	OtherTarget   Kind = "request-differs"    // a request and its response have different URIs
	DuplicateID   Kind = "duplicate-id"       // two records have one id
	Dangling      Kind = "dangling"           // Concurrent-To, Warcinfo-ID or Refers-To names a missing record
	NoOriginal    Kind = "revisit-unresolved" // a revisit whose original is missing
	OtherOriginal Kind = "revisit-differs"    // a revisit that differs from its original
	Chain         Kind = "revisit-chain"      // a revisit of a revisit
	OtherFraming  Kind = "revisit-framing"    // a revisit whose head does not fit the body of its original
)

// Finding is one thing that is wrong with an archive, and its place. A *Finding is also an error.
type Finding struct {
	File     string   `json:"file"`
	Offset   int64    `json:"offset"` // of the record or gzip member; -1 if the finding is about the whole file
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	Text     string   `json:"text"`
	Record   string   `json:"record,omitempty"` // id
	URI      string   `json:"uri,omitempty"`
}

// FileFinding returns an error about a file as a whole.
func FileFinding(file string, k Kind, text string) *Finding {
	return &Finding{File: file, Offset: -1, Severity: Error, Kind: k, Text: text}
}

// LeftOut returns the warning that a file is left out because it is still open.
func LeftOut(file string) Finding {
	f := FileFinding(file, StillOpen, "this file is still open and is left out")
	f.Severity = Warning
	return *f
}

// Error returns the finding as one line: file:offset: severity: text [kind] (uri).
func (f *Finding) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Offset >= 0 {
		fmt.Fprintf(&b, ":%d", f.Offset)
	}
	fmt.Fprintf(&b, ": %s: %s [%s]", f.Severity, f.Text, f.Kind)
	if f.URI != "" {
		fmt.Fprintf(&b, " (%s)", f.URI)
	}
	return b.String()
}

// ErrDamaged is wrapped by errors about damage in an archive.
var ErrDamaged = errors.New("the archive is damaged")

// ErrWarnings is wrapped by errors about an archive that has warnings, where these were asked for, and no errors.
var ErrWarnings = errors.New("the archive is whole, but deviates from the specification")

// ErrNotFound is wrapped by errors about captures and files that an archive does not have.
var ErrNotFound = errors.New("the archive has no such capture")

// ReportFinding passes err to report if it is a finding. Otherwise it returns err.
func ReportFinding(err error, report func(Finding) error) error {
	if f, ok := errors.AsType[*Finding](err); ok {
		return report(*f)
	}
	return err
}

// ReportAll passes findings to report, and ends with its first error.
func ReportAll(found []*Finding, report func(Finding) error) error {
	for _, f := range found {
		if err := report(*f); err != nil {
			return err
		}
	}
	return nil
}

// CountErrors returns a function that counts errors in n and calls report.
func CountErrors(n *int, report func(Finding) error) func(Finding) error {
	return func(f Finding) error {
		if f.Severity == Error {
			*n++
		}
		return report(f)
	}
}

// Damaged wraps an error of reading a record in [ErrDamaged].
func Damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// MaxFindings is the maximum number of findings of one file that are listed. Further ones are only counted.
const MaxFindings = 10_000

// Findings collects the findings of one file.
type Findings struct {
	file string
	open bool // its name ends in .open
	list []Finding
	more int // findings that are not in list
}

// NewFindings returns the findings of a file before it is read: none, or a warning that the file is still open.
func NewFindings(file File) *Findings {
	n := &Findings{file: file.Path, open: strings.HasSuffix(file.Path, OpenSuffix)}
	if n.open {
		f := FileFinding(file.Path, StillOpen, "this file is still open: it is being written, or a crash left it open")
		f.Severity = Warning
		n.Add(*f)
	}
	return n
}

// Add adds a finding. In a file that is still open, an empty file and a cut record are only warnings.
func (n *Findings) Add(f Finding) {
	if n.open && (f.Kind == Truncated || f.Kind == Empty) {
		f.Severity = Warning
	}
	if len(n.list) < MaxFindings {
		n.list = append(n.list, f)
	} else {
		n.more++
	}
}

// All returns the findings, and a last one with the number of those that are not listed.
func (n *Findings) All() []Finding {
	if n.more == 0 {
		return n.list
	}
	return append(n.list, *FileFinding(n.file, n.list[0].Kind, fmt.Sprintf("%d further findings are not listed", n.more)))
}

// Report passes all findings to report, and ends with its first error.
func (n *Findings) Report(report func(Finding) error) error {
	for _, f := range n.All() {
		if err := report(f); err != nil {
			return err
		}
	}
	return nil
}

// EachRecord calls do with each record of a file and adds damage to found. do may read and close the record. It must
// close the record before it trusts what it has read, and return the error of Close. An error of do that is not a
// finding ends the reading.
func EachRecord(
	ctx context.Context, file File, progress *Progress, found *Findings, do func(rec *Record) error,
) error {
	defer progress.AddFile()
	r, err := file.OpenAt(0)
	if f, ok := errors.AsType[*Finding](err); ok {
		found.Add(*f)
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for before := int64(0); ctx.Err() == nil; {
		rec, err := r.Next()
		isRead := err == nil
		if isRead {
			err = do(rec)
		}
		f, isFinding := errors.AsType[*Finding](err)
		if isRead && err != nil && !isFinding {
			return err
		}
		progress.AddBytes(r.Offset() - before)
		before = r.Offset()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case isFinding:
			found.Add(*f)
		case err != nil:
			found.Add(Finding{File: file.Path, Offset: before, Severity: Error, Kind: Unreadable, Text: err.Error()})
			return nil
		}
	}
	return context.Cause(ctx)
}

// Progress counts how much of a set of files has been read. Its methods are safe for concurrent use. A nil *Progress
// counts nothing.
type Progress struct {
	done, total, files, all atomic.Int64
}

// Bytes returns the bytes read so far, and the size of all files.
func (p *Progress) Bytes() (done, total int64) { return p.done.Load(), p.total.Load() }

// Files returns the number of files that are finished, and of all files.
func (p *Progress) Files() (done, total int64) { return p.files.Load(), p.all.Load() }

// Expect adds files that are going to be read.
func (p *Progress) Expect(files []File) {
	if p == nil {
		return
	}
	p.all.Add(int64(len(files)))
	for _, f := range files {
		p.total.Add(f.Size)
	}
}

// AddBytes counts bytes that were read.
func (p *Progress) AddBytes(n int64) {
	if p != nil {
		p.done.Add(n)
	}
}

// AddFile counts a file that is finished.
func (p *Progress) AddFile() {
	if p != nil {
		p.files.Add(1)
	}
}
