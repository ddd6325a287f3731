package crawler_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

const healthyBesideBad = `[crawl]
workers = 1
[retry]
first = "30m"
max = "6h"
[[wait]]
mime = ".*"
rule = "classic"
initial = "1h"
min = "1h"
max = "1h"
[seeds]
uris = ["http://bad.example/", "http://news.example/"]
`

// checkHealthy fails the test unless the healthy site was visited each hour and no visit of it had a fault.
func checkHealthy(t *testing.T, w *world, hours int) {
	t.Helper()
	visits := w.visits("news.example/")
	if len(visits) < hours || len(visits) > hours+1 {
		t.Errorf("%d visits of the healthy site in %d hours", len(visits), hours)
	}
	for _, v := range visits {
		if v.Failed || v.Fault != "" {
			t.Errorf("a visit of the healthy site failed: %+v", v)
		}
	}
}

// A panic while the visit is settled in the store leaves a bare settlement: the URI waits as long as after any panic,
// and nothing that the document brought is known.
func TestPanicConcernsOneDocument(t *testing.T) {
	for step, kept := range map[string]aspects.Keeping{
		"judging": aspects.KeptResponse, "archiving": aspects.KeptNothing, "discovering": aspects.KeptResponse,
		"scheduling": aspects.KeptResponse, "logging": aspects.KeptResponse, "settling": aspects.KeptResponse,
		"storing": aspects.KeptResponse,
	} {
		t.Run(step, func(t *testing.T) {
			dir := inTown(t, healthyBesideBad, func(t *testing.T, w *world) {
				w.set("http://news.example/", testcrawl.Page{Every: 30 * time.Minute})
				body := "poison"
				if step == "storing" {
					body = `<a href="http://bad.example/poison">`
				}
				var poisoned atomic.Bool // the answer in progress makes the parser or the store panic
				w.town.Serve("bad.example", raw(func() string {
					poisoned.Store(true)
					return answer("HTTP/1.1 200 OK", body)
				}))
				parts, shut := w.openOptions(w.dial, func(o *frontier.Options) {
					o.Limits = func(h uri.Host) frontier.Limits { // of the links that are added
						if step == "storing" && h == "bad.example" && poisoned.Load() {
							panic("poison")
						}
						return frontier.Limits{}
					}
				})
				c := crawler.New(parts)
				c.OnStep(func(at string) {
					if at == step && poisoned.Swap(false) {
						panic("poison")
					}
				})
				w.crawlWith(c, 12*time.Hour+time.Minute)
				if _, ok, err := parts.Frontier.Get(uri.FromCanonical("http://bad.example/poison")); ok || err != nil {
					t.Errorf("Get = %t, %v; want no URI of the poisoned page", ok, err)
				}
				shut()
				checkHealthy(t, w, 12)
				bad := w.visits("bad.example/")
				if len(bad) != 3 {
					t.Fatalf("%d visits of the poisoned page in 12 hours, want one each 6 hours", len(bad))
				}
				for _, v := range bad {
					settled := v.Failed && v.FaultKind == misfortune.KindPanic && v.Wait.Interval == 6*time.Hour
					if !settled || v.Found != 0 || v.Kept != kept && v.Kept != aspects.KeptRevisit {
						t.Errorf("a visit of the poisoned page: %+v", v)
					}
				}
			})
			testcrawl.CheckArchive(t, dir)
		})
	}
}

