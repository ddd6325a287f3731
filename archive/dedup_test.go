package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	importedPage = "<p>imported</p>"
	importedURI  = "http://old.example/"
)

// importedRecords returns the records of an earlier archive: a page, and a revisit of it.
func importedRecords() (original, revisit string) {
	const refersTo = "WARC-Refers-To: <urn:x:1>\r\nWARC-Refers-To-Target-URI: " + importedURI +
		"\r\nWARC-Refers-To-Date: 2026-11-21T09:00:00Z\r\nWARC-Target-URI: " + importedURI +
		"\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	revisit = archivetest.Plain(archivetest.Fields("revisit", "2", refersTo,
		"WARC-Payload-Digest: "+digest.Of([]byte(importedPage)).String()), "")
	return archivetest.Response("1", importedURI, archivetest.HTMLHead, importedPage), strings.Replace(revisit, "2026-11", "2026-12", 1)
}

// earlier writes an earlier archive: a WARC file, and a manifest with a package of it.
func earlier(t *testing.T) (dir, plain, manifest string) {
	t.Helper()
	dir = t.TempDir()
	original, revisit := importedRecords()
	plain, manifest = filepath.Join(dir, "b.warc"), filepath.Join(dir, "collection.json")
	daemontest.WriteFile(t, plain, archivetest.Info+original+revisit)
	line{[]string{"wacz", "-o", filepath.Join(dir, "d.wacz"), plain}, cli.ExitOK, nil}.run(t)
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"d.wacz","path":"d.wacz","crawlId":"crawl-7"}]}`)
	return dir, plain, manifest
}

// dedupStatus returns the imported files that dedup --json lists.
func dedupStatus(t *testing.T, conf string) []holding {
	t.Helper()
	code, out, errs := command("dedup", "-c", conf, "--json")
	var list []holding
	if err := json.Unmarshal([]byte(out), &list); code != cli.ExitOK || err != nil || len(list) == 0 || list[0].Name != "(this crawl)" {
		t.Fatalf("dedup: exit code %d, %v\n%s%s", code, err, out, errs)
	}
	return list[1:]
}

// TestDedupForgetsRemovedFiles removes a file, by its manifest and by its name, and purges its entries.
func TestDedupForgetsRemovedFiles(t *testing.T) {
	t.Parallel()
	dir, plain, manifest := earlier(t)
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	run := func(want int, says string, args ...string) {
		t.Helper()
		line{slices.Concat([]string{"dedup"}, args, []string{"-c", conf}), want, []string{says}}.run(t)
	}
	state := func(want string) {
		t.Helper()
		got := ""
		for _, h := range dedupStatus(t, conf) {
			got += fmt.Sprintf("%s %s %d; ", h.Name, h.State, h.Originals)
		}
		if got != want {
			t.Errorf("the index holds %s, want %s", got, want)
		}
	}
	run(cli.ExitOK, `{"summary":{"files":1,"known":0,"removed":0,"entries":1,"revisits":1,`, "import", "--json", manifest)
	run(cli.ExitOK, "crawl-7")
	daemontest.WriteFile(t, filepath.Join(dir, "other.warc.gz"), string(archivetest.Zipped(t, archivetest.Info, archivetest.Response("9", "http://old.example/9", archivetest.HTMLHead, "nine"))))
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"other.warc.gz"},{"name":"lost.wacz","path":"lost.wacz"}]}`)
	run(cli.ExitDamaged, filepath.Join(dir, "lost.wacz")+": error: the manifest names this file: stat: no such file or directory", "import", manifest)
	state("d.wacz active 1; other.warc.gz active 1; ")
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"other.warc.gz"}]}`)
	run(cli.ExitOK, "1 removed", "import", "--remove", manifest)
	state("d.wacz removed 1; other.warc.gz active 1; ")
	run(cli.ExitOK, "0 removed", "import", "--remove", manifest)
	run(cli.ExitUsage, "no imported file has the number or name none", "remove", "none")
	run(cli.ExitOK, "other.warc.gz: removed", "remove", "other.warc.gz")
	run(cli.ExitOK, "1 known before", "import", manifest) // it is taken back
	state("d.wacz removed 1; other.warc.gz active 1; ")
	run(cli.ExitOK, "entries deleted", "remove", "--purge")
	state("other.warc.gz active 1; ")
	run(cli.ExitOK, "0 entries deleted", "remove", "--purge")
	run(cli.ExitUsage, "valid formats: warc, arc, wacz", "import", "--as", "tape", manifest)
	run(cli.ExitOK, "1 file with 1 original", "import", "--as", "warc", "--crawl", "c9", plain)
	if list := dedupStatus(t, conf); len(list) != 2 || list[1].Crawl != "c9" {
		t.Errorf("the index holds %+v", list)
	}
	var says strings.Builder
	err := printImported(&says, importedFile{File: "a.warc", Resumed: true}, false)
	if err != nil || !strings.Contains(says.String(), "resumed an interrupted import") {
		t.Errorf("a file whose import was interrupted: %q, %v", says.String(), err)
	}
}

// TestDedupLostPrintsWhatIsLost declares the file with an original lost. Before that, the command prints its captures
// and the revisit in another file that needs it, by host and month.
func TestDedupLostPrintsWhatIsLost(t *testing.T) {
	t.Parallel()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	folder := filepath.Join(dir, "warc")
	archivetest.Must(t, os.MkdirAll(folder, 0o755))
	page, revisit := importedRecords()
	original, later := filepath.Join(folder, "first.warc.gz"), filepath.Join(folder, "second.warc.gz")
	daemontest.WriteFile(t, original, string(archivetest.Zipped(t, archivetest.Info, page)))
	daemontest.WriteFile(t, later, string(archivetest.Zipped(t, archivetest.Info, revisit)))
	run := func(args ...string) (out, errs string) {
		t.Helper()
		return line{args, cli.ExitOK, nil}.run(t)
	}
	c, err := config.Load(conf)
	archivetest.Must(t, err)
	f, err := daemon.MakeStore(t.Context(), c, time.Now(), false)
	if err == nil {
		err = f.Close()
	}
	archivetest.Must(t, err)
	if _, errs := run("dedup", "lost", "-c", conf, "--moved", later); errs != "" {
		t.Errorf("a file that was moved has an impact: %s", errs)
	}
	if _, errs := run("dedup", "lost", "-c", conf, original); !strings.Contains(errs, "the impact is not known") {
		t.Errorf("without an index it says %q", errs)
	}
	run("dedup", "lost", "-c", conf, "--found", original, later)
	run("index", "-o", filepath.Join(folder, "index.cdxj"), folder)
	archivetest.Must(t, os.Remove(original))
	out, errs := run("dedup", "lost", "-c", conf, original)
	rows := strings.Fields(out)
	for _, want := range []string{"old.example", "2026-11", "2026-12"} {
		if !slices.Contains(rows, want) {
			t.Errorf("%q is missing in\n%s%s", want, out, errs)
		}
	}
	if !strings.Contains(out, "1 file now lost; 0 URIs due") {
		t.Errorf("it says\n%s%s", out, errs)
	}
	if out, _ := run("dedup", "lost", "-c", conf); !strings.Contains(out, "first.warc.gz") || strings.Contains(out, "second") {
		t.Errorf("the list of losses is\n%s", out)
	}
}

// serveBucket returns an S3 server with the bucket "web" and its objects, by key. It answers like MinIO.
func serveBucket(t *testing.T, objects map[string]string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := objects[strings.TrimPrefix(r.URL.Path, "/web/")]
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 15:04:05 GMT")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// uploaded returns an archive of three files that the manifest lists. Two are in the list of uploaded files; the copy
// of the second differs. The first was moved to another folder, in addition.
func uploaded(t *testing.T) (lib *archivetest.Archive, elsewhere, conf string) {
	t.Helper()
	lib = archivetest.New(t)
	for _, page := range []string{"one", "two", "three"} {
		lib.Page("http://a.example/"+page, archivetest.HTMLHead, "<p>"+page+"</p>")
		lib.Seal()
	}
	m, err := fixity.Open(lib.Dir, archivetest.Start)
	archivetest.Must(t, err)
	objects, dir := map[string]string{}, t.TempDir()
	address := serveBucket(t, objects)
	var list strings.Builder
	for i, path := range lib.Files() {
		e, err := fixity.Measure(t.Context(), path, nil)
		archivetest.Must(t, err)
		name := filepath.Base(path)
		archivetest.Must(t, m.Add(name, e, archivetest.Start))
		text := archivetest.Read(t, path)
		if i == 1 {
			text = text[:60] + "x" + text[61:]
		}
		objects["crawl/"+name] = text
		if i < 2 {
			line, err := json.Marshal(uploadedFile{
				File: name, Bucket: address + "/web", Key: "crawl/" + name,
				Size: e.Size, SHA256: e.SHA256, At: archivetest.Start,
			})
			archivetest.Must(t, err)
			fmt.Fprintf(&list, "%s\n", line)
		}
	}
	archivetest.Must(t, m.Close())
	daemontest.WriteFile(t, filepath.Join(lib.Dir, uploadList), list.String()+`{"file":"cut-by-a-cra`)
	first := lib.Files()[0]
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "disk"), 0o700))
	elsewhere = filepath.Join(dir, "disk", filepath.Base(first))
	archivetest.Must(t, os.Rename(first, elsewhere))
	archivetest.Must(t, os.Symlink(elsewhere, first))
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	daemontest.WriteFile(t, filepath.Join(dir, "secrets", "s3"), "reader:swordfish")
	conf = filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, fmt.Sprintf("[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"+
		"[storage]\nwarc = %q\nfolders = [%q]\n#ELSEWHERE\n[upload]\nendpoint = %q\nbucket = \"web\"\nprefix = \"crawl/\"\nsecret = \"file:s3\"\n",
		lib.Dir, filepath.Join(dir, "disk"), address))
	return lib, elsewhere, conf
}

