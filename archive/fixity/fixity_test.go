package fixity_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// listed returns an archive of three files and opens its manifest with all of them.
func listed(t *testing.T) (*archivetest.Archive, []string) {
	t.Helper()
	lib := archivetest.New(t)
	for _, page := range []string{"one", "two", "three"} {
		lib.Page("http://a.example/"+page, archivetest.HTMLHead, "<p>"+page+"</p>")
		lib.Seal()
	}
	m, err := fixity.Open(lib.Dir, now)
	archivetest.Must(t, err)
	defer m.Close() //nolint:errcheck // every line is synced
	names, err := m.Missing(time.Time{})
	if err != nil || len(names) != 3 {
		t.Fatalf("%q are missing, %v", names, err)
	}
	for _, name := range names {
		e, err := fixity.Measure(t.Context(), filepath.Join(lib.Dir, name), nil)
		if err == nil {
			err = m.Add(name, e, now)
		}
		if err != nil || e.Records != 4 || e.First.IsZero() || e.Last.Before(e.First) {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	return lib, lib.Files()
}

// findings returns what Check reports about a folder.
func findings(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	if _, err := fixity.Check(t.Context(), dir, fixity.CheckOptions{}, func(f warc.Finding) error {
		all.WriteString(f.Error() + "\n")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestEachChangeIsFound(t *testing.T) {
	t.Parallel()
	edit := func(path string, change func(text string) string) {
		text := change(archivetest.Read(t, path))
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, c := range []struct {
		name   string
		change func(lib *archivetest.Archive, files []string)
		want   string
	}{
		{"a tail that was cut at a record", func(_ *archivetest.Archive, files []string) {
			edit(files[1], func(text string) string { return text[:strings.LastIndex(text, "\x1f\x8b\x08")] })
		}, "are lost"},
		{"a record in the middle that was removed", func(_ *archivetest.Archive, files []string) {
			edit(files[1], func(text string) string {
				members := strings.SplitAfter(text, "\x1f\x8b\x08")
				return strings.Join(append(members[:2:2], members[3:]...), "")
			})
		}, "are lost"},
		{"one byte", func(_ *archivetest.Archive, files []string) {
			edit(files[1], func(text string) string { return text[:50] + string(text[50]^1) + text[51:] })
		}, "it was changed"},
		{"a removed file", func(_ *archivetest.Archive, files []string) {
			archivetest.Must(t, os.Remove(files[0]))
		}, "is gone"},
		{"a file in a folder below", func(lib *archivetest.Archive, files []string) {
			archivetest.Must(t, os.Mkdir(filepath.Join(lib.Dir, "2026"), 0o750))
			archivetest.Must(t, os.Rename(files[0], filepath.Join(lib.Dir, "2026", filepath.Base(files[0]))))
		}, ""},
		{"a changed file in a folder below", func(lib *archivetest.Archive, files []string) {
			archivetest.Must(t, os.Mkdir(filepath.Join(lib.Dir, "2026"), 0o750))
			edit(files[0], func(text string) string { return text[:50] + string(text[50]^1) + text[51:] })
			archivetest.Must(t, os.Rename(files[0], filepath.Join(lib.Dir, "2026", filepath.Base(files[0]))))
		}, "it was changed"},
		{"a changed line", func(lib *archivetest.Archive, _ []string) {
			edit(filepath.Join(lib.Dir, fixity.FileName), func(text string) string { return strings.Replace(text, `"records":4`, `"records":5`, 1) })
		}, "line 3 does not follow"},
		{"a removed line", func(lib *archivetest.Archive, _ []string) {
			edit(filepath.Join(lib.Dir, fixity.FileName), func(text string) string {
				lines := strings.SplitAfter(text, "\n")
				return lines[0] + lines[1] + lines[3]
			})
		}, "line 3 does not follow"},
		{"an unreadable line", func(lib *archivetest.Archive, _ []string) {
			edit(filepath.Join(lib.Dir, fixity.FileName), func(text string) string { return strings.Replace(text, `{"file"`, `"file"`, 1) })
		}, "line 2 cannot be read"},
	} {
		lib, files := listed(t)
		c.change(lib, files)
		if got := findings(t, lib.Dir); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestACrashLeavesNoHalfLine cuts the last line.
func TestACrashLeavesNoHalfLine(t *testing.T) {
	t.Parallel()
	lib, files := listed(t)
	path := filepath.Join(lib.Dir, fixity.FileName)
	text := archivetest.Read(t, path)
	archivetest.Must(t, os.WriteFile(path, []byte(text[:len(text)-20]), 0o600))
	m, err := fixity.Open(lib.Dir, now)
	archivetest.Must(t, err)
	if names, err := m.Missing(time.Time{}); err != nil || len(names) != 1 || names[0] != filepath.Base(files[2]) {
		t.Fatalf("%q are missing, %v", names, err)
	}
	e, err := fixity.Measure(t.Context(), files[2], nil)
	archivetest.Must(t, err)
	archivetest.Must(t, m.Add(filepath.Base(files[2]), e, now))
	archivetest.Must(t, m.Close())
	if again := archivetest.Read(t, path); again != text || findings(t, lib.Dir) != "" {
		t.Errorf("the manifest is\n%s\nwant\n%s", again, text)
	}
}

func TestListsOfMovedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		archivetest.Must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("tape/2024/one.warc.gz", "x")
	list := write("list.txt", "two.warc.gz\n9f86d0  /mnt/b/three.warc.gz\n9f86d0 *four.warc\n\n# a note\n"+
		`{"file":"sub/five.warc.gz","size":1}`+"\n12 2026-01-01T00:00:00Z six.warc.gz\n")
	got, err := fixity.Elsewhere([]string{filepath.Join(dir, "tape"), list, filepath.Dir(write("empty/readme", ""))})
	if err != nil || len(got) != 6 {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"one.warc.gz", "two.warc.gz", "three.warc.gz", "four.warc", "five.warc.gz", "six.warc.gz"} {
		if path, ok := got[name]; !ok || (path != "") != (name == "one.warc.gz") {
			t.Errorf("%s is missing: %v", name, got)
		}
	}
	if _, err := fixity.Elsewhere([]string{filepath.Join(dir, "offline")}); err == nil {
		t.Error("a place that cannot be read is no error")
	}
}

// valid checks a bag by RFC 8493 with sha256sum of the system, and returns the files of its payload.
func valid(t *testing.T, bag string) (payload []string) {
	t.Helper()
	if text := archivetest.Read(t, filepath.Join(bag, "bagit.txt")); text != "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n" {
		t.Errorf("bagit.txt is %q", text)
	}
	for _, manifest := range []string{"manifest-sha256.txt", "tagmanifest-sha256.txt"} {
		if archivetest.Read(t, filepath.Join(bag, manifest)) == "" {
			continue
		}
		check := exec.Command("sha256sum", "--strict", "--check", manifest)
		check.Dir = bag
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", manifest, err, out)
		}
	}
	listed := archivetest.Read(t, filepath.Join(bag, "manifest-sha256.txt"))
	var size int64
	err := filepath.WalkDir(filepath.Join(bag, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(bag, path)
		if !strings.Contains(listed, "  "+name+"\n") {
			t.Errorf("%s is not in the manifest", name)
		}
		info, err := d.Info()
		size += info.Size()
		payload = append(payload, name)
		return err
	})
	archivetest.Must(t, err)
	oxum := fmt.Sprintf("Payload-Oxum: %d.%d\n", size, len(payload))
	if info := archivetest.Read(t, filepath.Join(bag, "bag-info.txt")); !strings.Contains(info, oxum) {
		t.Errorf("bag-info.txt is %q, want %q in it", info, oxum)
	}
	return payload
}

func TestABagIsValidAndHasOnlySoundFiles(t *testing.T) {
	t.Parallel()
	for _, link := range []bool{false, true} {
		lib, files := listed(t)
		lib.Page("http://a.example/four", archivetest.HTMLHead, "<p>four</p>")
		lib.Seal() // not in the manifest
		content := archivetest.Read(t, files[1])
		archivetest.Must(t, os.WriteFile(files[1], []byte(content[:60]+"x"+content[61:]), 0o600))
		archivetest.Must(t, os.Remove(files[2]))
		out := filepath.Join(t.TempDir(), "bag")
		var found []string
		sum, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{
			Out: out, Link: link, Now: now, Software: "test", Info: []warc.Field{{Name: "Source-Organization", Value: "Test\nLibrary"}},
		}, func(f warc.Finding) error { found = append(found, f.Error()); return nil })
		if err != nil || sum.Files != 2 || sum.Errors != 2 || len(found) != 2 {
			t.Fatalf("%+v, %v, %q", sum, err, found)
		}
		if got := valid(t, out); len(got) != 2 {
			t.Errorf("the payload is %q", got)
		}
		if chain := archivetest.Read(t, filepath.Join(out, fixity.FileName)); strings.Count(chain, "\n") != 4 {
			t.Errorf("the manifest in the bag is %q", chain)
		}
		if _, err := os.Stat(out + ".part"); !os.IsNotExist(err) {
			t.Errorf("the unfinished bag is still there: %v", err)
		}
		if _, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{Out: out}, nil); err == nil {
			t.Error("a bag was written over another")
		}
	}
}

// TestBagsAreValidForOtherPrograms lets the Library of Congress's bagit-python check a bag, and one whose file was
// changed.
func TestBagsAreValidForOtherPrograms(t *testing.T) {
	t.Parallel()
	lib, _ := listed(t)
	out := filepath.Join(t.TempDir(), "bag")
	sum, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{Out: out, Now: now, Info: []warc.Field{{Name: "Source-Organization", Value: "Test Library"}}}, nil)
	archivetest.Must(t, err)
	if printed, errs, err := foreign.Program(t, "bagit.py", "--validate", out); err != nil {
		t.Errorf("a bag of %d files is not accepted: %v\n%s%s", sum.Files, err, printed, errs)
	}
	file := filepath.Join(out, valid(t, out)[0])
	text := archivetest.Read(t, file)
	archivetest.Must(t, os.WriteFile(file, []byte(text[:60]+string(text[60]^1)+text[61:]), 0o600))
	var exit *exec.ExitError
	if printed, errs, err := foreign.Program(t, "bagit.py", "--validate", out); !errors.As(err, &exit) {
		t.Errorf("a bag with a changed file is accepted: %v\n%s%s", err, printed, errs)
	}
}

func TestABagOfAPeriod(t *testing.T) {
	t.Parallel()
	lib, _ := listed(t)
	for _, c := range []struct {
		since, until time.Duration
		files        int
	}{
		{0, 24 * time.Hour, 3}, {90 * time.Minute, 24 * time.Hour, 1}, {24 * time.Hour, 48 * time.Hour, 0}, {0, time.Hour, 1},
	} {
		o := fixity.BagOptions{Out: filepath.Join(t.TempDir(), "bag"), Now: now}
		o.Since, o.Until = archivetest.Start.Add(c.since), archivetest.Start.Add(c.until)
		if _, err := fixity.WriteBag(t.Context(), lib.Dir, o, nil); err != nil {
			t.Fatal(err)
		}
		if got := valid(t, o.Out); len(got) != c.files {
			t.Errorf("from %s to %s: %q, want %d files", c.since, c.until, got, c.files)
		}
	}
}
