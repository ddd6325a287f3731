package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/internal/foreign"
)

// packedAs packs files into one with this name.
func packedAs(t testing.TB, out string, paths []string, o PackageOptions) Packaged {
	t.Helper()
	o.Out, o.Now, o.Software, o.Title = out, start, "arcrawl/test", "Test"
	sum, err := Package(context.Background(), paths, o, func(f Finding) error { return &f })
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func packed(t *testing.T, paths []string, o PackageOptions) (*zip.ReadCloser, Packaged) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.wacz")
	sum := packedAs(t, out, paths, o)
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	})
	return z, sum
}

func member(t *testing.T, z *zip.ReadCloser, name string) []byte {
	t.Helper()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAPackageIsWhatItsManifestSays reads a package back by the specification.
func TestAPackageIsWhatItsManifestSays(t *testing.T) {
	t.Parallel()
	l, names := three(t)
	z, sum := packed(t, l.files()[1:], PackageOptions{From: []string{l.dir}})
	var d datapackage
	if err := json.Unmarshal(member(t, z, "datapackage.json"), &d); err != nil {
		t.Fatal(err)
	}
	if d.Profile != "data-package" || d.Version != "1.1.1" || d.Created != "2026-11-21T09:00:00Z" {
		t.Errorf("datapackage %+v", d)
	}
	listed := map[string]bool{"datapackage.json": true, "datapackage-digest.json": true}
	for _, r := range d.Resources {
		b := member(t, z, r.Path)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(b)); got != r.Hash || int64(len(b)) != r.Bytes || filepath.Base(r.Path) != r.Name {
			t.Errorf("%+v: %d bytes with %s", r, len(b), got)
		}
		listed[r.Path] = true
	}
	for _, f := range z.File {
		if !listed[f.Name] {
			t.Errorf("%s is not listed", f.Name)
		}
		if strings.HasSuffix(f.Name, ".gz") != (f.Method == zip.Store) {
			t.Errorf("%s is packed by method %d", f.Name, f.Method)
		}
	}
	var digest map[string]string
	if err := json.Unmarshal(member(t, z, "datapackage-digest.json"), &digest); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(member(t, z, "datapackage.json"))); digest["hash"] != want || digest["path"] != "datapackage.json" {
		t.Errorf("digest %v, want %s", digest, want)
	}
	hash, size, err := hashOf(l.files()[0])
	if err != nil {
		t.Fatal(err)
	}
	if d.Relation == nil || len(d.Relation.Requires) != 1 || d.Relation.Requires[0] != (Require{names[0], hash, size, 2}) {
		t.Errorf("relation %+v, want two revisits that need %s", d.Relation, names[0])
	}
	if sum.Files != 2 || sum.Captures != 6 || sum.Pages != 1 {
		t.Errorf("sum %+v", sum)
	}
	pages := strings.Split(strings.TrimSpace(string(member(t, z, "pages/pages.jsonl"))), "\n")
	if len(pages) != 2 || !strings.Contains(pages[0], `"format":"json-pages-1.0"`) || !strings.Contains(pages[1], `"url":"http://b.example/two","ts":"2026-11-21T12:00:00Z"`) {
		t.Errorf("pages %v", pages)
	}
}

// TestTheIndexOfAPackageLeadsToItsRecords follows the second index to the first, and that to the records.
func TestTheIndexOfAPackageLeadsToItsRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var records []string
	for i := range 2*blockLines + 10 {
		records = append(records, response(fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), htmlHead, fmt.Sprint(i)))
	}
	path := filepath.Join(dir, "many.warc.gz")
	if err := writeAll(path, zipped(t, records...)); err != nil {
		t.Fatal(err)
	}
	z, _ := packed(t, []string{path}, PackageOptions{})
	index, warc := member(t, z, "indexes/index.cdx.gz"), member(t, z, "archive/many.warc.gz")
	seen := 0
	second := strings.Split(strings.TrimSpace(string(member(t, z, "indexes/index.idx"))), "\n")
	if len(second) != 4 || !strings.HasPrefix(second[0], "!meta 0 ") {
		t.Fatalf("the second index has %d lines, want 4: %q", len(second), second[0])
	}
	for _, line := range second[1:] {
		key, object, _ := strings.Cut(line, " {")
		var block struct{ Offset, Length int64 }
		if err := json.Unmarshal([]byte("{"+object), &block); err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(strings.NewReader(string(index[block.Offset : block.Offset+block.Length])))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(text), key+" {") {
			t.Fatalf("block at %d begins with %.60q, %v, want %q", block.Offset, text, err, key)
		}
		for line := range strings.Lines(string(text)) {
			e, err := ParseEntry(line)
			if err != nil {
				t.Fatal(err)
			}
			r, err := gzip.NewReader(strings.NewReader(string(warc[e.Offset : e.Offset+e.Length])))
			if err != nil {
				t.Fatal(err)
			}
			record, err := io.ReadAll(r)
			if err != nil || !strings.Contains(string(record), "WARC-Target-URI: "+e.URL+"\r\n") {
				t.Fatalf("%s at %d: %v", e.URL, e.Offset, err)
			}
			seen++
		}
	}
	if seen != len(records) {
		t.Errorf("%d entries, want %d", seen, len(records))
	}
}

