package crawler_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
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

// seriesWorld is a crawl of hosts in three series, whose pages have the same picture. One host redirects to another.
func seriesWorld(t *testing.T, toml string) *world {
	t.Helper()
	w := newWorld(t, t.TempDir(), toml)
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

// kept returns what the visits of a URI left in the archive.
func (w *world) kept(u string) (all []aspects.Keeping) {
	for _, r := range w.visits(u) {
		all = append(all, r.Kept)
	}
	return all
}

// checkSeries compares the hosts in the files of each series, and checks the files of each series alone: no record
// may refer to one in another series.
func checkSeries(t *testing.T, w *world, want map[string][]string) {
	t.Helper()
	all, hosts := map[string][]archivetest.CheckedRecord{}, map[string][]string{}
	series := warcout.SeriesIn("test")
	for _, file := range finishedFiles(t, w.dir) {
		s := series(filepath.Base(file))
		records, err := archivetest.CheckFile(file)
		must(t, err)
		all[s] = append(all[s], records...)
		for _, r := range records {
			if u, err := uri.Parse(r.Target()); err == nil && !slices.Contains(hosts[s], string(u.Host())) {
				hosts[s] = append(hosts[s], string(u.Host()))
			}
		}
		slices.Sort(hosts[s])
	}
	if diff := cmp.Diff(want, hosts); diff != "" {
		t.Errorf("hosts in the files of each series (-want +got):\n%s", diff)
	}
	for s, records := range all {
		if err := archivetest.CheckRecords(records); err != nil {
			t.Errorf("the series %q alone: %v", s, err)
		}
	}
}

// Each series has all records of its hosts, and revisits of its own records only.
func TestEachSeriesCanBeReplayedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := seriesWorld(t, threeSeries)
		w.host("www.open.example.toml", "[politeness]\nmin_delay = \"9s\"\n") // not at the moment of open.example
		w.run(60 * time.Hour)
		checkSeries(t, w, map[string][]string{
			"": {"open.example", "www.open.example"}, "contract": {"contract.example"}, "embargo": {"embargo.example"},
		})
		whole := 0
		for _, r := range w.visits("/picture") {
			if r.Kept == aspects.KeptResponse {
				whole++
			}
		}
		if n := len(w.visits("/picture")); whole != 3 || n != 12 {
			t.Errorf("%d of %d visits archived the picture whole, want one in each series of 12", whole, n)
		}
		if got := w.kept("http://embargo.example/"); !slices.Contains(got, aspects.KeptNotModified) {
			t.Errorf("the visits of a page with an ETag left %v", got)
		}
	})
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
		w := seriesWorld(t, threeSeries)
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
		checkSeries(t, w, map[string][]string{
			"": {"open.example", "www.open.example"}, "contract": {"contract.example"}, "embargo": {"embargo.example"},
		})
		if got := w.kept("http://embargo.example/"); got[len(got)-1] != aspects.KeptNotModified {
			t.Errorf("the visits of a page with an ETag left %v", got)
		}
	})
}

// A curator may move hosts to other series at any time. What is archived then needs no record of the series before.
func TestAHostChangesItsSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, toml, before, after string
	}{
		{"into a series", threeSeries, "", "embargo"},
		{"out of a series", threeSeries, "embargo", ""},
		{"to another series", threeSeries, "contract", "embargo"},
		{"small payloads, few revisits", threeSeries + "[dedup]\nmin_size = \"1MB\"\nrevisits = \"none\"\n", "", "embargo"},
		{"no deduplication", threeSeries + "[dedup]\nby = \"off\"\n", "", "embargo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := seriesWorld(t, c.toml)
				file := func(series string) string { return "[warc]\nseries = \"" + series + "\"\n" }
				w.host("www.open.example.toml", file(c.before))
				w.during(100*time.Hour, func(cr *crawler.Crawler) {
					time.Sleep(36 * time.Hour)
					w.host("www.open.example.toml", file(c.after))
					p := w.reload(cr)
					if len(p.Changes) != 1 || p.Changes[0].Key != "warc.series" {
						t.Errorf("the plan has %v", p.Changes)
					}
				})
				want := map[string][]string{
					"": {"open.example"}, "contract": {"contract.example"}, "embargo": {"embargo.example"},
				}
				for _, s := range []string{c.before, c.after} {
					want[s] = append(want[s], "www.open.example")
				}
				checkSeries(t, w, want)
				got := w.kept("http://www.open.example/")
				if len(got) != 5 || got[0] != aspects.KeptResponse || got[2] != aspects.KeptResponse ||
					got[1] == aspects.KeptResponse || got[3] == aspects.KeptResponse {
					t.Errorf("the visits left %v, want a response at the beginning, and after the change", got)
				}
			})
		})
	}
}
