package crawler_test

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

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/internal/town"
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

// seriesWorld is a crawl of hosts in three series, whose pages have the same picture. One host redirects to another.
func seriesWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, t.TempDir(), threeSeries)
	w.host("contract.example.toml", "[warc]\nseries = \"contract\"\n")
	w.host("embargo.example.toml", "[warc]\nseries = \"embargo\"\n")
	for _, host := range []string{"contract", "embargo", "open", "www.open"} {
		base := "http://" + host + ".example/"
		w.set(base, town.Page{ETag: "honest", Links: []string{"/picture", "/go"}})
		w.set(base+"picture", town.Page{Body: strings.Repeat("the same picture everywhere. ", 50)})
		w.set(base+"go", town.Page{Status: 302, Location: "http://embargo.example/"})
	}
	return w
}

// importOriginals adds the pages in WARC files to a dedup index, and returns their number.
func importOriginals(t *testing.T, index *dedup.Index, files []string) (n int) {
	t.Helper()
	for _, file := range files {
		m, err := index.Begin(dedup.Collection{Name: file, Hash: "sha256:" + filepath.Base(file)}, time.Now())
		must(t, err)
		records, err := archivetest.CheckFile(file)
		must(t, err)
		var found []dedup.Found
		for _, r := range records {
			head, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.Block)), nil)
			if err != nil || r.Type() != "response" {
				continue
			}
			body, err := archivetest.PayloadOf(r)
			must(t, err)
			date, err := time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date"))
			must(t, err)
			key := dedup.Key{
				Payload: sha1.Sum(body), Status: head.StatusCode, MIME: mediatype.Of(head.Header.Get("Content-Type")),
			}
			o := digest.Origin{
				RecordID: strings.Trim(r.ID(), "<>"), URI: r.Target(), Date: date, Payload: key.Payload,
				File: r.File, Offset: r.Offset, Length: r.Length, Size: int64(len(body)),
			}
			found = append(found, dedup.Found{Key: key, Origin: o})
		}
		must(t, m.Add(found, 0, 0))
		must(t, m.Done(time.Now()))
		n += len(found)
	}
	return n
}

// A store that was rebuilt from the log and the archive knows the series of each record.
func TestARebuiltStoreKeepsSeriesApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := seriesWorld(t)
		w.run(36 * time.Hour)
		cfg, err := config.Load(w.path("arcrawl.toml"))
		must(t, err)
		must(t, os.RemoveAll(cfg.Storage.State))
		f, err := frontier.Open(frontier.Options{Dir: cfg.Storage.State, Compactors: -1, Now: time.Now()})
		must(t, err)
		_, err = history.Rebuild(t.Context(), f, cfg, []string{w.path("crawl.log")}, time.Now())
		must(t, err)
		index, err := dedup.Open(f.DB(), dedup.Options{Name: uri.ReplayKey})
		must(t, err)
		entries := importOriginals(t, index, finishedFiles(t, w.dir))
		must(t, f.Close())
		w.run(60 * time.Hour)
		if n := len(w.visits("/picture")); entries == 0 || n < 12 {
			t.Errorf("%d originals were imported, and the picture was visited %d times", entries, n)
		}
		records, series := checkArchive(t, w.dir), warcout.SeriesIn("test")
		checkSeries(t, records)
		for _, r := range records {
			rest, page := strings.CutPrefix(r.Target(), "http://")
			if host, _, _ := strings.Cut(rest, "."); page && seriesOf[host] != series(r.File) {
				t.Errorf("the %s of %s is in the series %q", r.Type(), r.Target(), series(r.File))
			}
		}
		if got := w.visits("http://embargo.example/"); got[len(got)-1].Kept != aspects.KeptNotModified {
			t.Errorf("the last visit of a page with an ETag left %s", got[len(got)-1].Kept)
		}
	})
}
