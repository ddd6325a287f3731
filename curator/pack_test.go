package curator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// library is an archive with a store of packages.
type library struct {
	*archived
	o     packOptions
	store *packStore
	free  int64
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{archived: newArchived(t), free: 1 << 40}
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	archivetest.Must(t, os.WriteFile(path, []byte(
		"[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n[seeds]\nuris = [\"http://www.a.example/\"]\n"+
			"about = [{ uri = \"http://www.a.example/\", collections = [\"elections\"] }]\n"), 0o600))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	l.o = packOptions{
		Dir: t.TempDir(), Archive: l.reader, Config: func() *config.Config { return c },
		Hosts: func() []uri.Host { return []uri.Host{"www.a.example", "other.example", "cdn.example"} },
		Free:  func() (int64, error) { return l.free, nil }, Now: func() time.Time { return l.Now }, Software: "test",
	}
	l.store = openPackStore(l.o)
	t.Cleanup(l.store.Close)
	return l
}

// make orders a package and waits until it is done or failed.
func (l *library) make(o PackOrder) api.Package {
	l.T.Helper()
	ordered, err := l.store.Order(o)
	archivetest.Must(l.T, err)
	for range 30_000 {
		for _, p := range l.store.List().Packages {
			if p.Name == ordered.Name && (p.State == "done" || p.State == "failed") {
				return p
			}
		}
		time.Sleep(10 * time.Millisecond) // the package is made in real time
	}
	l.T.Fatalf("the package is not done: %+v", l.store.List())
	return api.Package{}
}

// captures returns the captures in a package, as TIMESTAMP TYPE URI, after checking the package.
func (l *library) captures(p api.Package) (all []string) {
	l.T.Helper()
	file := filepath.Join(l.o.Dir, packFolder, p.Name)
	complain := func(f warc.Finding) error { return &f }
	if members, found := wacz.Check(file, nil); len(found) > 0 || len(members) != 1 {
		l.T.Errorf("the package is not whole: %v, %v", members, found)
	}
	folder := l.T.TempDir()
	archivetest.Must(l.T, os.Link(file, filepath.Join(folder, p.Name)))
	in, err := captures.OpenLibrary(l.T.Context(), folder, captures.Options{}, complain)
	archivetest.Must(l.T, err)
	defer in.Close() //nolint:errcheck // nothing was written
	archivetest.Must(l.T, in.EachBelow([]string{"example,"}, func(e index.Entry) error {
		list, err := in.History(e.URL)
		for _, c := range list {
			if c.Timestamp == e.Timestamp {
				all = append(all, fmt.Sprint(e.Timestamp[6:10], " ", c.Type, " ", e.URL))
			}
		}
		return err
	}))
	slices.Sort(all)
	return slices.Compact(all)
}

const (
	site    = "http://www.a.example/"
	cssHead = "HTTP/1.1 200 OK\r\nContent-Type: text/css"
	pngHead = "HTTP/1.1 200 OK\r\nContent-Type: image/png"
	showing = `<p><link rel=stylesheet href="/s.css"><img src="http://cdn.example/i.png">` +
		`<img src="http://cdn.example/gone.png"><a href="/next">`
	moved    = "HTTP/1.1 301 Moved\r\nLocation: http://cdn.example/there.png"
	nextPage = "http://www.a.example/next"
)

// fill archives a page with a style sheet, whose background is on another host, a picture that was moved, a page that
// it does not show, and a page of another site. The page is visited three times; the last time it is a revisit.
func (l *library) fill() (first, last digest.Origin) {
	first = l.add(l.Page(site, archivetest.HTMLHead, showing+"one"), "text/html", 200) // 09:00
	l.add(l.Page(site+"s.css", cssHead, "p{background:url(http://cdn.example/b.png)}"), "text/css", 200)
	l.add(l.Page("http://cdn.example/b.png", pngHead, "background"), "image/png", 200)
	l.add(l.Page("http://cdn.example/i.png", moved, ""), "", 301)
	l.add(l.Page("http://cdn.example/there.png", pngHead, "picture"), "image/png", 200)
	l.add(l.Page(nextPage, archivetest.HTMLHead, "next"), "text/html", 200) // 14:00
	l.add(l.Page("http://other.example/", archivetest.HTMLHead, "other"), "text/html", 200)
	l.add(l.Page(site, archivetest.HTMLHead, showing+"two"), "text/html", 200) // 16:00
	last = l.add(l.Revisit(site, archivetest.HTMLHead, first), index.RevisitMIME, 200)
	return first, last
}

