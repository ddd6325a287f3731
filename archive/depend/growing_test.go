package depend_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestTheCapturesOfAGrowingFileAreThoseThatAReaderFinds collects captures while files are written, in memory and in
// unnamed files. The index is then the same, to the byte, as the one made by reading the files.
func TestTheCapturesOfAGrowingFileAreThoseThatAReaderFinds(t *testing.T) {
	t.Parallel()
	for name, spillAt := range map[string]int{"in memory": 1 << 20, "in files": 200} {
		t.Run(name, func(t *testing.T) {
			spills := t.TempDir()
			g := depend.NewGrowing(spills)
			g.SpillAt(spillAt)
			captures := map[string]int64{}
			lib := varied(t, 8, func(record, original digest.Origin) {
				g.Add(record, original)
				captures[record.File]++
			})
			index := filepath.Join(lib.Dir, depend.Folder)
			runs := func() (all string) {
				t.Helper()
				found, err := filepath.Glob(filepath.Join(index, "*.run"))
				if err != nil || len(found) != 1 {
					t.Fatalf("the index has the runs %v, %v; want one", found, err)
				}
				return archivetest.Read(t, found[0])
			}
			put(t, lib, namesOf(lib)...)
			want := runs()
			archivetest.Must(t, os.RemoveAll(index))

			batch := depend.NewBatch(lib.Dir)
			for _, name := range namesOf(lib) {
				file := warc.File{Path: filepath.Join(lib.Dir, name), Name: name}
				if _, ok := g.Take(file, captures[name]+1); ok {
					t.Errorf("%s: one capture is missing and nobody notices", name)
				}
				c, ok := g.Take(file, captures[name])
				if !ok {
					t.Fatalf("%s: its captures are not there", name)
				}
				if _, ok := g.Take(file, captures[name]); ok {
					t.Errorf("%s: its captures are still kept", name)
				}
				archivetest.Must(t, batch.Add(c))
			}
			archivetest.Must(t, batch.Flush())
			if got := runs(); got != want {
				t.Errorf("the index is\n%s\nwant\n%s", got, want)
			}
			if left, err := os.ReadDir(spills); err != nil || len(left) > 0 {
				t.Errorf("files are left: %v, %v", left, err)
			}
		})
	}
}
