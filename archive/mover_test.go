package archive

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// disks are disks of limited size: moving a file makes room in the folder that it leaves.
type disks struct {
	free map[string]int64 // at the beginning, by folder
}

func (d disks) of(folder string) (int64, error) {
	free := d.free[folder]
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && warc.IsArchive(e.Name()) {
			free -= info.Size()
		}
	}
	return free, err
}

// archive returns an archive of three files, all listed in its manifest, and the origins of its payloads.
func archive(t *testing.T) (*archivetest.Archive, []digest.Origin) {
	t.Helper()
	lib := archivetest.New(t)
	var origins []digest.Origin
	for _, page := range []string{"one", "two", "three"} {
		origins = append(origins, lib.Page("http://a.example/"+page, archivetest.HTMLHead, "<p>"+page+"</p>"))
		lib.Seal()
	}
	list(t, lib)
	return lib, origins
}

func list(t *testing.T, lib *archivetest.Archive) {
	t.Helper()
	m, err := fixity.Open(lib.Dir, archivetest.Start)
	archivetest.Must(t, err)
	defer m.Close() //nolint:errcheck // every line is synced
	names, err := m.Missing(time.Time{})
	archivetest.Must(t, err)
	for _, name := range names {
		e, err := fixity.Measure(t.Context(), filepath.Join(lib.Dir, name), nil)
		archivetest.Must(t, err)
		archivetest.Must(t, m.Add(name, e, archivetest.Start))
	}
}

// newMover returns a mover to two folders, and what it logs. The disks have room for a number of files besides what is
// kept.
func newMover(
	t *testing.T, lib *archivetest.Archive, size int64, first, second, third int64,
) (*mover, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	const free = 10_000
	m := &mover{
		Dir: lib.Dir, Folders: []string{t.TempDir(), t.TempDir()}, StateDir: t.TempDir(), Keep: free,
		Order: config.FillFolders, Now: func() time.Time { return archivetest.Start }, Log: zerolog.New(log),
	}
	d := disks{map[string]int64{
		lib.Dir: free + first*size, m.Folders[0]: free + second*size, m.Folders[1]: free + third*size,
	}}
	m.Free = d.of
	return m, log
}

// names returns the names of the files in a folder.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	archivetest.Must(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Finished files go where there is room, oldest first, until enough is free in the first folder.
func TestFinishedFilesMoveToFoldersWithRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		first, second, third int64 // files that have room on each disk besides what is kept
		order                config.FolderOrder
		want                 [2]int // files in the two folders
		fault                string
	}{
		{name: "enough is free", first: 4, second: 9, third: 9},
		{name: "one is too many", first: 2, second: 9, third: 9, want: [2]int{1, 0}},
		{name: "the first folder is filled first", first: 0, second: 2, third: 9, want: [2]int{2, 1}},
		{name: "spread", first: 0, second: 5, third: 6, order: config.SpreadFolders, want: [2]int{1, 2}},
		{name: "no folder has room", first: 0, second: 1, third: 0, want: [2]int{1, 0}, fault: "has room for"},
	} {
		lib, _ := archive(t)
		files := lib.Files()
		info, err := os.Stat(files[2])
		archivetest.Must(t, err)
		m, log := newMover(t, lib, info.Size()+20, c.first, c.second, c.third) // the three differ by some bytes
		if c.order != "" {
			m.Order = c.order
		}
		m.Step(t.Context())
		got := [2]int{len(names(t, m.Folders[0])), len(names(t, m.Folders[1]))}
		if got != c.want {
			t.Errorf("%s: the folders have %v files, want %v; %s", c.name, got, c.want, log)
		}
		s := m.State()
		if strings.Contains(s.Error, c.fault) != (s.Error != "" || c.fault == "") || (s.Since != nil) != (c.fault != "") {
			t.Errorf("%s: the state is %+v", c.name, s)
		}
		if s.Folders[0].Files != c.want[0] || s.Folders[0].Bytes <= 0 && c.want[0] > 0 {
			t.Errorf("%s: the folders are %+v", c.name, s.Folders)
		}
		if c.order == "" && got[0] > 0 && names(t, m.Folders[0])[0] != filepath.Base(files[0]) {
			t.Errorf("%s: the oldest file did not go first", c.name)
		}
	}
}