// A file is deleted here only if its copy in the bucket was read and is the same, and the crawl knows where it is.
func TestOnlyFilesWithAGoodCopyAreDeleted(t *testing.T) {
	t.Parallel()
	lib, moved, conf := uploaded(t)
	files := lib.Files()
	index := filepath.Join(lib.Dir, "index.cdxj")
	line{[]string{"index", "-o", index, lib.Dir}, cli.ExitOK, nil}.run(t)
	run := func(code int, says string, args ...string) {
		t.Helper()
		out, errs := line{append([]string{"offload", "--config", conf}, args...), code, []string{says}}.run(t)
		if strings.Contains(out+errs, "swordfish") {
			t.Error("the secret is shown")
		}
	}
	there := func(want ...bool) {
		t.Helper()
		for i, path := range append([]string{moved}, files...) {
			_, err := os.Lstat(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if is := err == nil; is != want[i] {
				t.Errorf("%s is there: %v, want %v", path, is, want[i])
			}
		}
	}
	run(1, "the daemon would take them for lost: set storage.elsewhere", files[0])
	text := archivetest.Read(t, conf)
	list := filepath.Join(lib.Dir, uploadList)
	daemontest.WriteFile(t, conf, strings.Replace(text, "#ELSEWHERE", fmt.Sprintf("elsewhere = [%q]", list), 1))
	run(0, "1 file of", "--dry-run", files[0])
	run(1, "0 files of", "--dry-run", files[1])
	there(true, true, true, true)

	same := filepath.Join(t.TempDir(), filepath.Base(files[0]))
	daemontest.WriteFile(t, same, "a file of another archive")
	run(1, "neither in storage.warc nor in storage.folders", same)
	keepsWhatTheBucketHasNot(t, run, files[0], moved)
	there(true, true, true, true)

	run(1, "name the configuration that the daemon uses", files[0])
	there(true, true, true, true)
	archivetest.Must(t, os.Mkdir(filepath.Join(filepath.Dir(conf), "state"), 0o700))
	run(1, "the file stays here", files[0], files[1])
	there(false, false, true, true)
	run(1, "it was not uploaded there yet", files[2])
	run(1, "the manifest of", "arcrawl-20260101000000000-00009-x.warc.gz.open")
	run(1, "it was deleted here before, or its disk is not mounted", files[0])
	there(false, false, true, true)

	line{[]string{"verify", "--elsewhere", list, lib.Dir}, cli.ExitOK, nil}.run(t)
	_, out, _ := command("history", "--warcs", lib.Dir, "http://a.example/one")
	if !strings.Contains(out, "elsewhere") {
		t.Errorf("the history is\n%s", out)
	}
	daemontest.WriteFile(t, conf, strings.Split(text, "[upload]")[0])
	run(1, "no [upload]", files[1])
}

// keepsWhatTheBucketHasNot changes a file that was moved, takes its disk away, and replaces its link. Nothing is
// deleted.
func keepsWhatTheBucketHasNot(t *testing.T, run func(code int, says string, args ...string), link, moved string) {
	t.Helper()
	text := archivetest.Read(t, moved)
	daemontest.WriteFile(t, moved, text+"more")
	run(1, "was changed since it was finished", link)
	archivetest.Must(t, os.Remove(moved))
	run(1, "mount its disk", link)
	daemontest.WriteFile(t, moved, text)
	other := filepath.Join(t.TempDir(), "master.warc.gz")
	daemontest.WriteFile(t, other, text)
	archivetest.Must(t, os.Remove(link))
	archivetest.Must(t, os.Symlink(other, link))
	run(1, "in no folder of storage.folders", link)
	if archivetest.Read(t, other) != text {
		t.Error("a file that the daemon has not moved was changed")
	}
	archivetest.Must(t, os.Remove(link))
	archivetest.Must(t, os.Symlink(moved, link))
}

// TestTheIndexOfAClusterIsNotChangedLikeTheIndexOfAStore asks what commands may do with the index that nodes share.
func TestTheIndexOfAClusterIsNotChangedLikeTheIndexOfAStore(t *testing.T) {
	t.Parallel()
	open := func(others frontier.Elsewhere) *frontier.Frontier {
		f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: time.Now(), Compactors: -1, Elsewhere: others})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	whole, part := open(nil), open(foreignHosts{})
	node := &config.Config{}
	node.Cluster.Database = "postgres://db/arcrawl"
	for _, row := range []struct {
		use   indexUse
		c     *config.Config
		f     *frontier.Frontier
		fault string // "" = none
		note  bool
	}{
		{counting, &config.Config{}, whole, "", false},
		{purging, &config.Config{}, whole, "", false},
		{counting, node, part, "", true},
		{filling, node, whole, "", false},
		{removing, node, whole, "", false},
		{purging, node, whole, "before you purge", false},
		{filling, node, part, "the crawl is divided", false},
		{removing, node, part, "the crawl is divided", false},
	} {
		var out strings.Builder
		err := row.use.permit(&out, row.c, row.f)
		if (err != nil) != (row.fault != "") || err != nil && !strings.Contains(err.Error(), row.fault) || (out.Len() > 0) != row.note {
			t.Errorf("use %d of a node: %t, divided: %t: %v, %q", row.use, row.c == node, row.f == part, err, &out)
		}
	}
}

// foreignHosts has all hosts.
type foreignHosts struct{ frontier.Elsewhere }

func (foreignHosts) Size() int64 { return 0 }

func (foreignHosts) Has(uri.Host) bool { return true }