// TestAVersionIsPackedWithWhatItShows packs a revisit. An earlier capture, which is not chosen, has its payload.
func TestAVersionIsPackedWithWhatItShows(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	_, last := l.fill()
	p := l.make(PackOrder{URI: site, At: stamp(last)})
	want := []string{
		"2110 response http://www.a.example/s.css", "2111 response http://cdn.example/b.png",
		"2112 response http://cdn.example/i.png", "2113 response http://cdn.example/there.png",
		"2117 response http://www.a.example/",
	}
	if got := l.captures(p); !slices.Equal(got, want) {
		t.Errorf("the package has %q, want %q", got, want)
	}
	if p.Captures != len(want) || p.State != "done" || p.Problem != "" || len(p.Notes) > 0 || p.Size == 0 {
		t.Errorf("%+v", p)
	}
	got := httptest.NewRecorder()
	served := l.store.ServeFile(got, httptest.NewRequest(http.MethodGet, p.Link, nil), p.Name)
	if !served || int64(got.Body.Len()) != p.Size {
		t.Errorf("the file has %d bytes, want %d", got.Body.Len(), p.Size)
	}
	if h := got.Header(); !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("the header is %v", h)
	}
	for _, name := range []string{"../arcrawl.toml", "no.wacz", ""} {
		if l.store.ServeFile(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), name) {
			t.Errorf("%q is served", name)
		}
	}
}

// TestACollectionIsPackedByDays packs the first day, and the second one, which has only a revisit.
func TestACollectionIsPackedByDays(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first, _ := l.fill()
	l.Now = l.Now.AddDate(0, 0, 1)
	l.add(l.NotModified(site, first), index.RevisitMIME, 304)
	all := l.make(PackOrder{Collection: "elections", Until: "2026-11-21"})
	if got := l.captures(all); len(got) != 8 || all.Captures != 8 || strings.Contains(strings.Join(got, " "), "other.example") {
		t.Errorf("the first day has %q, want the pages of the site and what they show on cdn.example", got)
	}
	second := l.make(PackOrder{Collection: "elections", Since: "2026-11-22"})
	got := l.captures(second)
	if len(got) != 5 || !slices.Contains(got, "2218 response http://www.a.example/") {
		t.Errorf("the second day has %q, want the page and what it shows", got)
	}
	none := l.make(PackOrder{Collection: "elections", Since: "2027-01-01"})
	if none.State != "failed" || !strings.Contains(none.Problem, "no capture") || none.Link != "" {
		t.Errorf("a period without captures: %+v", none)
	}
}

// TestAPackageHasOneSeries chooses captures of files under an embargo and of others. A package that would have both is
// refused, and a page takes no picture with it that is under the embargo.
func TestAPackageHasOneSeries(t *testing.T) {
	t.Parallel()
	const free, embargo = "arcrawl-20261121090000000-00001-h.warc.gz", "arcrawl-embargo-20261121090000000-00001-h.warc.gz"
	for _, c := range []struct {
		name, series   string
		chosen, embeds []string // files of the captures
		want, others   int
		refused        bool
	}{
		{"all of none", "", []string{free, free}, nil, 2, 0, false},
		{"all of one", "", []string{embargo}, nil, 1, 0, false},
		{"both", "", []string{free, embargo}, nil, 1, 0, true},
		{"both, and one is named", "embargo", []string{free, embargo}, nil, 1, 1, false},
		{"both, and none is named", "-", []string{free, embargo}, []string{free}, 2, 1, false},
		{"a picture under the embargo", "", []string{free}, []string{embargo, free}, 2, 1, false},
	} {
		g := gathering{choice: choice{series: c.series}, looked: map[string]bool{}}
		var err error
		for i, file := range append(c.chosen, c.embeds...) {
			err = errors.Join(err, g.add(index.Entry{Filename: file}, i >= len(c.chosen)))
		}
		if len(g.entries) != c.want || g.others != c.others || (err != nil) != c.refused {
			t.Errorf("%s: %d captures, %d of other series, %v", c.name, len(g.entries), g.others, err)
		}
	}
}