// A folder whose disk is not mounted takes no file, before and after a restart of the daemon. Others do.
func TestAFolderWhoseDiskIsAwayTakesNoFile(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		lib, _ := archive(t)
		info, err := os.Stat(lib.Files()[2])
		archivetest.Must(t, err)
		m, _ := newMover(t, lib, info.Size()+20, 2, 9, 9)
		room := int64(1 << 30)
		m.Free = disks{map[string]int64{lib.Dir: 10_040 + 2*info.Size(), m.Folders[0]: room, m.Folders[1]: room}}.of
		m.Step(t.Context())
		disk := m.Folders[0] + "-away"
		archivetest.Must(t, os.Rename(m.Folders[0], disk))
		archivetest.Must(t, os.Mkdir(m.Folders[0], 0o750))
		if restart {
			before := m
			m, _ = newMover(t, lib, 0, 0, 0, 0)
			m.Free, m.Folders = before.Free, before.Folders
		}
		m.Keep = 1 << 19
		m.Step(t.Context())
		if got := [2]int{len(names(t, m.Folders[0])), len(names(t, m.Folders[1]))}; got != [2]int{0, 2} {
			t.Errorf("restart %t: the folders have %v files, want none in the first and two in the second", restart, got)
		}
		if s := m.State(); !strings.Contains(s.Error, "mount its disk") {
			t.Errorf("restart %t: the state is %+v", restart, s)
		}
		archivetest.Must(t, os.Remove(m.Folders[0]))
		archivetest.Must(t, os.Rename(disk, m.Folders[0]))
		m.Step(t.Context())
		if s := m.State(); s.Error != "" {
			t.Errorf("restart %t: the disk is back, and the state is %+v", restart, s)
		}
	}
}

// A folder whose files were all deleted together with their links takes files again.
func TestAnEmptiedFolderTakesFilesAgain(t *testing.T) {
	t.Parallel()
	lib, _ := archive(t)
	info, err := os.Stat(lib.Files()[2])
	archivetest.Must(t, err)
	m, _ := newMover(t, lib, info.Size()+20, 2, 9, 9)
	room := int64(1 << 30)
	m.Free = disks{map[string]int64{lib.Dir: 10_040 + 2*info.Size(), m.Folders[0]: room, m.Folders[1]: room}}.of
	m.Step(t.Context())
	m.Step(t.Context()) // finds the link of the first
	moved := names(t, m.Folders[0])
	if len(moved) != 1 {
		t.Fatalf("%q were moved, want one file", moved)
	}
	archivetest.Must(t, os.Remove(filepath.Join(m.Folders[0], moved[0])))
	archivetest.Must(t, os.Remove(filepath.Join(lib.Dir, moved[0])))
	m.Keep = 1 << 19
	m.Step(t.Context())
	if got := len(names(t, m.Folders[0])); got != 2 || m.State().Error != "" {
		t.Errorf("the folder has %d files, want 2; %+v", got, m.State())
	}
}

// A folder on the disk where files are written takes none, because that frees nothing.
func TestAFolderOnTheSameDiskTakesNoFile(t *testing.T) {
	t.Parallel()
	lib, _ := archive(t)
	m, _ := newMover(t, lib, 2000, -9, 99, 99)
	m.SameDisk = sameDisk
	m.Step(t.Context())
	if got := len(names(t, m.Folders[0])); got != 0 || !strings.Contains(m.State().Error, "frees nothing") {
		t.Errorf("%d files were moved; %+v", got, m.State())
	}
}

