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
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// bucketOf returns an S3 server with the bucket "web" and its objects, by key. It answers like MinIO.
func bucketOf(t *testing.T, objects map[string]string) (address string) {
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
	address := bucketOf(t, objects)
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
			line, err := json.Marshal(keep.Uploaded{
				File: name, Bucket: config.Upload{Endpoint: address, Bucket: "web"}.Place(), Key: "crawl/" + name,
				Size: e.Size, SHA256: e.SHA256, At: archivetest.Start,
			})
			archivetest.Must(t, err)
			fmt.Fprintf(&list, "%s\n", line)
		}
	}
	archivetest.Must(t, m.Close())
	daemontest.WriteFile(t, filepath.Join(lib.Dir, keep.ListName), list.String()+`{"file":"cut-by-a-cra`)
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
	if code, _, errs := command("index", "-o", index, lib.Dir); code != 0 {
		t.Fatal(errs)
	}
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
	list := filepath.Join(lib.Dir, keep.ListName)
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

	if code, out, errs := command("verify", "--elsewhere", list, lib.Dir); code != 0 {
		t.Errorf("verify: exit code %d\n%s%s", code, out, errs)
	}
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
