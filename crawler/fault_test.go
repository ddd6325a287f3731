package crawler_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/faults"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

const healthyBesideBad = `[crawl]
workers = 1
[retry]
first = "30m"
max = "6h"
[[wait]]
mime = ".*"
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

func TestPanicConcernsOneDocument(t *testing.T) {
	for step, kept := range map[string]crawler.Keeping{
		"judging": crawler.KeptResponse, "archiving": crawler.KeptNothing, "discovering": crawler.KeptResponse,
		"scheduling": crawler.KeptResponse, "logging": crawler.KeptResponse, "settling": crawler.KeptResponse,
	} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dir, healthyBesideBad)
				defer w.town.Close()
				w.set("http://news.example/", town.Page{Every: 30 * time.Minute})
				var poisoned atomic.Bool // the answer in progress makes the parser panic
				w.town.Serve("bad.example", raw(func() string {
					poisoned.Store(true)
					return answer("HTTP/1.1 200 OK", "poison")
				}))
				parts, shut := w.open()
				c := crawler.New(parts)
				c.OnStep(func(at string) {
					if at == step && poisoned.Swap(false) {
						panic("poison")
					}
				})
				runCrawler(t, c, 12*time.Hour+time.Minute)
				shut()
				checkHealthy(t, w, 12)
				bad := w.visits("bad.example/")
				if len(bad) != 3 {
					t.Fatalf("%d visits of the poisoned page in 12 hours, want one each 6 hours", len(bad))
				}
				v := bad[0]
				settled := v.Failed && v.FaultKind == faults.KindPanic && v.Wait.Interval == 6*time.Hour
				if !settled || v.Kept != kept {
					t.Errorf("the first visit: %+v", v)
				}
				verifyArchive(t, w)
			})
			checkArchive(t, dir)
		})
	}
}

// A panic while a visit is settled in the store. What is left is a bare settlement: the URI waits as long as after any
// panic, and nothing that the document brought is known.
func TestPanicInTheStoreSettlesTheBareVisit(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, healthyBesideBad)
		defer w.town.Close()
		w.set("http://news.example/", town.Page{Every: 30 * time.Minute})
		var poisoned atomic.Bool // the page was read, and its links are added
		w.town.Serve("bad.example", raw(func() string {
			poisoned.Store(true)
			return answer("HTTP/1.1 200 OK", `<a href="http://bad.example/poison">`)
		}))
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) {
			o.Limits = func(h uri.Host) frontier.Limits {
				if h == "bad.example" && poisoned.Load() {
					panic("poison")
				}
				return frontier.Limits{}
			}
		})
		w.crawl(parts, 12*time.Hour+time.Minute)
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
			if !v.Failed || v.FaultKind != faults.KindPanic || v.Kept == crawler.KeptNothing || v.Found != 0 {
				t.Errorf("a visit of the poisoned page: %+v", v)
			}
		}
		verifyArchive(t, w)
	})
	checkArchive(t, dir)
}

// runCrawler runs a crawl for a while.
func runCrawler(t *testing.T, c *crawler.Crawler, d time.Duration) {
	t.Helper()
	if _, err := c.AddSeeds(time.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestFaultOfOneDocumentHoldsNobody(t *testing.T) {
	page := strings.Repeat("word ", 100_000) // longer than what is kept decoded in memory
	for _, row := range []struct {
		name, settings string
		host           string // its host file
		prepare        func(t *testing.T, parts crawler.Parts)
		bad            string // the URI
		failed, fault  bool   // of its first visit
		recovers       bool   // later visits succeed although the first one failed
		lasts          bool   // later visits have a fault too
		kept           crawler.Keeping
	}{
		{
			name: "a URI with a control character", bad: "http://bad.example/a\x01b", failed: true, fault: true,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				bad := frontier.Candidate{URI: uri.FromCanonical("http://bad.example/a\x01b"), Seed: "http://bad.example/"}
				if _, err := parts.Frontier.Add(time.Now(), bad); err != nil {
					t.Fatal(err)
				}
			},
		},
		{
			name: "fetch.max_content below change.max_size", bad: "http://bad.example/", kept: crawler.KeptResponse,
			settings: "[change]\nmode = \"scrubbed\"\nscrub = [\"x+\"]\n[fetch]\nmax_content = \"10KB\"\n",
		},
		{
			name: "an original of a partner with a line end", bad: "http://bad.example/", fault: true,
			kept: crawler.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				sum := digest.Of([]byte(page))
				o := digest.Origin{URI: "http://partner.example/\nX: y", Date: time.Now(), Payload: sum}
				if err := parts.Dedup.Put(dedup.Key{Payload: sum, Status: 200, MIME: "text/html"}, o); err != nil {
					t.Fatal(err)
				}
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
				if _, err := parts.Frontier.Import(now, true, e); err != nil {
					t.Fatal(err)
				}
			},
		},
		{
			name: "a damaged cookie jar that is emptied", bad: "http://bad.example/", fault: true, kept: crawler.KeptResponse,
			host: "[fetch]\ncookies = \"session\"\n", prepare: damageRow("pCbad.example"), lasts: true,
		},
		{
			name: "a damaged cookie jar that is used", bad: "http://bad.example/", fault: true, kept: crawler.KeptResponse,
			host: "[fetch]\ncookies = \"keep\"\n", prepare: damageRow("pCbad.example"), lasts: true,
		},
		{
			name: "a damaged list of traps", bad: "http://bad.example/deep", kept: crawler.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				damageRow("ptbad.example")(t, parts)
				deep := frontier.Candidate{URI: uri.FromCanonical("http://bad.example/deep"), Hops: "L", Seed: "http://bad.example/"}
				if _, err := parts.Frontier.Add(time.Now(), deep); err != nil {
					t.Fatal(err)
				}
			},
		},
		{
			name: "a damaged copy of robots.txt", bad: "http://bad.example/", kept: crawler.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				seed := frontier.Candidate{URI: uri.FromCanonical("http://bad.example/"), Seed: "http://bad.example/"}
				if _, err := parts.Frontier.Add(time.Now(), seed); err != nil {
					t.Fatal(err)
				}
				damageRow("r\x00\x00\x00\x01http")(t, parts)
			},
		},
		{
			name: "a damaged reputation", bad: "http://bad.example/", kept: crawler.KeptResponse,
			settings: "[midfetch]\nproof = 0\n", prepare: damageRow("tbad.example"), lasts: true,
		},
		{
			name: "a damaged count of the day", bad: "http://bad.example/", kept: crawler.KeptResponse,
			prepare: func(t *testing.T, parts crawler.Parts) {
				t.Helper()
				day := binary.BigEndian.AppendUint32(nil, uint32(time.Now().Unix()/86400))
				damageRow("abad.example\x00"+string(day))(t, parts)
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dir, row.settings+healthyBesideBad)
				defer w.town.Close()
				w.hostFiles(map[string]string{"hosts.d/bad.example.toml": row.host})
				w.set("http://news.example/", town.Page{Every: 30 * time.Minute})
				w.set("http://bad.example/", town.Page{Body: page, Type: "text/html", Deny: row.recovers})
				w.set("http://bad.example/deep", town.Page{Body: "deep " + page, Type: "text/html"})
				parts, shut := w.open()
				if row.prepare != nil {
					row.prepare(t, parts)
				}
				w.crawl(parts, 6*time.Hour+time.Minute)
				shut()
				checkHealthy(t, w, 6)
				bad := w.visits(row.bad)
				if len(bad) < 4 {
					t.Fatalf("%d visits of %q in six hours", len(bad), row.bad)
				}
				v := bad[0]
				if v.Failed != row.failed || (v.Fault != "") != row.fault || v.Kept != row.kept {
					t.Errorf("the first visit failed: %t, fault %q, kept %s", v.Failed, v.Fault, v.Kept)
				}
				if last := bad[len(bad)-1]; !row.lasts && (!row.failed || row.recovers) && (last.Fault != "" || !isRevisit(last.Kept)) {
					t.Errorf("the last visit: fault %q, kept %s; want a revisit of the first", last.Fault, last.Kept)
				}
			})
		})
	}
}

// damageRow returns a function that writes a value that cannot be read under a key of the store.
func damageRow(key string) func(t *testing.T, parts crawler.Parts) {
	return func(t *testing.T, parts crawler.Parts) {
		t.Helper()
		err := parts.Frontier.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), []byte("\xffdamaged")) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A curator's expression would take minutes on each page of a site.
func TestSlowRulesHoldNobody(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, healthyBesideBad)
		defer w.town.Close()
		words := make([]string, 450)
		for i := range words {
			words[i] = fmt.Sprintf("%04dword%04d", i, i)
		}
		host := "[change]\nmode = \"scrubbed\"\nscrub = ['(?i)" + strings.Join(words, "|") + "']\n"
		if err := os.Mkdir(w.path("hosts.d"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.path("hosts.d/bad.example.toml"), []byte(host), 0o600); err != nil {
			t.Fatal(err)
		}
		w.set("http://news.example/", town.Page{Every: 30 * time.Minute})
		w.set("http://bad.example/", town.Page{Every: 90 * time.Minute, Size: 1_800_000})
		w.run(6*time.Hour + time.Minute)
		checkHealthy(t, w, 6)
		bad := w.visits("bad.example/")
		if len(bad) < 6 {
			t.Fatalf("%d visits of the slow page in six hours", len(bad))
		}
		changed := 0
		for _, v := range bad {
			if v.Failed || v.FaultKind != faults.KindRules {
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

func isRevisit(k crawler.Keeping) bool {
	return k == crawler.KeptRevisit || k == crawler.KeptNotModified
}
