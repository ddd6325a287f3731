package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxFindings is how many findings of one file are listed; the rest is counted.
const MaxFindings = 10_000

// Findings collects the findings of one file.
type Findings struct {
	file string
	open bool // its name ends in .open
	list []Finding
	more int // beyond maxFindings
}

// NewFindings returns an empty list for a file. A file that is still open gets a warning that says so.
func NewFindings(file File) *Findings {
	n := &Findings{file: file.Path, open: strings.HasSuffix(file.Path, OpenSuffix)}
	if n.open {
		n.Add(stillOpen(file.Path))
	}
	return n
}

// Add keeps a finding. That a file which is being written is empty, or that its last record is not whole, is in the nature of things.
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

// All gives what was found, and how much was not kept.
func (n *Findings) All() []Finding {
	if n.more == 0 {
		return n.list
	}
	return append(n.list, Finding{
		File: n.file, Offset: -1, Severity: Error, Kind: n.list[0].Kind, Text: fmt.Sprintf("%d further findings are not listed", n.more),
	})
}

func stillOpen(file string) Finding {
	return Finding{
		File: file, Offset: -1, Severity: Warning, Kind: StillOpen,
		Text: "this file is still open: it is being written, or a crash left it so",
	}
}

// EachRecord gives each record of a file to see, which may read and close it. Damage is collected, and what see made of a
// record that then turns out to be damaged has to be dropped by see itself, by closing the record before it believes it.
func EachRecord(ctx context.Context, file File, watch *Progress, notes *Findings, see func(rec *Record) error) error {
	defer watch.AddFile()
	r, err := file.OpenAt(0)
	if f, ok := asFinding(err); ok {
		notes.Add(*f)
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for before := int64(0); ctx.Err() == nil; {
		rec, err := r.Next()
		if err == nil {
			if err = see(rec); !isFindingOrNil(err) {
				return err
			}
		}
		watch.AddBytes(r.Offset() - before)
		before = r.Offset()
		switch f, ok := asFinding(err); {
		case errors.Is(err, io.EOF):
			return nil
		case ok:
			notes.Add(*f)
		case err != nil:
			notes.Add(Finding{File: file.Path, Offset: before, Severity: Error, Kind: Unreadable, Text: err.Error()})
			return nil
		}
	}
	return context.Cause(ctx)
}

func isFindingOrNil(err error) bool {
	_, ok := asFinding(err)
	return ok || err == nil
}
