package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestFaultsOfAPackageAreReported(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	pack := filepath.Join(t.TempDir(), "x.wacz")
	packFiles(t, pack, l.Files())
	found, sum := verified(t, VerifyOptions{}, pack)
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
			found, _ := verified(t, VerifyOptions{}, repacked(t, pack, row.edit))
			told := ""
			for _, f := range found {
				told += f.Error() + "\n"
			}
			if !strings.Contains(told, row.want) {
				t.Errorf("found %s, want a finding with %q", told, row.want)
			}
		})
	}
	if found, _ := verified(t, VerifyOptions{}, archivetest.Save(t, "x.wacz", []byte("PK and no more"))); len(found) != 1 || found[0].Kind != warc.Manifest {
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
	found, sum := verified(t, VerifyOptions{}, l.Dir)
	if len(found) > 0 || sum.Files != 2 || sum.Records["response"] != 6 {
		t.Errorf("a folder with a package: %v, %v", sum, found)
	}
	lone := archivetest.Save(t, "revisit.warc.gz", archivetest.Zipped(t, archivetest.Info, strings.Replace(archivetest.Plain(archivetest.Fields("revisit", "again", "WARC-Target-URI: http://www.a.example/",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To-Target-URI: http://www.a.example/",
		"WARC-Refers-To-Date: "+archivetest.Start.Format(warc.DateLayout)), ""), "T09:", "T20:", 1)))
	if found, _ := verified(t, VerifyOptions{Known: []string{filepath.Dir(pack)}}, lone); len(found) > 0 {
		t.Errorf("the original in a known package is not found: %v", found)
	}
	archivetest.Must(t, os.Rename(repacked(t, pack, func(n string, b []byte) (string, []byte) {
		if strings.HasPrefix(n, "archive/") {
			b = archivetest.Zipped(t, string(bytes.Replace(archivetest.Unzipped(t, l.Files()[0]), []byte("<p>two</p>"), []byte("<p>TWO</p>"), 1)))
		}
		return n, b
	}), pack))
	kinds := map[warc.Kind]int{}
	found, _ = verified(t, VerifyOptions{}, l.Dir)
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
	found, _ = verified(t, VerifyOptions{}, forged, filepath.Join(l.Dir, "x.warc.gz"))
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
	for name, o := range map[string]captures.Options{
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
			l, err := captures.OpenLibrary(t.Context(), folder, o, noFinding)
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
			found, sum := verified(t, VerifyOptions{}, out)
			renamed := func(f warc.Finding) bool { return f.Kind == warc.NoInfo }
			found = slices.DeleteFunc(found, renamed)
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

const (
	trixTarget = "https://a.example/"
	trixBody   = "<p>archived by Browsertrix</p>"
	trixPack   = "dedupe-test-orig.wacz"
)

// trixRecord returns a capture with the fields that Browsertrix Crawler writes.
func trixRecord(kind, date, block string, more ...string) string {
	id := map[string]string{"response": "02", "revisit": "03"}[kind]
	sum, payload := sha256.Sum256([]byte(block)), sha256.Sum256([]byte(trixBody))
	return archivetest.Plain(append([]string{
		"WARC-Page-ID: 1b2c3d4e-0000-4000-8000-000000000001", "WARC-Protocol: h2", "WARC-Protocol: tls/1.3",
		"WARC-Resource-Type: document", `WARC-JSON-Metadata: {"ipType":"Public"}`,
		"WARC-Record-ID: <urn:uuid:1b2c3d4e-0000-4000-8000-0000000000" + id + ">",
		"WARC-Target-URI: " + trixTarget, "WARC-Date: " + date, "WARC-Type: " + kind,
		"Content-Type: application/http; msgtype=response",
		"WARC-Payload-Digest: sha256:" + hex.EncodeToString(payload[:]),
		"WARC-Block-Digest: sha256:" + hex.EncodeToString(sum[:]),
	}, more...), block)
}

// TestARevisitOfBrowsertrixLeadsIntoItsPackage has a revisit as Browsertrix Crawler writes it for a payload in a
// package of another crawl: WARC-Refers-To-Container is the name of the package behind file://.
func TestARevisitOfBrowsertrixLeadsIntoItsPackage(t *testing.T) {
	t.Parallel()
	const was = "2026-03-01T10:00:00.250Z"
	head := archivetest.HTMLHead + "\r\n\r\n"
	before := archivetest.Save(t, "rec-orig.warc.gz",
		archivetest.Zipped(t, archivetest.Info, trixRecord("response", was, head+trixBody)))
	pack := filepath.Join(t.TempDir(), trixPack)
	packFiles(t, pack, []string{before})
	file := archivetest.Save(t, "rec-dupe.warc.gz", archivetest.Zipped(t, archivetest.Info,
		trixRecord("revisit", "2026-03-08T10:00:00.750Z", head,
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
			"WARC-Refers-To-Target-URI: "+trixTarget, "WARC-Refers-To-Date: "+was,
			"WARC-Refers-To-Container: file://"+trixPack)))
	dir, name := filepath.Split(file)

	alone, err := depend.New(t.Context(), []string{dir}, nil, noFinding)
	archivetest.Must(t, err)
	covered, err := depend.Open(t.Context(), dir, depend.Options{}, noFinding)
	archivetest.Must(t, err)
	for who, s := range map[string]interface {
		Dependencies(names []string) ([]depend.Dependencies, error)
	}{"the files": alone, "the index": covered} {
		all, err := s.Dependencies([]string{name})
		archivetest.Must(t, err)
		want := []depend.Dependency{{File: trixPack, Revisits: 1}}
		if d := all[0]; d.Missing != 1 || !slices.Equal(d.Packages, want) {
			t.Errorf("without the package, %s say %+v; want one missing original in %s", who, d, trixPack)
		}
	}
	archivetest.Must(t, covered.Close())

	both, err := depend.New(t.Context(), []string{dir, pack}, nil, noFinding)
	archivetest.Must(t, err)
	all, err := both.Dependencies([]string{name})
	archivetest.Must(t, err)
	if d := all[0]; d.Missing != 0 || len(d.Needs) != 1 || d.Needs[0].File != trixPack+"/archive/rec-orig.warc.gz" {
		t.Errorf("with the package, the dependencies are %+v", d)
	}

	l, err := captures.OpenLibrary(t.Context(), dir, captures.Options{Outside: []string{pack}}, noFinding)
	archivetest.Must(t, err)
	captures, err := l.History(trixTarget)
	archivetest.Must(t, err)
	if len(captures) != 2 {
		t.Fatalf("the captures are %v, want two", captures)
	}
	for _, c := range captures {
		p, err := l.Payload(t.Context(), c, true)
		archivetest.Must(t, err)
		b, err := io.ReadAll(p)
		if err = errors.Join(err, p.Close()); err != nil || string(b) != trixBody {
			t.Errorf("the capture in %s has the payload %q, %v", c.Filename, b, err)
		}
	}
	archivetest.Must(t, l.Close())
	if found, _ := verified(t, VerifyOptions{}, dir, pack); len(found) > 0 {
		t.Errorf("verify finds %v", found)
	}
}

// bareArchive returns a folder with two files of captures, as Heritrix 3.1.1 wrote them: its revisits name neither a
// record id nor URI and date.
func bareArchive(t *testing.T) (dir string) {
	t.Helper()
	head := archivetest.HTMLHead + "\r\n\r\n"
	record := func(kind string, second int, target, body string) string {
		block, profile := head+body, ""
		if kind == "revisit" {
			block, profile = head, "\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
		}
		text := archivetest.Plain([]string{
			"WARC-Type: " + kind, fmt.Sprintf("WARC-Record-ID: <urn:x:%s-%d>", kind, second),
			fmt.Sprintf("WARC-Date: 2014-03-25T12:12:%02dZ", second), "WARC-Target-URI: " + target,
			"Content-Type: application/http; msgtype=response",
			"WARC-Payload-Digest: " + digest.Of([]byte(body)).String() + profile,
		}, block)
		return strings.Replace(text, "WARC/1.1", "WARC/1.0", 1)
	}
	const page, copied = "http://a.example/", "http://b.example/copy"
	first := archivetest.Zipped(t, archivetest.Info,
		record("response", 1, page, "one"), record("response", 2, page, "two"), record("response", 3, page, "one"),
		record("response", 4, copied, "other"),
	)
	second := archivetest.Zipped(t, strings.Replace(archivetest.Info, ":info>", ":info2>", 1),
		record("revisit", 10, page, "one"), record("revisit", 11, page, "two"),
		record("response", 20, page, "late"), record("response", 21, page, "one"),
		record("revisit", 12, page, "late"),  // only a later capture has it
		record("revisit", 13, page, "other"), // only another URI has it
	)
	path := archivetest.Save(t, "1.warc.gz", first)
	archivetest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "2.warc.gz"), second, 0o600))
	return filepath.Dir(path)
}

