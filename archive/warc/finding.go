package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"
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

// asFinding returns err as a finding, if it is one.
func asFinding(err error) (*Finding, bool) {
	var f *Finding
	ok := errors.As(err, &f)
	return f, ok
}

// ReportFinding passes err to report if it is a finding. Otherwise it returns err.
func ReportFinding(err error, report func(Finding) error) error {
	if f, ok := asFinding(err); ok {
		return report(*f)
	}
	return err
}

// Damaged wraps an error of reading a record in [ErrDamaged].
func Damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
