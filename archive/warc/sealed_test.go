package warc

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

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