// A revisit that names nothing has the last earlier capture of its URI with the same payload as its original.
func TestARevisitThatNamesNothingFindsItsOriginalByPayload(t *testing.T) {
	t.Parallel()
	dir := bareArchive(t)
	var unresolved []string
	_, err := Verify(t.Context(), []string{dir}, VerifyOptions{}, func(f warc.Finding) error {
		if f.Severity == warc.Error {
			unresolved = append(unresolved, string(f.Kind)+" "+f.Record)
		}
		return nil
	})
	archivetest.Must(t, err)
	want := "revisit-unresolved urn:x:revisit-12, revisit-unresolved urn:x:revisit-13"
	if got := strings.Join(unresolved, ", "); got != want {
		t.Errorf("verify reports %s, want %s", got, want)
	}

	none := func(f warc.Finding) error { return &f }
	s, err := depend.New(t.Context(), []string{dir}, nil, none)
	archivetest.Must(t, err)
	originals := map[string]string{}
	for i, c := range s.All() {
		if !c.IsRevisit {
			continue
		}
		originals[s.IDOf(i)] = "missing"
		if o := s.Original(i); o >= 0 {
			originals[s.IDOf(i)] = s.IDOf(o)
		}
	}
	for revisit, original := range map[string]string{
		"urn:x:revisit-10": "urn:x:response-3", "urn:x:revisit-11": "urn:x:response-2",
		"urn:x:revisit-12": "missing", "urn:x:revisit-13": "missing",
	} {
		if originals[revisit] != original {
			t.Errorf("the survey has %s as the original of %s, want %s", originals[revisit], revisit, original)
		}
	}

	for _, indexed := range []bool{false, true} {
		if indexed {
			to := filepath.Join(dir, index.FileName)
			_, err := index.WriteFile(t.Context(), []string{dir}, index.Options{}, to, nil)
			archivetest.Must(t, err)
		}
		l, err := captures.OpenLibrary(t.Context(), dir, captures.Options{}, none)
		archivetest.Must(t, err)
		checkBare(t, l)
		archivetest.Must(t, l.Close())
	}

	left, out := 0, filepath.Join(t.TempDir(), "new")
	sum, err := rewrite.Files(t.Context(), []string{filepath.Join(dir, "2.warc.gz")},
		rewrite.Options{Out: out, From: []string{dir}}, func(f warc.Finding) error {
			if f.Kind != warc.NoOriginal {
				return &f
			}
			left++
			return nil
		})
	archivetest.Must(t, err)
	if sum.Filled != 2 || left != 2 {
		t.Errorf("reduplicate made %d responses and left %d revisits, want 2 and 2", sum.Filled, left)
	}
}