// TestAStrangerFindsNoFaultWithAPackage has npm's datapackage validate the descriptor, and proves that it can find one.
func TestAStrangerFindsNoFaultWithAPackage(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	z, _ := packed(t, l.files()[1:], PackageOptions{From: []string{l.dir}})
	text := member(t, z, "datapackage.json")
	if faults := foreign.DataPackage(t, save(t, "datapackage.json", text)); len(faults) > 0 {
		t.Errorf("datapackage says %q of %s", faults, text)
	}
	if got := resourceName("archive/NLX Köln_1.warc.gz"); got != "nlx-k-ln_1.warc.gz" {
		t.Errorf("the name of a resource is %s", got)
	}
	bad := bytes.Replace(text, []byte(`"name": "index.cdx.gz"`), []byte(`"name": "Index CDX"`), 1)
	if faults := foreign.DataPackage(t, save(t, "datapackage.json", bad)); len(faults) == 0 {
		t.Error("datapackage finds no fault with a name that is none")
	}
}

func TestAPackageIsVerified(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	pack := filepath.Join(t.TempDir(), "x.wacz")
	packedAs(t, pack, l.files(), PackageOptions{})
	found, sum := verified(t, VerifyOptions{}, pack)
	if len(found) > 0 || sum.Files != 3 || sum.Records["response"] != 3 || sum.Records["revisit"] != 5 {
		t.Errorf("a good package has %v, %+v", found, sum)
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
			if n == descriptorName {
				b = append(b, '\n')
			}
			return n, b
		}, "of the manifest, which has"},
		{"a manifest that is none", func(n string, b []byte) (string, []byte) {
			if n == descriptorName {
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
			found, _ := verified(t, VerifyOptions{}, repacked(t, pack, row.edit))
			told := ""
			for _, f := range found {
				told += f.Error() + "\n"
			}
			if !strings.Contains(told, row.want) {
				t.Errorf("found %s, want that %s", told, row.want)
			}
		})
	}
	if found, _ := verified(t, VerifyOptions{}, save(t, "x.wacz", []byte("PK and no more"))); len(found) != 1 || found[0].Kind != Manifest {
		t.Errorf("of a package that is none it finds %v", found)
	}
}

// Packages in a folder are verified like those that are named. That they hold copies of the files beside them is no fault; other records
// of the same ids are.
func TestPackagesInAFolderAreVerified(t *testing.T) {
	t.Parallel()
	l := small(t)
	pack := filepath.Join(l.dir, "packages", "a.wacz")
	packedAs(t, pack, l.files(), PackageOptions{})
	found, sum := verified(t, VerifyOptions{}, l.dir)
	if len(found) > 0 || sum.Files != 2 || sum.Records["response"] != 6 {
		t.Errorf("a folder with a package: %v, %v", sum, found)
	}
	lone := save(t, "revisit.warc.gz", zipped(t, info, strings.Replace(plain(fields("revisit", "again", "WARC-Target-URI: http://www.a.example/",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To-Target-URI: http://www.a.example/",
		"WARC-Refers-To-Date: "+start.Format(warcDate)), ""), "T09:", "T20:", 1)))
	if found, _ := verified(t, VerifyOptions{Known: []string{filepath.Dir(pack)}}, lone); len(found) > 0 {
		t.Errorf("what is in a known package is not known: %v", found)
	}
	must(t, os.Rename(repacked(t, pack, func(n string, b []byte) (string, []byte) {
		if strings.HasPrefix(n, "archive/") {
			b = zipped(t, string(bytes.Replace(unzipped(t, l.files()[0]), []byte("<p>two</p>"), []byte("<p>TWO</p>"), 1)))
		}
		return n, b
	}), pack))
	kinds := map[Kind]int{}
	found, _ = verified(t, VerifyOptions{}, l.dir)
	for _, f := range found {
		if !strings.HasPrefix(f.File, pack) {
			t.Errorf("a fault of the package is found in %v", f)
		}
		kinds[f.Kind]++
	}
	if kinds[Manifest] == 0 || kinds[BlockDigest] != 1 || kinds[PayloadDigest] != 1 || kinds[DuplicateID] > 0 {
		t.Errorf("a forged package in a folder: %v", kinds)
	}
	other := strings.Replace(info, "T09:", "T10:", 1)
	must(t, os.WriteFile(filepath.Join(l.dir, "x.warc.gz"), zipped(t, info), 0o644))
	forged := repacked(t, pack, func(n string, b []byte) (string, []byte) {
		if strings.HasPrefix(n, "archive/") {
			b = zipped(t, other)
		}
		return n, b
	})
	found, _ = verified(t, VerifyOptions{}, forged, filepath.Join(l.dir, "x.warc.gz"))
	kinds = map[Kind]int{}
	for _, f := range found {
		kinds[f.Kind]++
	}
	if kinds[DuplicateID] != 1 {
		t.Errorf("another record of the same id in a package: %v", found)
	}
}

// repacked writes a package anew with other files.
func repacked(t *testing.T, pack string, edit func(name string, text []byte) (string, []byte)) string {
	t.Helper()
	z, err := zip.OpenReader(pack)
	must(t, err)
	defer z.Close() //nolint:errcheck // nothing was written
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		name, text := edit(f.Name, member(t, z, f.Name))
		m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: f.Method})
		must(t, err)
		_, err = m.Write(text)
		must(t, err)
	}
	must(t, w.Close())
	return save(t, "x.wacz", out.Bytes())
}
