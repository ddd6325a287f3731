package depend_test

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// varied returns an archive of n files with pages, revisits of their own and of others' versions, and equal payloads
// under several URIs. It calls see with each capture and, for a revisit, its original.
func varied(t *testing.T, n int, see func(record, original digest.Origin)) *archivetest.Archive {
	t.Helper()
	lib := archivetest.New(t)
	random := rand.New(rand.NewSource(1))
	var origins []digest.Origin
	for range n {
		for range 6 {
			u := fmt.Sprintf("http://%c.example/%d", 'a'+rune(random.Intn(3)), random.Intn(4))
			switch {
			case len(origins) > 0 && random.Intn(2) == 0:
				o := origins[random.Intn(len(origins))]
				see(lib.Revisit(u, archivetest.HTMLHead, o), o)
			case len(origins) > 0 && random.Intn(4) == 0:
				o := origins[random.Intn(len(origins))]
				see(lib.NotModified(u, o), o)
			default:
				o := lib.Page(u, archivetest.HTMLHead, fmt.Sprint("body ", random.Intn(5)))
				see(o, digest.Origin{})
				origins = append(origins, o)
			}
			lib.Now = lib.Now.Add(time.Duration(random.Intn(2000))*time.Millisecond - time.Hour) // often within one second
		}
		lib.Seal()
	}
	return lib
}

// unseen is for tests that need no list of the captures.
func unseen(_, _ digest.Origin) {}

// put adds the file with an index in the list of files to the index.
func put(t *testing.T, lib *archivetest.Archive, names ...string) {
	t.Helper()
	batch := depend.NewBatch(lib.Dir)
	for _, name := range names {
		c := depend.NewCollector(warc.File{Path: filepath.Join(lib.Dir, name), Name: name})
		if _, err := fixity.Measure(t.Context(), filepath.Join(lib.Dir, name), c.Record); err != nil {
			t.Fatal(err)
		}
		archivetest.Must(t, batch.Add(c))
	}
	archivetest.Must(t, batch.Flush())
}

func namesOf(lib *archivetest.Archive) (names []string) {
	for _, f := range lib.Files() {
		names = append(names, filepath.Base(f))
	}
	return names
}

func opened(t *testing.T, dir string) *depend.Index {
	t.Helper()
	x, err := depend.Open(t.Context(), dir, depend.Options{}, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, x.Close()) })
	return x
}

// answers holds the results of deps and impact.
type answers struct {
	Deps   []depend.Dependencies
	Losses []depend.Loss
	Lost   []depend.Lost
}

type source interface {
	Dependencies(names []string) ([]depend.Dependencies, error)
	Impact(names []string, period string, each func(depend.Lost) error) ([]depend.Loss, error)
}

func ask(t *testing.T, s source, names []string) (a answers) {
	t.Helper()
	var err error
	a.Deps, err = s.Dependencies(names)
	archivetest.Must(t, err)
	a.Losses, err = s.Impact(names, "2006-01", func(l depend.Lost) error { a.Lost = append(a.Lost, l); return nil })
	archivetest.Must(t, err)
	slices.SortFunc(a.Lost, func(x, y depend.Lost) int {
		return strings.Compare(fmt.Sprint(x.File, x.Offset), fmt.Sprint(y.File, y.Offset))
	})
	return a
}

