package warc

import (
	"io"
	"path/filepath"
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