func TestFaultOfOneDocumentHoldsNobody(t *testing.T) {
	page := `<a href="/deep">` + strings.Repeat("word ", 100_000) // longer than what is kept decoded in memory
	for _, row := range []struct {
		name, settings string
		host           string // its host file
		prepare        func(t *testing.T, parts crawler.Parts)
		bad            string // the URI
		failed, fault  bool   // of its first visit
		recovers       bool   // later visits succeed although the first one failed
		damaged        string // the key of a row that cannot be read
		told           int    // lines of the log about it
		kept           aspects.Keeping
	}{
		{
			name: "a URI with a control character", bad: "http://bad.example/a\x01b", failed: true, fault: true,
			prepare: known(frontier.Candidate{URI: uri.FromCanonical("http://bad.example/a\x01b"), Seed: "http://bad.example/"}),
		},
		{
			name: "fetch.max_content below change.max_size", bad: "http://bad.example/", kept: aspects.KeptResponse,
			settings: "[change]\nmode = \"scrubbed\"\nscrub = [\"x+\"]\n[fetch]\nmax_content = \"10KB\"\n",
		},
		{
			name: "an original of a partner with a line end", bad: "http://bad.example/", fault: true,
			kept: aspects.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				sum := digest.Of([]byte(page))
				o := digest.Origin{URI: "http://partner.example/\nX: y", Date: time.Now(), Payload: sum}
				must(t, parts.Dedup.Put(dedup.Key{Payload: sum, Status: 200, MIME: "text/html"}, o))
			},
		},
		{ // the page is archived whole, and its record is the original from then on
			name: "an imported original that is a robots.txt", bad: "http://bad.example/", kept: aspects.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				sum := digest.Of([]byte(page))
				must(t, parts.Dedup.Put(dedup.Key{Payload: sum, Status: 200, MIME: "text/html"}, digest.Origin{
					RecordID: "urn:uuid:11111111-2222-4333-8444-555555555555", URI: "http://old.example/robots.txt",
					Date: time.Now().Add(-time.Hour), Payload: sum, Size: int64(len(page)),
				}))
			},
		},
		{
			name: "an imported history whose original has a line end", bad: "http://bad.example/", failed: true, fault: true,
			settings: "[midfetch]\nproof = 0\n", recovers: true,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				now := time.Now()
				e := frontier.Entry{Record: frontier.Record{URI: uri.FromCanonical("http://bad.example/")}}
				e.Due, e.Seed = now, "http://bad.example/"
				e.FirstSeen, e.LastVisit, e.LastCapture, e.LastRead, e.Visits, e.Versions = now, now, now, now, 1, 1
				e.Status, e.ContentType, e.Validators.ETag = 200, "text/html", `"1"`
				e.Origin = digest.Origin{URI: "http://partner.example/\nX: y", Date: now, Payload: digest.Of([]byte(page))}
				_, err := parts.Frontier.Import(now, true, e)
				must(t, err)
			},
		},
		{
			name: "a damaged cookie jar that is emptied", bad: "http://bad.example/", kept: aspects.KeptResponse,
			host: "[fetch]\ncookies = \"session\"\n", damaged: "pCbad.example", told: 1,
		},
		{
			name: "a damaged cookie jar that is used", bad: "http://bad.example/", kept: aspects.KeptResponse,
			host: "[fetch]\ncookies = \"keep\"\n", damaged: "pCbad.example", told: 1,
		},
		{
			name: "a damaged list of traps", bad: "http://bad.example/deep", kept: aspects.KeptResponse,
			damaged: "ptbad.example", told: 1,
		},
		{
			name: "a damaged copy of robots.txt", bad: "http://bad.example/", kept: aspects.KeptResponse,
			damaged: "r\x00\x00\x00\x01http", // it is fetched again
			prepare: known(frontier.Candidate{URI: uri.FromCanonical("http://bad.example/"), Seed: "http://bad.example/"}),
		},
		{
			name: "a damaged reputation", bad: "http://bad.example/", kept: aspects.KeptResponse,
			settings: "[midfetch]\nproof = 0\n", damaged: "tbad.example", told: 1,
		},
		{
			name: "a damaged record of parameters", bad: "http://bad.example/?id=1", kept: aspects.KeptResponse,
			damaged: "ptbad.example", told: 1,
			prepare: known(frontier.Candidate{URI: uri.FromCanonical("http://bad.example/?id=1"), Seed: "http://bad.example/"}),
		},
		{
			name: "a damaged count of the day", bad: "http://bad.example/", kept: aspects.KeptResponse,
			damaged: "abad.example\x00\x00\x00\x2a\xcd", told: 1, // 1 January 2000
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			inTown(t, row.settings+healthyBesideBad, func(t *testing.T, w *world) {
				var log strings.Builder
				w.log = zerolog.New(zerolog.SyncWriter(&log))
				w.hostFiles(map[string]string{"hosts.d/bad.example.toml": row.host})
				w.set("http://news.example/", testcrawl.Page{Every: 30 * time.Minute})
				w.set("http://bad.example/", testcrawl.Page{Body: page, Type: "text/html", Deny: row.recovers})
				w.set("http://bad.example/?id=1", testcrawl.Page{Body: "one " + page, Type: "text/html"})
				w.set("http://bad.example/deep", testcrawl.Page{Body: "deep " + page, Type: "text/html"})
				parts, shut := w.open()
				if row.damaged != "" {
					damageRow(t, parts, row.damaged)
				}
				if row.prepare != nil {
					row.prepare(t, parts)
				}
				w.crawl(parts, 6*time.Hour+time.Minute)
				if row.damaged != "" && bytes.HasPrefix(storedRow(t, parts, row.damaged), []byte(unreadable)) {
					t.Error("the damaged row is still there after six hours")
				}
				shut()
				if n := strings.Count(log.String(), "a row about one host is damaged"); n != row.told {
					t.Errorf("the log has %d lines about a damaged row, want %d: %s", n, row.told, log.String())
				}
				checkHealthy(t, w, 6)
				bad := w.visits(row.bad)
				if len(bad) < 4 {
					t.Fatalf("%d visits of %q in six hours", len(bad), row.bad)
				}
				v := bad[0]
				if v.Failed != row.failed || (v.Fault != "") != row.fault || v.Kept != row.kept {
					t.Errorf("the first visit failed: %t, fault %q, kept %s", v.Failed, v.Fault, v.Kept)
				}
				if last := bad[len(bad)-1]; (!row.failed || row.recovers) && (last.Fault != "" || !isRevisit(last.Kept)) {
					t.Errorf("the last visit: fault %q, kept %s; want a revisit of the first", last.Fault, last.Kept)
				}
			})
		})
	}
}

