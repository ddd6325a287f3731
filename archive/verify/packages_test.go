package verify

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestFaultsOfAPackageAreReported(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	pack := filepath.Join(t.TempDir(), "x.wacz")
	packFiles(t, pack, l.Files())
	found, sum := verified(t, Options{}, pack)
	if len(found) > 0 || sum.Files != 3 || sum.Records["response"] != 3 || sum.Records["revisit"] != 5 {
		t.Errorf("a sound package has the findings %v, %+v", found, sum)
	}
	for _, row := range []struct {
		name string
		edit func(name string, text []byte) (string, []byte)
		want string
	}{
		{"a file that is missing", func(n string, b []byte) (string, []byte) {
			return strings.Replace(n, "pages.jsonl", "other.jsonl", 1), b
		}, "is not in the package"},
		{"a file with other bytes", func(n string, b []byte) (string, []byte) {
			if strings.HasSuffix(n, ".idx") {
				b = append(b, 'x')
			}
			return n, b
		}, "the manifest says"},
		{"a manifest that was changed", func(n string, b []byte) (string, []byte) {
			if n == "datapackage.json" {
				b = append(b, '\n')
			}
			return n, b
		}, "says that the manifest has the hash"},
		{"a manifest that is not valid", func(n string, b []byte) (string, []byte) {
			if n == "datapackage.json" {
				b = []byte("{")
			}
			return n, b
		}, "cannot be read"},
		{"a record with a flipped bit", func(n string, b []byte) (string, []byte) {
			if strings.HasPrefix(n, "archive/") {
				b = bytes.Clone(b)
				b[len(b)/2] ^= 4
			}
			return n, b
		}, "the gzip member is damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			found, _ := verified(t, Options{}, repacked(t, pack, row.edit))
			told := ""
			for _, f := range found {
				told += f.Error() + "\n"
			}
			if !strings.Contains(told, row.want) {
				t.Errorf("found %s, want a finding with %q", told, row.want)
			}
		})
	}
	if found, _ := verified(t, Options{}, archivetest.Save(t, "x.wacz", []byte("PK and no more"))); len(found) != 1 || found[0].Kind != warc.Manifest {
		t.Errorf("an invalid package has the findings %v", found)
	}
}

// TestPackagesInAFolderAreVerified checks that packages in a folder are verified like named ones. Copies of the files
// next to them are not a fault. Other records of the same ids are.
func TestPackagesInAFolderAreVerified(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	pack := filepath.Join(l.Dir, "packages", "a.wacz")
	packFiles(t, pack, l.Files())
	found, sum := verified(t, Options{}, l.Dir)
	if len(found) > 0 || sum.Files != 2 || sum.Records["response"] != 6 {
		t.Errorf("a folder with a package: %v, %v", sum, found)
	}
	lone := archivetest.Save(t, "revisit.warc.gz", archivetest.Zipped(t, archivetest.Info, strings.Replace(archivetest.Plain(archivetest.Fields("revisit", "again", "WARC-Target-URI: http://www.a.example/",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To-Target-URI: http://www.a.example/",
		"WARC-Refers-To-Date: "+archivetest.Start.Format(warc.DateLayout)), ""), "T09:", "T20:", 1)))
	if found, _ := verified(t, Options{Known: []string{filepath.Dir(pack)}}, lone); len(found) > 0 {
		t.Errorf("the original in a known package is not found: %v", found)
	}
	archivetest.Must(t, os.Rename(repacked(t, pack, func(n string, b []byte) (string, []byte) {
		if strings.HasPrefix(n, "archive/") {
			b = archivetest.Zipped(t, string(bytes.Replace(archivetest.Unzipped(t, l.Files()[0]), []byte("<p>two</p>"), []byte("<p>TWO</p>"), 1)))
		}
		return n, b
	}), pack))
	kinds := map[warc.Kind]int{}
	found, _ = verified(t, Options{}, l.Dir)
	for _, f := range found {
		if !strings.HasPrefix(f.File, pack) {
			t.Errorf("a fault of the package is reported for another file: %v", f)
		}
		kinds[f.Kind]++
	}
	digests := kinds[warc.BlockDigest] == 1 && kinds[warc.PayloadDigest] == 1
	if kinds[warc.Manifest] == 0 || !digests || kinds[warc.DuplicateID] > 0 {
		t.Errorf("a forged package in a folder has the findings %v", kinds)
	}
	other := strings.Replace(archivetest.Info, "T09:", "T10:", 1)
	archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, "x.warc.gz"), archivetest.Zipped(t, archivetest.Info), 0o644))
	forged := repacked(t, pack, func(n string, b []byte) (string, []byte) {
		if strings.HasPrefix(n, "archive/") {
			b = archivetest.Zipped(t, other)
		}
		return n, b
	})
	found, _ = verified(t, Options{}, forged, filepath.Join(l.Dir, "x.warc.gz"))
	kinds = map[warc.Kind]int{}
	for _, f := range found {
		kinds[f.Kind]++
	}
	if kinds[warc.DuplicateID] != 1 {
		t.Errorf("another record of the same id in a package: %v", found)
	}
}

// repacked writes a copy of a package, with the files that edit returns.
func repacked(t *testing.T, pack string, edit func(name string, text []byte) (string, []byte)) string {
	t.Helper()
	z, err := zip.OpenReader(pack)
	archivetest.Must(t, err)
	defer z.Close() //nolint:errcheck // nothing was written
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		name, text := edit(f.Name, readZIPMember(t, f))
		m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: f.Method})
		archivetest.Must(t, err)
		_, err = m.Write(text)
		archivetest.Must(t, err)
	}
	archivetest.Must(t, w.Close())
	return archivetest.Save(t, "x.wacz", out.Bytes())
}

// packFiles writes a package of files.
func packFiles(t *testing.T, out string, paths []string) {
	t.Helper()
	_, err := wacz.Write(t.Context(), paths, wacz.Options{Out: out, Now: archivetest.Start}, noFinding)
	archivetest.Must(t, err)
}

func readZIPMember(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	archivetest.Must(t, err)
	text, err := io.ReadAll(r)
	archivetest.Must(t, err)
	archivetest.Must(t, r.Close())
	return text
}