// Files of one name in several folders of the archive move, each to its own place.
func TestFilesOfOneNameMove(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	lib.Page("http://a.example/", archivetest.HTMLHead, "<p>one</p>")
	lib.Seal()
	lib.Page("http://b.example/", archivetest.HTMLHead, "<p>two</p>")
	lib.Seal()
	files := lib.Files()
	archivetest.Must(t, os.Mkdir(filepath.Join(lib.Dir, "older"), 0o750))
	archivetest.Must(t, os.Rename(files[1], filepath.Join(lib.Dir, "older", filepath.Base(files[0]))))
	manifest, err := fixity.Open(lib.Dir, archivetest.Start)
	archivetest.Must(t, err)
	defer manifest.Close() //nolint:errcheck // every line is synced
	for _, name := range []string{filepath.Base(files[0]), "older/" + filepath.Base(files[0])} {
		e, err := fixity.Measure(t.Context(), filepath.Join(lib.Dir, name), nil)
		archivetest.Must(t, err)
		archivetest.Must(t, manifest.Add(name, e, archivetest.Start))
	}
	m, log := newMover(t, lib, 2000, -9, 99, 99)
	m.Step(t.Context())
	for _, name := range []string{filepath.Base(files[0]), filepath.Join("older", filepath.Base(files[0]))} {
		info, err := os.Lstat(filepath.Join(lib.Dir, name))
		archivetest.Must(t, err)
		if info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s was not moved: %+v, %s", name, m.State(), log)
		}
		if _, err := os.ReadFile(filepath.Join(lib.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if s := m.State(); s.Folders[0].Files != 2 || s.Error != "" {
		t.Errorf("the state is %+v", s)
	}
}

// Whoever reads the archive finds moved files: the manifest, the index, origins of revisits, and a bag of
// hard links.
func TestMovedFilesAreFound(t *testing.T) {
	t.Parallel()
	lib, origins := archive(t)
	size := int64(2000)
	_, err := index.WriteFile(t.Context(), []string{lib.Dir}, index.Options{}, filepath.Join(lib.Dir, index.FileName), nil)
	archivetest.Must(t, err)
	m, log := newMover(t, lib, size, -9, 99, 99)
	m.Step(t.Context())
	if got := len(names(t, m.Folders[0])); got != 3 {
		t.Fatalf("%d files were moved: %s", got, log)
	}
	none := func(f warc.Finding) error { t.Error(f.Error()); return nil }
	if c, err := fixity.Check(t.Context(), lib.Dir, fixity.CheckOptions{}, none); err != nil || c.Files != 3 {
		t.Errorf("%d files agree with the manifest, %v", c.Files, err)
	}
	l, err := captures.OpenLibrary(t.Context(), lib.Dir, captures.Options{}, none)
	archivetest.Must(t, err)
	defer l.Close()
	for _, page := range []string{"one", "two", "three"} {
		history, err := l.History("http://a.example/" + page)
		if err != nil || len(history) != 1 || history[0].Damage != nil {
			t.Errorf("the history of %s is %+v, %v", page, history, err)
		}
	}
	body, err := warc.Stored(lib.Dir)(origins[1])
	archivetest.Must(t, err)
	text, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(text), "two") || body.Close() != nil {
		t.Errorf("the payload is %q, %v", text, err)
	}
	out := filepath.Join(t.TempDir(), "bag")
	links := fixity.BagOptions{Out: out, Link: true, Now: archivetest.Start}
	sum, err := fixity.WriteBag(t.Context(), lib.Dir, links, none)
	if err != nil || sum.Files != 3 || sum.Errors > 0 {
		t.Errorf("the bag has %+v, %v", sum, err)
	}
	archivetest.Must(t, os.RemoveAll(m.Folders[0]))
	lost := 0
	_, err = fixity.Check(t.Context(), lib.Dir, fixity.CheckOptions{}, func(f warc.Finding) error {
		if strings.Contains(f.Text, "is gone") {
			lost++
		}
		return nil
	})
	if err != nil || lost != 3 {
		t.Errorf("the disk of the moved files is gone, and %d are reported, %v", lost, err)
	}
}

// What a crash leaves is cleared up, a damaged file stays, and no file is overwritten.
func TestAMoveLosesNothing(t *testing.T) {
	t.Parallel()
	lib, _ := archive(t)
	files := lib.Files()
	m, log := newMover(t, lib, 2000, -9, 99, 99)
	first := filepath.Join(m.Folders[0], filepath.Base(files[0]))
	archivetest.Must(t, os.WriteFile(first+".part", []byte("half"), 0o600))
	archivetest.Must(t, os.WriteFile(first, []byte(archivetest.Read(t, files[0])), 0o600)) // not linked yet
	archivetest.Must(t, os.Symlink("nowhere", files[0]+".link"))
	second := archivetest.Read(t, files[1])
	archivetest.Must(t, os.WriteFile(files[1], []byte(second[:50]+"x"+second[51:]), 0o600))
	foreign := filepath.Join(m.Folders[0], filepath.Base(files[2]))
	archivetest.Must(t, os.WriteFile(foreign, []byte("another file"), 0o600))
	m.Step(t.Context())
	for i, isLink := range []bool{true, false, false} {
		info, err := os.Lstat(files[i])
		archivetest.Must(t, err)
		if got := info.Mode()&os.ModeSymlink != 0; got != isLink {
			t.Errorf("file %d is a link: %t", i, got)
		}
	}
	if got := archivetest.Read(t, foreign); got != "another file" {
		t.Errorf("a file was overwritten by %.20q", got)
	}
	if s := m.State(); !strings.Contains(s.Error, "is another file than") {
		t.Errorf("the state is %+v", s)
	}
	if !strings.Contains(log.String(), "changed since it was finished") {
		t.Errorf("the log does not name the changed file: %s", log)
	}
	archivetest.Must(t, os.Remove(foreign))
	m.Step(t.Context())
	want := []string{filepath.Base(files[0]), filepath.Base(files[2])}
	if got := names(t, m.Folders[0]); !slices.Equal(got, want) || m.State().Since != nil {
		t.Errorf("the folder has %q, want %q; %+v", got, want, m.State())
	}
	if got := names(t, lib.Dir); slices.ContainsFunc(got, func(n string) bool { return strings.HasSuffix(n, ".link") }) {
		t.Errorf("the first folder has %q", got)
	}
}

// Each finished file is moved by one mover at most: to the folders of its series at once, or to the others.
func TestEachFileHasOneMover(t *testing.T) {
	t.Parallel()
	const rest = "-20261121090000123-00001-c1.warc.gz"
	for _, c := range []struct {
		folders config.Folders
		want    map[string]string // folders by series; a star means always
	}{
		{nil, map[string]string{}},
		{config.Folders{"/a", "/b"}, map[string]string{"": "/a /b", "contract": "/a /b", "embargo": "/a /b", "former": "/a /b"}},
		{config.Folders{"embargo=/e"}, map[string]string{"embargo": "/e *"}},
		{
			config.Folders{"/a", "embargo=/e", "embargo=/f"},
			map[string]string{"": "/a", "contract": "/a", "embargo": "/e /f *", "former": "/a"},
		},
	} {
		conf := &config.Config{Series: []string{"contract", "embargo"}}
		conf.WARC.Prefix, conf.Storage.Folders, conf.Storage.MinFree = "kb", c.folders, 1
		all := moversOf(conf, time.Now, zerolog.Nop())
		for _, series := range []string{"", "contract", "embargo", "former"} {
			file := "kb-" + series + rest
			if series == "" {
				file = "kb" + rest
			}
			var got []string
			for _, m := range all {
				if m.Takes(file) {
					got = append(got, m.Folders...)
					if m.Always != (m.SameDisk == nil) || m.Always != (m.Keep == 1) {
						t.Errorf("%q: the mover of %s is %+v", c.folders, file, m)
					}
					if m.Always {
						got = append(got, "*")
					}
				}
			}
			if !slices.Equal(got, strings.Fields(c.want[series])) {
				t.Errorf("%q: %s goes to %q, want %q", c.folders, file, got, c.want[series])
			}
		}
	}
}
