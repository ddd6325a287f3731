package curator

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// world is a crawl of a scripted web and the window that monitors it. It runs in a synctest bubble with virtual time.
type world struct {
	*testcrawl.World
	window   *admin.Window
	curation *curation // of the window
}

const everyHour = testcrawl.EveryHour

// withoutSeeds is everyHour without its seeds.
var withoutSeeds, _, _ = strings.Cut(everyHour, "[seeds]")

// withGit is everyHour in a repository, which gets what changes in the dashboard.
var withGit = strings.Replace(everyHour, "[seeds]", "[admin]\ngit = true\n\n[seeds]", 1)

// hostFiles writes the files of hosts, "a" for a.example, to a new folder of a configuration, and returns that.
func hostFiles(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "hosts.d", name+".example.toml"), []byte(text), 0o640))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostFile returns the path of the file of a host.
func (w *world) hostFile(name string) string {
	return w.Path("hosts.d/" + name + ".example.toml")
}

// newWorld opens a crawl with its seeds; change may alter the window's options.
func newWorld(t testing.TB, dir, toml string, change ...func(*admin.Options)) *world {
	t.Helper()
	w := &world{World: testcrawl.NewWorld(t, dir, toml), curation: new(curation)}
	r := w.Parts
	o := admin.Options{
		Crawler: w.Crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily,
		Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() admin.Loaded { return admin.Loaded{Config: r.Config.Current(), At: w.Started} }, Now: time.Now,
		Version: "test", Workers: 50, Log: r.Log,
		Extensions: []admin.Extension{w.curation.extension()},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	w.window, err = admin.New(o)
	w.Must(err)
	w.Window, w.Handler = w.window, w.window.Handler(access.Options{})
	w.AddSeeds()
	return w
}

// shows lets the pages show the captures of an index.
func (w *world) shows(live *index.Live) {
	w.curation.catalog.Archive = captures.NewLiveReader(live)
	w.curation.packs.Close()
	w.curation.packs = w.curation.openPacks()
}

// serve returns the answer to a request, which must succeed.
func (w *world) serve(method, path, body string) []byte {
	w.Helper()
	got := httptest.NewRecorder()
	w.window.Handler(access.Options{}).ServeHTTP(got, httptest.NewRequest(method, path, strings.NewReader(body)))
	if got.Code != http.StatusOK {
		w.Fatalf("%s %s: %d %s", method, path, got.Code, got.Body)
	}
	return got.Body.Bytes()
}

// get sends a GET request that must succeed.
func get[A any](w *world, path string) A {
	w.Helper()
	return testcrawl.Get[A](w.World, path)
}

// post sends a POST request that must succeed.
func post[A any](w *world, path string, body any) A {
	w.Helper()
	return testcrawl.Post[A](w.World, path, body)
}