// TestOrdersOfPackagesAreRefusedWithAReason makes orders that are wrong, too large for a browser or for the disk.
func TestOrdersOfPackagesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first, _ := l.fill()
	for want, o := range map[string]PackOrder{
		"choose a collection":    {},
		"write it as 2026-11-01": {Label: "x", Since: "1.11.2026"},
		"the last day is before": {Label: "x", Since: "2026-11-02", Until: "2026-11-01"},
		`uri "mailto:x"`:         {URI: "mailto:x"},
		"want 14 digits":         {URI: site, At: "yesterday"},
	} {
		if _, err := l.store.Order(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	l.free = 1e9
	if p := l.make(PackOrder{URI: site}); p.State != "failed" || !strings.Contains(p.Problem, "storage.min_free") {
		t.Errorf("without disk space: %+v", p)
	}
	l.free = 1 << 40
	for i := range maxPackCaptures + 1 {
		o := first
		o.URI = site + strconv.Itoa(i)
		l.add(o, "image/png", 200)
	}
	p := l.make(PackOrder{Collection: "elections", Until: "2026-11-21"})
	want := `arcrawl wacz -o elections-2026-11-21.wacz --collection "elections" --until 2026-11-21 --self-contained`
	if p.State != "failed" || !strings.Contains(p.Problem, want) {
		t.Errorf("too many captures: %+v, want %q", p, want)
	}
}

// TestThePayloadsOfRevisitsNeedRoomToo packs a small revisit whose payload is in a large record, on a disk with room
// for the first only.
func TestThePayloadsOfRevisitsNeedRoomToo(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	large := make([]byte, 200<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(large) // never fails
	first := l.add(l.Page(site, pngHead, string(large)), "image/png", 200)
	l.Now = l.Now.AddDate(0, 0, 1)
	last := l.add(l.NotModified(site, first), index.RevisitMIME, 304)
	l.free = 1e9 + 100<<10 // storage.min_free, and some
	if p := l.make(PackOrder{URI: site, At: stamp(last)}); p.State != "failed" || !strings.Contains(p.Problem, "storage.min_free") {
		t.Errorf("without disk space for the payload: %+v", p)
	}
	l.free = 1e9 + 1<<20
	if p := l.make(PackOrder{URI: site, At: stamp(last)}); p.State != "done" {
		t.Errorf("with disk space: %+v", p)
	}
}

// TestAPackageOfAFileThatIsGoneSaysWhy orders packages of captures whose file is gone. Captures in other files are
// packed, with a note.
func TestAPackageOfAFileThatIsGoneSaysWhy(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first, _ := l.fill()
	l.Seal()
	gone := l.Files()[0]
	names := "Not in the folder of the archive: " + filepath.Base(gone) + ". Bring back"
	archivetest.Must(t, os.Rename(gone, gone+".away"))
	l.add(l.Page(nextPage+"/2", archivetest.HTMLHead, "next"), "text/html", 200)
	if p := l.make(PackOrder{URI: site}); p.State != "failed" ||
		!strings.Contains(p.Problem, "can be read") || !strings.Contains(p.Problem, names) {
		t.Errorf("of a file that is gone: %+v", p)
	}
	if p := l.make(PackOrder{URI: nextPage + "/2"}); p.State != "done" || len(l.captures(p)) != 1 {
		t.Errorf("of another file: %+v", p)
	}
	p := l.make(PackOrder{Collection: "elections"})
	notes := strings.Join(p.Notes, " ")
	if p.State != "done" || !strings.Contains(notes, "could not be read") || !strings.Contains(notes, names) ||
		len(l.captures(p)) != 1 {
		t.Errorf("of both files: %+v", p)
	}
	lone := l.add(l.Revisit(nextPage+"/3", archivetest.HTMLHead, first), index.RevisitMIME, 200)
	p = l.make(PackOrder{URI: nextPage + "/3", At: stamp(lone)})
	notes = strings.Join(p.Notes, " ")
	if p.State != "done" || !strings.HasPrefix(notes, "1 capture could not be read") || !strings.Contains(notes, names) {
		t.Errorf("of a revisit whose original is in a file that is gone: %+v", p)
	}
	left, err := os.ReadDir(filepath.Join(l.o.Dir, packFolder))
	for _, f := range left {
		if strings.HasPrefix(f.Name(), ".") {
			t.Errorf("%s is left, %v", f.Name(), err)
		}
	}
}

// TestPackagesAreKeptUpToABound makes more packages than are kept, and opens the store again.
func TestPackagesAreKeptUpToABound(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.fill()
	const made, kept = 7, 5
	for range made {
		l.make(PackOrder{URI: nextPage})
	}
	l.store.Close()
	archivetest.Must(t, os.Mkdir(filepath.Join(l.o.Dir, packFolder, ".work-1"), 0o700))
	again := openPackStore(l.o)
	defer again.Close()
	for name, s := range map[string]*packStore{"the store": l.store, "the store that was opened again": again} {
		if n := len(s.List().Packages); n != kept {
			t.Errorf("%s lists %d packages, want %d", name, n, kept)
		}
	}
	files, err := os.ReadDir(filepath.Join(l.o.Dir, packFolder))
	if err != nil || len(files) != kept {
		t.Errorf("the folder has %d files, %v", len(files), err)
	}
	if _, err := again.Order(PackOrder{URI: site}); err != nil {
		t.Error(err)
	}
}

// TestFewPackagesWait orders more packages than may wait.
func TestFewPackagesWait(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.fill()
	var err error
	for range 50 {
		if _, err = l.store.Order(PackOrder{URI: site}); err != nil {
			break
		}
	}
	if !errors.Is(err, errBusy) {
		t.Errorf("fifty orders: %v", err)
	}
	l.store.Close() // does not wait for all of them
	for _, p := range l.store.List().Packages {
		if p.State == "choosing" || p.State == "copying" {
			t.Errorf("after the end: %+v", p)
		}
	}
}

// TestANodePacksAllThatItHas packs a collection on a node that does not crawl the host any more.
func TestANodePacksAllThatItHas(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.o.Hosts, l.o.Node = func() []uri.Host { return nil }, "b"
	l.store = openPackStore(l.o)
	t.Cleanup(l.store.Close)
	l.add(l.Page(site, archivetest.HTMLHead, "of the collection"), "text/html", 200)
	l.add(l.Page("http://other.example/", archivetest.HTMLHead, "of no collection"), "text/html", 200)
	p := l.make(PackOrder{Collection: "elections"})
	if p.State != "done" || p.Captures != 1 || p.Node != "b" || !strings.Contains(strings.Join(p.Notes, " "), "what node b has archived") {
		t.Errorf("the package is %+v", p)
	}
}
