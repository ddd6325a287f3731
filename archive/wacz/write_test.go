package wacz

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

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// packedAs packs files into a package named out.
func packedAs(t testing.TB, out string, paths []string, o Options) Summary {
	t.Helper()
	o.Out, o.Now, o.Software, o.Title = out, archivetest.Start, "arcrawl/test", "Test"
	sum, err := Write(context.Background(), paths, o, noFinding)
	archivetest.Must(t, err)
	return sum
}

func packed(t *testing.T, paths []string, o Options) (*zip.ReadCloser, Summary) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.wacz")
	sum := packedAs(t, out, paths, o)
	z, err := zip.OpenReader(out)
	archivetest.Must(t, err)
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
	archivetest.Must(t, err)
	b, err := io.ReadAll(f)
	archivetest.Must(t, err)
	return b
}

// TestAPackageAgreesWithItsManifest reads a package back by the specification.
func TestAPackageAgreesWithItsManifest(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	z, sum := packed(t, l.Files()[1:], Options{From: Sources{Paths: []string{l.Dir}}})
	var d datapackage
	archivetest.Must(t, json.Unmarshal(member(t, z, "datapackage.json"), &d))
	if d.Profile != "data-package" || d.Version != "1.1.1" || d.Created != "2026-11-21T09:00:00Z" {
		t.Errorf("the descriptor is %+v", d)
	}
	listed := map[string]bool{"datapackage.json": true, "datapackage-digest.json": true}
	for _, r := range d.Resources {
		b := member(t, z, r.Path)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(b)); got != r.Hash || int64(len(b)) != r.Bytes || filepath.Base(r.Path) != r.Name {
			t.Errorf("%+v: the file has %d bytes and the digest %s", r, len(b), got)
		}
		listed[r.Path] = true
	}
	for _, f := range z.File {
		if !listed[f.Name] {
			t.Errorf("%s is not listed", f.Name)
		}
		if strings.HasSuffix(f.Name, ".gz") != (f.Method == zip.Store) {
			t.Errorf("%s is packed with method %d", f.Name, f.Method)
		}
	}
	var digest map[string]string
	archivetest.Must(t, json.Unmarshal(member(t, z, "datapackage-digest.json"), &digest))
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(member(t, z, "datapackage.json"))); digest["hash"] != want || digest["path"] != "datapackage.json" {
		t.Errorf("digest %v, want %s", digest, want)
	}
	hash, size, err := warc.HashFile(l.Files()[0])
	archivetest.Must(t, err)
	want := Require{Filename: names[0], Hash: hash, Size: size, Revisits: 2}
	if d.Relation == nil || len(d.Relation.Requires) != 1 || d.Relation.Requires[0] != want {
		t.Errorf("the relation is %+v, want two revisits that need %s", d.Relation, names[0])
	}
	if sum.Files != 2 || sum.Captures != 6 || sum.Pages != 3 {
		t.Errorf("the summary is %+v", sum)
	}
	pages := strings.Split(strings.TrimSpace(string(member(t, z, "pages/pages.jsonl"))), "\n")
	const second = `"url":"http://b.example/two","ts":"2026-11-21T12:00:00.123Z","text":"two, in chunks"`
	if len(pages) != 4 || !strings.Contains(pages[0], `"format":"json-pages-1.0"`) || !strings.Contains(pages[2], second) {
		t.Errorf("the pages are %v", pages)
	}
}

// TestTheIndexOfAPackagePointsToItsRecords follows the second-level index to the first, and the first to the records.
func TestTheIndexOfAPackagePointsToItsRecords(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	var records []string
	for i := range 2*blockLines + 10 {
		records = append(records, archivetest.Response(fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), archivetest.HTMLHead, fmt.Sprint(i)))
	}
	path := filepath.Join(dir, "many.warc.gz")
	archivetest.Must(t, os.WriteFile(path, archivetest.Zipped(t, records...), 0o644))
	z, _ := packed(t, []string{path}, Options{})
	cdx, warc := member(t, z, "indexes/index.cdx.gz"), member(t, z, "archive/many.warc.gz")
	seen := 0
	var unzip gzip.Reader
	second := strings.Split(strings.TrimSpace(string(member(t, z, "indexes/index.idx"))), "\n")
	if len(second) != 4 || !strings.HasPrefix(second[0], "!meta 0 ") {
		t.Fatalf("the second index has %d lines, want 4: %q", len(second), second[0])
	}
	for _, line := range second[1:] {
		key, object, _ := strings.Cut(line, " {")
		var block struct{ Offset, Length int64 }
		archivetest.Must(t, json.Unmarshal([]byte("{"+object), &block))
		r, err := gzip.NewReader(strings.NewReader(string(cdx[block.Offset : block.Offset+block.Length])))
		archivetest.Must(t, err)
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(text), key+" {") {
			t.Fatalf("block at %d begins with %.60q, %v, want %q", block.Offset, text, err, key)
		}
		for line := range strings.Lines(string(text)) {
			e, err := index.ParseEntry(line)
			archivetest.Must(t, err)
			archivetest.Must(t, unzip.Reset(bytes.NewReader(warc[e.Offset:e.Offset+e.Length])))
			record, err := io.ReadAll(&unzip)
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

// TestDatapackageAcceptsThePackage lets npm's datapackage validate the descriptor, and checks that it reports an
// invalid one.
func TestDatapackageAcceptsThePackage(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l, _ := archivetest.Three(t)
	z, _ := packed(t, l.Files()[1:], Options{From: Sources{Paths: []string{l.Dir}}})
	text := member(t, z, "datapackage.json")
	if faults := foreign.DataPackage(t, archivetest.Save(t, "datapackage.json", text)); len(faults) > 0 {
		t.Errorf("datapackage reports %q for %s", faults, text)
	}
	if got := resourceName("archive/NLX Köln_1.warc.gz"); got != "nlx-k-ln_1.warc.gz" {
		t.Errorf("the name of a resource is %s", got)
	}
	bad := bytes.Replace(text, []byte(`"name": "index.cdx.gz"`), []byte(`"name": "Index CDX"`), 1)
	if faults := foreign.DataPackage(t, archivetest.Save(t, "datapackage.json", bad)); len(faults) == 0 {
		t.Error("datapackage accepts an invalid name")
	}
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }
