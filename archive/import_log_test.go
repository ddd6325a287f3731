package archive

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// noWindow shows nothing.
type noWindow struct{}

func (noWindow) Observe(crawler.Report) {}
func (noWindow) Tick(time.Time) error   { return nil }

// sameTextSite sends pages whose text never changes: one as it is, one with a number of views, one compressed to the
// first visitor only.
type sameTextSite struct {
	t     testing.TB
	mu    sync.Mutex // guards views and coded
	views int
	coded int
	stays bool // the views do not grow
}

func (s *sameTextSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, coding := strings.Repeat("<p>the same text each time</p>\n", 50), ""
	switch r.URL.Path {
	case "/":
		text += `<a href="/views">views</a><a href="/coded">coded</a>`
	case "/views":
		if !s.stays {
			s.views++
		}
		text += fmt.Sprintf("<i>%d</i>", s.views)
	case "/coded":
		text += "coded"
		if s.coded++; s.coded == 1 {
			coding = "gzip"
			w.Header().Set("Content-Encoding", coding)
		}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, archivetest.Coded(s.t, coding, text))
}

// A crawl archives nothing of visits whose text is as before. Another crawl imports its crawl.log and then gets just
// these answers. Each of its revisits refers to a record that exists.
func TestAnImportedLogMakesNoRevisitOfWhatWasNotArchived(t *testing.T) {
	t.Parallel()
	for why, settings := range map[string]string{
		"scrubbed": "[change]\nmode = \"scrubbed\"\nscrub = ['<i>\\d+</i>']\n",
		"coding":   "",
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			first, second := t.TempDir(), t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				site := &sameTextSite{t: t}
				crawl := func(dir string, prepare func(w *testcrawl.World)) {
					w := testcrawl.NewWorld(t, dir, testcrawl.EveryHour+settings)
					w.Window, w.Every = noWindow{}, time.Hour
					w.Town.Serve("news.example", site)
					prepare(w)
					w.AddSeeds()
					w.Run(5 * time.Hour)
					w.Close()
				}
				crawl(first, func(*testcrawl.World) {})
				site.stays = true
				crawl(second, func(w *testcrawl.World) {
					lines := regexp.MustCompile(`(?m) \{.*$`).ReplaceAllString(archivetest.Read(t, filepath.Join(first, "crawl.log")), "")
					sum, faults := imported(t, w.Parts.Dedup, importOptions{}, archivetest.Save(t, "crawl.log", []byte(lines)))
					if sum.Entries == 0 {
						t.Errorf("nothing was imported: %+v, %v", sum, faults)
					}
				})
			})
			unwritten := 0
			for _, e := range testcrawl.ReadLog(t, filepath.Join(first, "crawl.log")) {
				if slices.Contains(e.Annotations, crawllog.UnwrittenFor+why) {
					unwritten++
				}
			}
			if unwritten < 2 {
				t.Errorf("the first crawl archived nothing of %d answers, want two or more", unwritten)
			}
			originalsExist(t, first, second)
		})
	}
}

// originalsExist reports revisits in the archives of crawls whose original is in none of them.
func originalsExist(t *testing.T, dirs ...string) {
	t.Helper()
	there, revisits := map[string]bool{}, 0
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
		archivetest.Must(t, err)
		var records []archivetest.CheckedRecord
		for _, file := range files {
			some, err := archivetest.CheckFile(file)
			archivetest.Must(t, err)
			records = append(records, some...)
		}
		for _, r := range records {
			toSecond := func(field string) string { return r.Header.Get(field)[:len("2000-01-01T00:00:00")] }
			switch r.Type() {
			case "response":
				there[r.Target()+" "+toSecond("WARC-Date")] = true
			case "revisit":
				of := r.Header.Get("WARC-Refers-To-Target-URI") + " " + toSecond("WARC-Refers-To-Date")
				if revisits++; !there[of] {
					t.Errorf("the revisit of %s refers to %s, which is not archived", r.Target(), of)
				}
			}
		}
	}
	if revisits == 0 {
		t.Error("there are no revisits")
	}
}
