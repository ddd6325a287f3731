package verify

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// imports returns a folder with two WARC files, and a package outside it that holds the first file of the same archive,
// on which both depend.
func imports(t *testing.T) (dir, pack, packed string, names []string) {
	t.Helper()
	l, names := archivetest.Three(t)
	first := l.Files()[0]
	pack = filepath.Join(t.TempDir(), "old.wacz")
	packFiles(t, pack, []string{first})
	archivetest.Must(t, os.Remove(first))
	return l.Dir, pack, "old.wacz/archive/" + names[0], names
}

func TestDependenciesLeadIntoPackages(t *testing.T) {
	t.Parallel()
	dir, pack, packed, names := imports(t)
	s, err := depend.New(t.Context(), []string{dir, pack}, nil, noFinding)
	archivetest.Must(t, err)
	all, err := s.Dependencies([]string{names[2], "old.wacz"})
	archivetest.Must(t, err)
	if d := all[0]; len(d.Needs) != 2 || d.Needs[0] != (depend.Dependency{File: packed, Revisits: 1}) || d.Missing != 0 {
		t.Errorf("the last file has %+v", d)
	}
	if d := all[1]; d.File != packed || d.Captures != 2 || len(d.NeededBy) != 2 {
		t.Errorf("the package has %+v", d)
	}
	losses, err := s.Impact([]string{pack}, time.DateOnly, func(depend.Lost) error { return nil })
	archivetest.Must(t, err)
	var lost, revisits int
	for _, l := range losses {
		lost, revisits = lost+l.Captures, revisits+l.Revisits
	}
	if lost != 4 || revisits != 2 {
		t.Errorf("%d captures would be lost, %d of them revisits; want 4 and 2", lost, revisits)
	}
}

func TestHistoryReadsPackages(t *testing.T) {
	t.Parallel()
	dir, pack, packed, names := imports(t)
	for name, o := range map[string]index.Options{
		"outside the folder": {Outside: []string{pack}},
		"in the folder":      {},
		"in both":            {Outside: []string{pack}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			archivetest.Must(t, os.CopyFS(folder, os.DirFS(dir)))
			if name != "outside the folder" {
				archivetest.Must(t, os.WriteFile(filepath.Join(folder, "old.wacz"), []byte(archivetest.Read(t, pack)), 0o644))
			}
			l, err := index.OpenLibrary(t.Context(), folder, o, noFinding)
			archivetest.Must(t, err)
			captures, err := l.History("http://www.a.example/")
			archivetest.Must(t, err)
			var files []string
			for _, c := range captures {
				files = append(files, c.Filename)
				p, err := l.Payload(t.Context(), c, true)
				archivetest.Must(t, err)
				b, err := io.ReadAll(p)
				if err = errors.Join(err, p.Close()); err != nil || string(b) != "<p>one</p>" {
					t.Errorf("the capture in %s has the payload %q, %v", c.Filename, b, err)
				}
			}
			if want := []string{packed, names[1], names[2]}; !slices.Equal(files, want) {
				t.Errorf("the captures are in %v, want %v", files, want)
			}
			archivetest.Must(t, l.Close())
		})
	}
}

func TestRewritingTakesOriginalsFromPackages(t *testing.T) {
	t.Parallel()
	dir, pack, _, names := imports(t)
	for name, run := range map[string]struct {
		paths, from []string
		choose      rewrite.Selection
		files       []string
	}{
		"reduplicate": {[]string{dir}, []string{pack}, rewrite.Selection{}, names[1:]},
		"extract from a package": {
			[]string{dir, pack},
			nil,
			rewrite.Selection{Hosts: []string{"www.a.example"}},
			append([]string{"old-" + names[0]}, names[1:]...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			o := rewrite.Options{Out: out, From: run.from, Select: run.choose}
			_, err := rewrite.Files(t.Context(), run.paths, o, noFinding)
			archivetest.Must(t, err)
			found, sum := verified(t, Options{}, out)
			if len(found) > 0 || sum.Records["revisit"]+sum.Records["response"] == 0 {
				t.Errorf("verify found %v in %+v", found, sum)
			}
			var files []string
			entries, err := os.ReadDir(out)
			archivetest.Must(t, err)
			for _, e := range entries {
				files = append(files, e.Name())
			}
			if slices.Sort(run.files); !slices.Equal(files, run.files) {
				t.Errorf("the new files are %v, want %v", files, run.files)
			}
		})
	}
}

// TestAPackageRequiresPackages names the package with the originals by a list with crawl id and hash, and by a path.
func TestAPackageRequiresPackages(t *testing.T) {
	t.Parallel()
	dir, pack, _, _ := imports(t)
	resources := `{"resources":[{"name":"old.wacz","path":"` + pack + `","crawlId":"crawl-7","hash":"00"}]}`
	list := archivetest.Save(t, "list.json", []byte(resources))
	for name, from := range map[string]struct{ path, crawl string }{"a list": {list, "crawl-7"}, "a package": {pack, "crawl-8"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources, err := wacz.ReadSources([]string{from.path})
			archivetest.Must(t, err)
			sources.CrawlID = "crawl-8"
			var found []string
			o := wacz.Options{Out: filepath.Join(t.TempDir(), "new.wacz"), Now: archivetest.Start, From: sources}
			sum, err := wacz.Write(t.Context(), []string{dir}, o, func(f warc.Finding) error {
				found = append(found, f.Error())
				return nil
			})
			archivetest.Must(t, err)
			hash, size, err := warc.HashFile(pack)
			archivetest.Must(t, err)
			want := wacz.Require{Filename: "old.wacz", Hash: hash, Size: size, CrawlID: from.crawl, Revisits: 2}
			if len(sum.Requires) != 1 || sum.Requires[0] != want {
				t.Errorf("the package requires %+v, want %+v", sum.Requires, want)
			}
			if wrong := name == "a list"; len(found) > 0 != wrong || wrong && !strings.Contains(found[0], "its list says 00") {
				t.Errorf("found %q", found)
			}
		})
	}
}
