package warc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestReaderFindsTheSameRecordsAsWarcio compares our reader with npm's warcio, record by record.
func TestReaderFindsTheSameRecordsAsWarcio(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	ours := archivetest.Small(t)
	files := ours.Files()
	if theirs, _ := archivetest.Wget(t); t.Failed() {
		return
	} else if more, err := filepath.Glob(filepath.Join(theirs, "*.warc.gz")); err == nil {
		files = append(files, more...)
	}
	for _, file := range files {
		strange := foreign.Records(t, file)
		r, err := OpenFile(file)
		archivetest.Must(t, err)
		for _, want := range strange {
			rec, err := r.Next()
			archivetest.Must(t, err)
			block, err := io.ReadAll(rec)
			archivetest.Must(t, err)
			archivetest.Must(t, rec.Close())
			if rec.Offset != want.Offset || rec.Length != want.Length || "<"+rec.ID()+">" != want.ID ||
				rec.Header.Target() != TrimID(want.Target) || string(block) != string(want.Block) {
				t.Errorf("%s at %d: %s of %d bytes, warcio reads %s at %d of %d bytes", file, rec.Offset, rec.ID(), rec.Length, want.ID, want.Offset, want.Length)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: after %d records the reader returns %v, want io.EOF", file, len(strange), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A head as long as the largest fetch.max_head is read, and a longer one is refused.
func TestTheLongestHeadsAreRead(t *testing.T) {
	t.Parallel()
	const line = "X-Long: " + "abcdefghijklmnopqrstuvwxyz\r\n"
	for _, c := range []struct {
		size int
		ok   bool
	}{{600 << 10, true}, {maxHead - len(line), true}, {maxHead + 2*len(line), false}} {
		head := "HTTP/1.1 200 OK\r\n" + strings.Repeat(line, c.size/len(line)-1) + "\r\n"
		r := NewHeadReader()
		r.Reset(bytes.NewReader([]byte(head + "body")))
		h, err := ReadHead(r)
		if (err == nil) != c.ok || c.ok && (h.Status != 200 || len(h.Raw) != len(head)) {
			t.Errorf("a head of %d bytes: status %d, %d bytes, %v", len(head), h.Status, len(h.Raw), err)
		}
	}
}

// A crawler next to the reader seals a file between the listing and the reading: it loses the end ".open" of its name.
func TestAFileThatWasSealedSinceItWasListedIsRead(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	l.Seal()
	sealed := l.Files()[0]
	archivetest.Must(t, os.Rename(sealed, sealed+OpenSuffix))
	files, faults := Files([]string{l.Dir})
	if len(files) != 1 || len(faults) > 0 || !strings.HasSuffix(files[0].Path, OpenSuffix) {
		t.Fatalf("listed %v, %v", files, faults)
	}
	archivetest.Must(t, os.Rename(sealed+OpenSuffix, sealed))
	notes, records := NewFindings(files[0]), 0
	err := EachRecord(t.Context(), files[0], nil, notes, func(*Record) error { records++; return nil })
	for _, f := range notes.All() {
		if f.Severity == Error {
			t.Error(f) // the warning that it was open when it was listed is true
		}
	}
	if err != nil || records < 10 {
		t.Errorf("%d records, %v; want all", records, err)
	}
	archivetest.Must(t, os.Remove(sealed))
	var f *Finding
	if _, err := files[0].OpenAt(0); !errors.As(err, &f) || f.Kind != Unreadable || errors.Is(err, io.EOF) {
		t.Errorf("a file that is gone: %v, want that it is unreadable", err)
	}
}
