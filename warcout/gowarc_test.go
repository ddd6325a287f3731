package warcout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nlnwa/gowarc"
)

// gowarc renames a file that it has finished with a function of another module, which our go.mod replaces.
func TestGowarcRenamesAFinishedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := gowarc.NewWarcFileWriter(gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir}))
	record := gowarc.NewRecordBuilder(gowarc.Metadata, gowarc.WithBufferTmpDir(dir))
	record.AddWarcHeader(gowarc.ContentType, "text/plain")
	if _, err := record.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	built, _, err := record.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrote := range w.Write(built) {
		if wrote.Err != nil {
			t.Fatal(wrote.Err)
		}
	}
	names := func(pattern string) []string {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if open := names("*.open"); len(open) != 1 {
		t.Fatalf("open files: %q, want one", open)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	open, done := names("*.open"), names("*.warc*")
	if len(open) != 0 || len(done) != 1 {
		t.Fatalf("open files %q, finished files %q, want one that is finished", open, done)
	}
	if at, err := os.Stat(done[0]); err != nil || at.Size() == 0 {
		t.Errorf("the finished file: %v, %v", at, err)
	}
}