// checkBare compares what the library shows for revisits that name nothing.
func checkBare(t *testing.T, l *captures.Library) {
	t.Helper()
	captures, err := l.History("http://a.example/")
	archivetest.Must(t, err)
	want := map[string]string{"urn:x:revisit-10": "one", "urn:x:revisit-11": "two", "urn:x:revisit-12": "", "urn:x:revisit-13": ""}
	for _, c := range captures {
		text, ok := want[c.RecordID]
		if !ok {
			continue
		}
		delete(want, c.RecordID)
		p, err := l.Payload(t.Context(), c, true)
		if err != nil {
			if text != "" || !strings.Contains(err.Error(), "names no original") {
				t.Errorf("the payload of %s: %v", c.RecordID, err)
			}
			continue
		}
		body, err := io.ReadAll(p)
		archivetest.Must(t, err)
		archivetest.Must(t, p.Close())
		if string(body) != text {
			t.Errorf("the payload of %s is %q, want %q", c.RecordID, body, text)
		}
	}
	if len(want) > 0 {
		t.Errorf("the history lacks %v", want)
	}
}

// Files of Heritrix 1 have the versions of drafts. They are read like others, and cause one warning.
func TestDraftsOfTheFormatAreRead(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.17": "warning 0.17", "0.18": "warning 0.18", "0.9": "error error", "2.0": "error error",
	} {
		texts := []string{archivetest.Info, archivetest.Response("1", "http://a.example/", archivetest.HTMLHead, "one")}
		for i := range texts {
			texts[i] = strings.Replace(texts[i], "WARC/1.1", "WARC/"+version, 1)
		}
		var got []string
		_, err := Verify(t.Context(), []string{archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, texts...))}, VerifyOptions{},
			func(f warc.Finding) error {
				if f.Kind != warc.BadVersion {
					return &f
				}
				if got = append(got, string(f.Severity)); f.Severity == warc.Warning {
					got = append(got, version)
				}
				return nil
			})
		archivetest.Must(t, err)
		if strings.Join(got, " ") != want {
			t.Errorf("the version %s causes %v, want %s", version, got, want)
		}
	}
}

