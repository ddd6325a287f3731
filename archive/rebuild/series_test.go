package rebuild_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/rebuild"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const threeSeries = `[warc]
series_names = ["contract", "embargo"]
[[wait]]
mime = ".*"
rule = "fixed"
every = "1d"
[midfetch]
proof = 0
audit_share = 0.0
[seeds]
uris = ["http://contract.example/", "http://embargo.example/", "http://open.example/", "http://www.open.example/"]
`

// seriesOf has the series of hosts.
var seriesOf = map[string]string{"contract": "contract", "embargo": "embargo", "open": "", "www": ""}

// setSeries makes hosts of three series, whose pages have the same picture. One host redirects to another.
func setSeries(w *testcrawl.World) {
	for _, host := range []string{"contract", "embargo", "open", "www.open"} {
		base := "http://" + host + ".example/"
		w.Set(base, testcrawl.Page{ETag: "honest", Links: []string{"/picture", "/go"}})
		w.Set(base+"picture", testcrawl.Page{Body: strings.Repeat("the same picture everywhere. ", 50)})
		w.Set(base+"go", testcrawl.Page{Status: 302, Location: "http://embargo.example/"})
	}
}

// importOriginals adds the pages in WARC files to a dedup index, and returns their number.
func importOriginals(t *testing.T, index *dedup.Index, files []string) (n int) {
	t.Helper()
	for number, file := range files {
		c := dedup.Collection{Number: uint32(number + 1), Name: file, Hash: "sha256:" + filepath.Base(file), State: dedup.Active}
		records, err := archivetest.CheckFile(file)
		archivetest.Must(t, err)
		var found []dedup.Found
		for _, r := range records {
			head, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.Block)), nil)
			if err != nil || r.Type() != "response" {
				continue
			}
			body, err := archivetest.PayloadOf(r)
			archivetest.Must(t, err)
			date, err := time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date"))
			archivetest.Must(t, err)
			key := dedup.Key{
				Payload: sha1.Sum(body), Status: head.StatusCode, MIME: digest.MediaType(head.Header.Get("Content-Type")),
			}
			o := digest.Origin{
				RecordID: strings.Trim(r.ID(), "<>"), URI: r.Target(), Date: date, Payload: key.Payload,
				File: r.File, Offset: r.Offset, Length: r.Length, Size: int64(len(body)),
			}
			found = append(found, dedup.Found{Key: key, Origin: o})
		}
		archivetest.Must(t, index.Store(c, found...))
		n += len(found)
	}
	return n
}

// A store that was rebuilt from the log and the archive knows the series of each record.
func TestARebuiltStoreKeepsSeriesApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"contract", "embargo"} {
		file := filepath.Join(dir, "hosts.d", name+".example.toml")
		archivetest.Must(t, os.MkdirAll(filepath.Dir(file), 0o750))
		archivetest.Must(t, os.WriteFile(file, []byte("[warc]\nseries = \""+name+"\"\n"), 0o600))
	}
	synctest.Test(t, func(t *testing.T) {
		var seen visits
		w := crawled(t, dir, threeSeries, setSeries, 36*time.Hour, &seen)
		w.Close()
		cfg := w.Parts.Config.Current()
		archivetest.Must(t, os.RemoveAll(cfg.Storage.State))
		f, err := frontier.Open(frontier.Options{Dir: cfg.Storage.State, Compactors: -1, Now: time.Now()})
		archivetest.Must(t, err)
		_, err = rebuild.Store(t.Context(), f, cfg, []string{w.Path("crawl.log")}, time.Now())
		archivetest.Must(t, err)
		index, err := dedup.Open(f.DB(), dedup.Options{Name: uri.ReplayKey})
		archivetest.Must(t, err)
		files, err := filepath.Glob(w.Path("warc/*.warc.gz"))
		archivetest.Must(t, err)
		entries := importOriginals(t, index, files)
		archivetest.Must(t, f.Close())
		crawled(t, dir, threeSeries, setSeries, 60*time.Hour, &seen).Close()
		if n := len(seen.of("/picture")); entries == 0 || n < 12 {
			t.Errorf("%d originals were imported, and the picture was visited %d times", entries, n)
		}
		records, series := testcrawl.CheckArchive(t, dir), warcout.SeriesIn("test")
		archivetest.CheckSeries(t, "test", records)
		for _, r := range records {
			rest, page := strings.CutPrefix(r.Target(), "http://")
			if host, _, _ := strings.Cut(rest, "."); page && seriesOf[host] != series(r.File) {
				t.Errorf("the %s of %s is in the series %q", r.Type(), r.Target(), series(r.File))
			}
		}
		if got := seen.of("http://embargo.example/"); got[len(got)-1].Kept != aspects.KeptNotModified {
			t.Errorf("the last visit of a page with an ETag left %s", got[len(got)-1].Kept)
		}
	})
}
