package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something is lost, wrong or leads to nothing
	Warning Severity = "warning" // something departs from the specification, and nothing is lost by it
)

// Kind says what a finding is about, for machines.
type Kind string

// The kinds of findings. The first group is about whole files, the second about the container, the third about single
// records, the fourth about how records hang together.
const (
	Unreadable Kind = "unreadable" // a file or folder could not be opened or read
	Empty      Kind = "empty"      // a file of no bytes
	ARC        Kind = "arc"        // an ARC file: the format before WARC, which is not read
	NotWARC    Kind = "not-warc"   // something else
	StillOpen  Kind = "open"       // its name ends in .open: it is being written, or a crash left it
	NoInfo     Kind = "warcinfo"   // the first record is no warcinfo record
	Manifest   Kind = "manifest"   // a package is not what its manifest says
	BadIndex   Kind = "index"      // a line of an index cannot be read

	Truncated Kind = "truncated" // the file ends within a record
	Gzip      Kind = "gzip"      // a gzip member is damaged: its data or its CRC
	Members   Kind = "members"   // gzip members and records do not go together one by one

	BadVersion    Kind = "version"        // neither WARC/1.0 nor WARC/1.1
	BadHeader     Kind = "header"         // a header is missing, there twice, or cannot be read
	Length        Kind = "length"         // the block is shorter or longer than Content-Length says
	BlockDigest   Kind = "block-digest"   // the block has another digest
	PayloadDigest Kind = "payload-digest" // the payload has another digest
	Framing       Kind = "framing"        // the payload digest is of the chunked body as it was sent, not of the payload
	Algorithm     Kind = "algorithm"      // a digest that cannot be computed here

	DuplicateID   Kind = "duplicate-id"       // two records have one id
	Dangling      Kind = "dangling"           // Concurrent-To, Warcinfo-ID or Refers-To lead to no record
	NoOriginal    Kind = "revisit-unresolved" // a revisit whose original is not there
	OtherOriginal Kind = "revisit-differs"    // a revisit that does not fit its original
	Chain         Kind = "revisit-chain"      // a revisit of a revisit
)

// Finding is one thing that is wrong, and where. It is an error too.
type Finding struct {
	File     string   `json:"file"`
	Offset   int64    `json:"offset"` // of the record or gzip member; -1 when it is about the whole file
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	Text     string   `json:"text"`
	Record   string   `json:"record,omitempty"` // id
	URI      string   `json:"uri,omitempty"`
}

// Error is the finding as one line: file:offset: severity: text [kind] (uri).
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

// ErrDamaged is wrapped by errors that say that the archive is not what it should be.
var ErrDamaged = errors.New("the archive is damaged")

// ErrNotFound says that the archive has no such capture.
var ErrNotFound = errors.New("the archive has no such capture")

// asFinding gives the finding that err is.
func asFinding(err error) (*Finding, bool) {
	var f *Finding
	ok := errors.As(err, &f)
	return f, ok
}

// ReportFinding gives an error to see if it is a finding.
func ReportFinding(err error, see func(Finding) error) error {
	if f, ok := asFinding(err); ok {
		return see(*f)
	}
	return err
}

// Damaged makes of what reading a record gave an error that says so.
func Damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
