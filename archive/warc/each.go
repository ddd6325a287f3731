package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
		n.Add(stillOpen(file.Path))
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
	return append(n.list, Finding{
		File: n.file, Offset: -1, Severity: Error, Kind: n.list[0].Kind,
		Text: fmt.Sprintf("%d further findings are not listed", n.more),
	})
}

// stillOpen returns the warning about a file that is still open.
func stillOpen(file string) Finding {
	return Finding{
		File: file, Offset: -1, Severity: Warning, Kind: StillOpen,
		Text: "this file is still open: it is being written, or a crash left it open",
	}
}

// EachRecord calls do with each record of a file and adds damage to found. do may read and close the record. It must
// close the record before it trusts what it has read, and return the error of Close. An error of do that is not a
// finding ends the reading.
func EachRecord(
	ctx context.Context, file File, progress *Progress, found *Findings, do func(rec *Record) error,
) error {
	defer progress.AddFile()
	r, err := file.OpenAt(0)
	if f, ok := asFinding(err); ok {
		found.Add(*f)
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for before := int64(0); ctx.Err() == nil; {
		rec, err := r.Next()
		if err == nil {
			if err = do(rec); !isFindingOrNil(err) {
				return err
			}
		}
		progress.AddBytes(r.Offset() - before)
		before = r.Offset()
		switch f, ok := asFinding(err); {
		case errors.Is(err, io.EOF):
			return nil
		case ok:
			found.Add(*f)
		case err != nil:
			found.Add(Finding{File: file.Path, Offset: before, Severity: Error, Kind: Unreadable, Text: err.Error()})
			return nil
		}
	}
	return context.Cause(ctx)
}

// isFindingOrNil reports whether reading continues after err.
func isFindingOrNil(err error) bool {
	_, ok := asFinding(err)
	return ok || err == nil
}