// known returns a function that adds a URI to the frontier.
func known(c frontier.Candidate) func(t *testing.T, parts crawler.Parts) {
	return func(t *testing.T, parts crawler.Parts) {
		t.Helper()
		_, err := parts.Frontier.Add(time.Now(), c)
		must(t, err)
	}
}

// unreadable is a value that no row has.
const unreadable = "\xffdamaged"

// damageRow writes a value that cannot be read under a key of the store.
func damageRow(t *testing.T, parts crawler.Parts, key string) {
	t.Helper()
	err := parts.Frontier.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), []byte(unreadable)) })
	must(t, err)
}

// storedRow returns the value under a key of the store, or nil if there is none.
func storedRow(t *testing.T, parts crawler.Parts, key string) (value []byte) {
	t.Helper()
	err := parts.Frontier.DB().View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(key))
		if err == nil {
			value, err = item.ValueCopy(nil)
		}
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		t.Fatal(err)
	}
	return value
}

// A curator's expression would take minutes on each page of a site.
func TestSlowRulesHoldNobody(t *testing.T) {
	inTown(t, healthyBesideBad, func(t *testing.T, w *world) {
		words := make([]string, 450)
		for i := range words {
			words[i] = fmt.Sprintf("%04dword%04d", i, i)
		}
		host := "[change]\nmode = \"scrubbed\"\nscrub = ['(?i)" + strings.Join(words, "|") + "']\n"
		must(t, os.Mkdir(w.path("hosts.d"), 0o700))
		must(t, os.WriteFile(w.path("hosts.d/bad.example.toml"), []byte(host), 0o600))
		w.set("http://news.example/", testcrawl.Page{Every: 30 * time.Minute})
		w.set("http://bad.example/", testcrawl.Page{Every: 90 * time.Minute, Size: 1_800_000})
		w.run(6*time.Hour + time.Minute)
		checkHealthy(t, w, 6)
		bad := w.visits("bad.example/")
		if len(bad) < 6 {
			t.Fatalf("%d visits of the slow page in six hours", len(bad))
		}
		changed := 0
		for _, v := range bad {
			if v.Failed || v.FaultKind != misfortune.KindRules {
				t.Errorf("failed: %t, fault %s %q", v.Failed, v.FaultKind, v.Fault)
			}
			if v.Verdict.State == evaluators.Changed {
				changed++
			}
		}
		if changed < 4 || changed == len(bad) {
			t.Errorf("%d of %d visits found a change, which is compared whole", changed, len(bad))
		}
	})
}

func isRevisit(k aspects.Keeping) bool {
	return k == aspects.KeptRevisit || k == aspects.KeptNotModified
}

// raw answers each request for a page with exact bytes, and for robots.txt with 404.
func raw(answer func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Write([]byte(answer()))
		_, _ = io.Copy(io.Discard, c) // until the client closes the connection
	})
}

// answer returns the exact bytes of a page with a status line.
func answer(statusLine, body string) string {
	return fmt.Sprintf("%s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nETag: \"1\"\r\nConnection: close\r\n\r\n%s", statusLine, len(body), body)
}