// TestTheIndexAnswersAsTheFilesDo compares it with a survey that reads all files, while the index covers none, some and
// all of them, in one run and in many.
func TestTheIndexAnswersAsTheFilesDo(t *testing.T) {
	t.Parallel()
	lib := varied(t, 30, unseen)
	names := namesOf(lib)
	all, err := depend.New(t.Context(), []string{lib.Dir}, nil, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	sets := [][]string{names[:1], names[3:4], names[29:], {names[2], names[7], names[20]}, names}
	check := func(step string, read int) {
		t.Helper()
		x := opened(t, lib.Dir)
		if x.Read() != read {
			t.Errorf("%s: %d files were read, want %d", step, x.Read(), read)
		}
		for _, set := range sets {
			if d := cmp.Diff(ask(t, all, set), ask(t, x, set)); d != "" {
				t.Fatalf("%s, %d files: -survey +index\n%s", step, len(set), d)
			}
		}
	}
	check("no index", 30)
	put(t, lib, names[:10]...)
	check("ten files in one run", 20)
	for _, name := range names[5:28] {
		put(t, lib, name) // some of them again
	}
	check("after merging", 2)
	put(t, lib, names...)
	check("all files", 0)
	runs, err := filepath.Glob(filepath.Join(lib.Dir, depend.Folder, "*.run"))
	if err != nil || len(runs) >= 8 {
		t.Errorf("%d runs are left, want fewer than 8: %v", len(runs), err)
	}
}

func TestTheIndexKnowsWhatALostFileHeld(t *testing.T) {
	t.Parallel()
	lib := varied(t, 6, unseen)
	names := namesOf(lib)
	put(t, lib, names...)
	whole, err := depend.New(t.Context(), []string{lib.Dir}, nil, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	want := ask(t, whole, names[:1])
	archivetest.Must(t, os.Remove(lib.Files()[0]))
	x := opened(t, lib.Dir)
	got := ask(t, x, names[:1])
	if d := cmp.Diff(want.Lost, got.Lost); d != "" || len(got.Lost) == 0 {
		t.Errorf("-before the loss +after it\n%s", d)
	}
	deps, err := x.Dependencies(names[1:])
	archivetest.Must(t, err)
	gone := 0
	for _, d := range deps {
		for _, n := range d.Needs {
			if n.Gone != (n.File == names[0]) {
				t.Errorf("%s needs %+v", d.File, n)
			}
			gone += n.Revisits * map[bool]int{true: 1}[n.Gone]
		}
	}
	if gone == 0 {
		t.Errorf("no file needs the lost one: %+v", deps)
	}
}

// A file that changed after it was indexed is read again; what a crash leaves behind does no harm.
func TestAnOldIndexGivesNoWrongAnswer(t *testing.T) {
	t.Parallel()
	lib := varied(t, 4, unseen)
	names := namesOf(lib)
	put(t, lib, names...)
	folder := filepath.Join(lib.Dir, depend.Folder)
	later := time.Now().Add(time.Hour)
	archivetest.Must(t, os.Chtimes(lib.Files()[1], later, later))
	// A run without its list, a list without its run, and half a name.
	archivetest.Must(t, os.WriteFile(filepath.Join(folder, "00000007.run"), []byte("fgarbage\n"), 0o600))
	archivetest.Must(t, os.WriteFile(filepath.Join(folder, "00000008.run.files"), []byte("0 1 1\n"), 0o600))
	text := archivetest.Read(t, filepath.Join(folder, "names"))
	archivetest.Must(t, os.WriteFile(filepath.Join(folder, "names"), []byte(text+"half-a-na"), 0o600))
	all, err := depend.New(t.Context(), []string{lib.Dir}, nil, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	for _, read := range []int{1, 0} {
		x := opened(t, lib.Dir)
		if d := cmp.Diff(ask(t, all, names), ask(t, x, names)); d != "" || x.Read() != read {
			t.Errorf("%d files were read, want %d: %s", x.Read(), read, d)
		}
		lib.Page("http://a.example/new", archivetest.HTMLHead, "new")
		lib.Seal()
		put(t, lib, append([]string{names[1]}, namesOf(lib)[len(names):]...)...)
		names = namesOf(lib)
		all, err = depend.New(t.Context(), []string{lib.Dir}, nil, func(f warc.Finding) error { return &f })
		archivetest.Must(t, err)
	}
}

func TestRevisitsThatNameOnlyARecordIDNeedTheFiles(t *testing.T) {
	t.Parallel()
	dir, _ := archivetest.Wget(t)
	_, err := depend.Open(t.Context(), dir, depend.Options{}, func(warc.Finding) error { return nil })
	if !errors.Is(err, depend.ErrOnlyIDs) {
		t.Errorf("the error is %v", err)
	}
}

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

// TestADamagedIndexIsAnError adds a file to an index whose list of names is older than its runs.
func TestADamagedIndexIsAnError(t *testing.T) {
	t.Parallel()
	lib := varied(t, 2, unseen)
	put(t, lib, namesOf(lib)...)
	if err := os.WriteFile(filepath.Join(lib.Dir, depend.Folder, "names"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := depend.Put(lib.Dir); err == nil || !strings.Contains(err.Error(), "make the index again") {
		t.Errorf("adding a file: %v", err)
	}
}