// Records of https have WARC-Protocol twice: for HTTP and for TLS. Before, each was an error, and cat showed none.
func TestRecordsOfHTTPSHaveTwoProtocols(t *testing.T) {
	t.Parallel()
	l := archivetest.Versioned(t)
	sum, err := Verify(t.Context(), []string{l.Dir}, VerifyOptions{}, func(f warc.Finding) error { return &f })
	if err != nil || sum.Errors+sum.Warnings > 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if text := string(archivetest.Unzipped(t, l.Files()[0])); !strings.Contains(text, "WARC-Protocol: tls/1.3\r\n") {
		t.Error("the archive has no record of https")
	}
}

// TestARevisitWithoutRecordIDFindsItsVersionWithinASecond reads files of Browsertrix's kind: three versions of a URI
// within a second, and revisits that name only its URI and a date.
func TestARevisitWithoutRecordIDFindsItsVersionWithinASecond(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/"
	for name, refersTo := range map[string]string{
		"the date of the version":    "2026-11-21T09:00:00.200Z",
		"the date without fractions": "2026-11-21T09:00:00Z",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := []string{archivetest.Info}
			at := func(id string, ms int) []string {
				return []string{
					"WARC-Record-ID: <urn:x:" + id + ">", fmt.Sprintf("WARC-Date: 2026-11-21T09:00:00.%03dZ", ms), "WARC-Target-URI: " + target,
					"Content-Type: application/http;msgtype=response",
				}
			}
			body := func(version int) string { return fmt.Sprintf("<p>version %d</p>", version) }
			for version := range 3 {
				block := archivetest.HTMLHead + "\r\n\r\n" + body(version)
				records = append(records, archivetest.Plain(append([]string{
					"WARC-Type: response", "WARC-Block-Digest: " + digest.Of([]byte(block)).String(),
					"WARC-Payload-Digest: " + digest.Of([]byte(body(version))).String(),
				}, at(fmt.Sprint(version), 100*(version+1))...), block))
			}
			head := archivetest.HTMLHead + "\r\n\r\n"
			records = append(records, archivetest.Plain(append([]string{
				"WARC-Type: revisit", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
				"WARC-Refers-To-Target-URI: " + target, "WARC-Refers-To-Date: " + refersTo,
				"WARC-Block-Digest: " + digest.Of([]byte(head)).String(), "WARC-Payload-Digest: " + digest.Of([]byte(body(1))).String(),
			}, at("revisit", 900)...), head))
			file := archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, records...))
			none := func(f warc.Finding) error { return &f }

			_, err := Verify(t.Context(), []string{file}, VerifyOptions{}, none)
			archivetest.Must(t, err)

			s, err := depend.New(t.Context(), []string{file}, nil, none)
			archivetest.Must(t, err)
			if o := s.Original(3); o != 1 {
				t.Errorf("the survey has the original %d, want 1", o)
			}

			l, err := captures.OpenLibrary(t.Context(), filepath.Dir(file), captures.Options{}, none)
			archivetest.Must(t, err)
			captures, err := l.History(target)
			archivetest.Must(t, err)
			original, err := l.Original(t.Context(), captures[3])
			archivetest.Must(t, err)
			if original.RecordID != "urn:x:1" {
				t.Errorf("the library has the original %s, want urn:x:1", original.RecordID)
			}
			archivetest.Must(t, l.Close())

			sum, err := rewrite.Files(t.Context(), []string{file}, rewrite.Options{Out: t.TempDir(), All: true}, none)
			if err != nil || sum.Filled != 1 {
				t.Errorf("reduplicate filled %d revisits, %v; want 1", sum.Filled, err)
			}
		})
	}
}
