package captures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

func TestLookUpsFollowMerges(t *testing.T) {
	t.Parallel()
	a := archivetest.New(t)
	live, err := index.OpenLive(t.Context(), a.Dir, nil, noFinding)
	archivetest.Must(t, err)
	add := func(o digest.Origin, mime string) {
		archivetest.Must(t, live.Add(index.Entry{
			Key: uri.ReplayKey(o.URI), Timestamp: o.Date.Format(index.DateLayout), URL: o.URI, MIME: mime, Status: "200",
			Digest: o.Payload.String(), Length: o.Length, Offset: o.Offset, Filename: o.File,
		}))
	}
	fill := func(site string) { // three captures
		first := a.Page("http://"+site+"/", archivetest.HTMLHead, "<p>of "+site+"</p>")
		add(first, "text/html")
		add(a.Page("http://"+site+"/two", archivetest.ChunkedHead, "<p>two of "+site+"</p>"), "text/html")
		add(a.Revisit("http://"+site+"/copy", archivetest.HTMLHead, first), index.RevisitMIME)
	}
	merge := func() { // twice, because the first merge only detects which files are finished
		for range 2 {
			archivetest.Must(t, live.Merge(t.Context()))
		}
	}
	reader := NewLiveReader(live)
	live.OnClose(reader.Close)
	isFound := func(step string, sites ...string) {
		t.Helper()
		lib, release, err := reader.Open(archivetest.Start)
		archivetest.Must(t, err)
		defer release()
		for _, site := range sites {
			for _, path := range []string{"/", "/two", "/copy"} {
				found, err := lib.Lookup("http://"+site+path, nil)
				if err != nil || len(found) != 1 || found[0].URL != "http://"+site+path {
					t.Errorf("%s: %s%s has %+v, %v; want one capture", step, site, path, found, err)
				}
			}
		}
		if found, err := lib.Lookup("http://unknown.example/", nil); err != nil || len(found) != 0 {
			t.Errorf("%s: an unknown URI has %+v, %v", step, found, err)
		}
	}
	fill("b.example")
	isFound("in the live file", "b.example")
	a.Seal()
	fill("a.example")
	merge()
	isFound("one file merged", "a.example", "b.example")
	add(a.Page("http://a.example/late", archivetest.HTMLHead, "<p>late</p>"), "text/html") // not written yet
	lib, release, err := reader.Open(archivetest.Start)
	archivetest.Must(t, err)
	if found, err := lib.Lookup("http://a.example/late", nil); err != nil || len(found) != 1 {
		t.Errorf("the last capture: %+v, %v", found, err)
	}
	release()
	lines, err := os.ReadFile(filepath.Join(a.Dir, "live.cdxj"))
	archivetest.Must(t, err)
	a.Seal()
	merge()
	isFound("both merged", "a.example", "b.example")
	for line := range strings.Lines(string(lines)) {
		e, err := index.ParseEntry(strings.TrimSuffix(line, "\n"))
		archivetest.Must(t, err)
		archivetest.Must(t, live.Add(e))
	}
	isFound("in two indexes", "a.example", "b.example")
	archivetest.Must(t, live.Close())
	if reader.current != nil {
		t.Error("the reader of a closed index still has files open")
	}
}
