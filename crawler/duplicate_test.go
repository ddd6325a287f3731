package crawler_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const comparing = "[dedup]\ncertainty = \"compare\"\n[seeds]\nuris = [\"http://site.example/\"]\n"

// The archived record is changed between two visits to an unchanged page.
func TestUnsoundRecordIsReplaced(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		harm   func(t *testing.T, file string)
		second aspects.Keeping
		logged string // part of the error
	}{
		{"the record is sound", func(*testing.T, string) {}, aspects.KeptRevisit, ""},
		{"the file was moved away", func(t *testing.T, file string) { must(t, os.Rename(file, file+".away")) }, aspects.KeptResponse, "there is no"},
		{"the record is damaged", damage, aspects.KeptResponse, "gzip"},
		{"another record with other bytes is in its place", exchange, aspects.KeptResponse, "differs after"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, comparing, func(t *testing.T, w *world) {
				w.set("http://site.example/", testcrawl.Page{Body: strings.Repeat("the same each time. ", 100)})
				w.run(time.Hour)
				row.harm(t, finishedFiles(t, w.dir)[0])
				var log bytes.Buffer
				w.log = zerolog.New(&log)
				w.run(48 * time.Hour)
				visits := w.visits(".example/")
				if len(visits) < 3 || visits[1].Kept != row.second || visits[2].Kept != aspects.KeptRevisit {
					t.Errorf("the visits wrote %v; want response, %v, revisit", visits, row.second)
				}
				if told := log.String(); !strings.Contains(told, row.logged) || strings.Contains(told, "cannot replace this payload") != (row.logged != "") {
					t.Errorf("the log has %q, want %q", told, row.logged)
				}
			})
		})
	}
}

// damage flips one bit in the middle of the page's record.
func damage(t *testing.T, file string) {
	t.Helper()
	change(t, file, func(member []byte) []byte {
		member = slices.Clone(member)
		member[len(member)/2] ^= 1
		return member
	})
}

// exchange replaces the page's record with a valid record with other bytes of the same length.
func exchange(t *testing.T, file string) {
	t.Helper()
	change(t, file, func(member []byte) []byte {
		text := bytes.Replace(unzip(t, member), []byte("each time. the"), []byte("each week. the"), 1)
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(text)
		must(t, err)
		must(t, z.Close())
		return out.Bytes()
	})
}

// change rewrites the gzip member that contains the page.
func change(t *testing.T, file string, how func([]byte) []byte) {
	t.Helper()
	all, err := os.ReadFile(file)
	must(t, err)
	magic := []byte("\x1f\x8b\x08")
	for pos := 0; pos < len(all); {
		end := len(all)
		if next := bytes.Index(all[pos+1:], magic); next >= 0 {
			end = pos + 1 + next
		}
		if text := unzip(t, all[pos:end]); bytes.Contains(text, []byte("each time")) {
			must(t, os.WriteFile(file, slices.Concat(all[:pos], how(all[pos:end]), all[end:]), 0o600))
			return
		}
		pos = end
	}
	t.Fatal("the page is not in the file")
}

func unzip(t *testing.T, member []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(member))
	must(t, err)
	z.Multistream(false)
	var out bytes.Buffer
	_, err = out.ReadFrom(z)
	must(t, err)
	return out.Bytes()
}

// An imported payload is used as the original of a revisit, with or without a record id. The revisit names the package.
func TestImportedPayloadIsNotStoredAgain(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	inTown(t, "[seeds]\nuris = [\"http://site.example/\"]\n", func(t *testing.T, w *world) {
		body := "archived long ago"
		w.set("http://site.example/", testcrawl.Page{Body: body})
		parts, shut := w.open()
		old := dedup.Collection{Number: 1, Name: "old.wacz", Hash: "sha256:1", State: dedup.Active, Files: []string{"old.warc.gz"}}
		o := digest.Origin{URI: "http://old.example/", Date: time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), Payload: digest.Of([]byte(body)), File: "old.warc.gz"}
		found := dedup.Found{Key: dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/html"}, Origin: o}
		must(t, parts.Dedup.Store(old, found))
		shut()
		w.run(48 * time.Hour)
		parts, shut = w.open()
		var revisits int64
		must(t, parts.Dedup.EachPayload(t.Context(), func(all []dedup.Held) {
			for _, h := range all {
				revisits += h.Revisits * int64(h.Collection)
			}
		}))
		if revisits < 2 {
			t.Errorf("the index holds %d revisits of the imported record, want two", revisits)
		}
		old.State = dedup.Removed
		must(t, parts.Dedup.Store(old))
		shut()
		library, err := index.OpenLibrary(t.Context(), w.path("warc"), index.Options{}, func(f warc.Finding) error { return &f })
		must(t, err)
		captures, err := library.History("http://site.example/")
		must(t, errors.Join(err, library.Close()))
		for _, c := range captures {
			if c.RefersTo.Container != "old.wacz" {
				t.Errorf("the revisit of %s names the package %q", c.Date, c.RefersTo.Container)
			}
		}
		before := len(w.visits(".example/"))
		for n, r := range w.visits(".example/") {
			if r.Kept != aspects.KeptRevisit {
				t.Errorf("visit %d wrote %v, want a revisit", n, r.Kept)
			}
		}
		w.run(72 * time.Hour)
		if after := w.visits(".example/")[before:]; len(after) == 0 || after[0].Kept != aspects.KeptResponse {
			t.Errorf("after the collection was removed the visits wrote %v, want a response", after)
		}
	})
}

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
		w.set(base, testcrawl.Page{ETag: "honest", Links: []string{"/picture", "/go"}})
		w.set(base+"picture", testcrawl.Page{Body: strings.Repeat("the same picture everywhere. ", 50)})
		w.set(base+"go", testcrawl.Page{Status: 302, Location: "http://embargo.example/"})
	}
	return w
}

// importOriginals adds the pages in WARC files to a dedup index, and returns their number.
func importOriginals(t *testing.T, index *dedup.Index, files []string) (n int) {
	t.Helper()
	for number, file := range files {
		c := dedup.Collection{Number: uint32(number + 1), Name: file, Hash: "sha256:" + filepath.Base(file), State: dedup.Active}
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
				Payload: sha1.Sum(body), Status: head.StatusCode, MIME: digest.MediaType(head.Header.Get("Content-Type")),
			}
			o := digest.Origin{
				RecordID: strings.Trim(r.ID(), "<>"), URI: r.Target(), Date: date, Payload: key.Payload,
				File: r.File, Offset: r.Offset, Length: r.Length, Size: int64(len(body)),
			}
			found = append(found, dedup.Found{Key: key, Origin: o})
		}
		must(t, index.Store(c, found...))
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
