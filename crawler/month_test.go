package crawler_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

var monthPages = flag.Int("month", 60, "number of pages that TestAMonthOfVisitsSavesBytesAndFindsChanges crawls")

// site is a host of the simulated web. honest reports whether its validators are always right.
type site struct {
	name   string
	honest bool
	page   func(every time.Duration, n int) []testcrawl.Page
}

// once returns a function that makes one page, which behaves in the same way all month.
func once(set func(p *testcrawl.Page, n int)) func(time.Duration, int) []testcrawl.Page {
	return func(every time.Duration, n int) []testcrawl.Page {
		p := testcrawl.Page{Every: every, Size: 4000 + 1000*(n%7)}
		set(&p, n)
		return []testcrawl.Page{p}
	}
}

var monthSites = []site{
	{"both", true, once(func(p *testcrawl.Page, _ int) { p.ETag, p.Modified = "honest", "honest" })},
	{"etag", true, once(func(p *testcrawl.Page, _ int) { p.ETag = "honest" })},
	{"date", true, once(func(p *testcrawl.Page, _ int) { p.Modified = "honest" })},
	{"weak", true, once(func(p *testcrawl.Page, _ int) { p.ETag = "weak" })},
	{"partial", false, once(func(p *testcrawl.Page, n int) {
		if n%2 == 0 {
			p.ETag = "honest"
		}
	})},
	{"none", false, once(func(*testcrawl.Page, int) {})},
	{"frozen-date", false, once(func(p *testcrawl.Page, _ int) { p.Modified, p.Ignore = "lie", true })},
	{"frozen-etag", false, once(func(p *testcrawl.Page, _ int) { p.ETag = `"v1"` })},
	{"denier", false, once(func(p *testcrawl.Page, _ int) { p.ETag, p.Deny = "honest", true })},
	{"turncoat", false, func(every time.Duration, n int) []testcrawl.Page {
		p := testcrawl.Page{Size: 4000, ETag: `"v1"`} // right until the page changes
		q := p
		q.From, q.Every = 10*24*time.Hour, every
		return []testcrawl.Page{p, q}
	}},
}

var monthRhythms = []time.Duration{0, 20 * time.Hour, 0, 3 * 24 * time.Hour, 7 * 24 * time.Hour, 0, 16 * 24 * time.Hour}

// monthOfHost holds the totals of one host over the month.
type monthOfHost struct {
	visits      int
	sameBytes   int64 // size of the documents that had not changed since their last capture
	sameSent    int64 // bytes of these documents that were transferred
	hidden      int   // visits that missed a change
	longest     int   // maximum number of such visits in a row
	longestTime time.Duration
}

// longPlay is why a test does not run under the race detector.
const longPlay = "it plays days of a crawl, and would take five times as long"

// TestAMonthOfVisitsSavesBytesAndFindsChanges crawls a web for 30 days with the default settings. The hosts have
// honest, false, partial or no validators. The flag -month 1000 runs the full size. From the recorded requests the test
// computes the bytes that were transferred unnecessarily, and how long visits missed a change.
func TestAMonthOfVisitsSavesBytesAndFindsChanges(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	dir := t.TempDir()
	var asked []testcrawl.Request
	size := map[string]int{}
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		var seeds []string
		each := *monthPages / len(monthSites)
		w := newWorld(t, dir, "[crawl]\nworkers = 20\n[storage]\nmin_free = \"0B\"\n[seeds]\nuris = "+monthSeeds(each, &seeds)+"\n")
		for i, u := range seeds {
			for _, p := range monthSites[i/each].page(monthRhythms[i%len(monthRhythms)], i) {
				w.set(u, p)
				size[u] = p.Size
			}
		}
		w.run(30 * 24 * time.Hour)
		asked = w.town.Requests()
	})
	var honest monthOfHost
	for _, s := range monthSites {
		m := monthOf(asked, size, "http://"+s.name+".example/")
		t.Logf("%-12s %5d visits, %5.1f %% of unchanged bytes not transferred, %3d visits missed a change, at most %d in a row, over %s",
			s.name, m.visits, m.spared(), m.hidden, m.longest, m.longestTime.Round(time.Hour))
		if s.honest {
			honest.sameBytes, honest.sameSent = honest.sameBytes+m.sameBytes, honest.sameSent+m.sameSent
			if m.hidden > 0 {
				t.Errorf("%s: %d visits missed a change, want none because its validators are honest", s.name, m.hidden)
			}
		}
		if m.longest > 50 || m.longestTime > 30*24*time.Hour {
			t.Errorf("%s: a change was missed for %d visits and %s, longer than the audit interval", s.name, m.longest, m.longestTime)
		}
	}
	t.Logf("%d pages, %d requests in %s; with honest validators %.1f %% of unchanged bytes were not transferred",
		len(size), len(asked), time.Since(began).Round(time.Second), honest.spared())
	if honest.spared() < minSpared(*monthPages) {
		t.Errorf("%.1f %% of unchanged bytes were not transferred, want at least %.0f %%", honest.spared(), minSpared(*monthPages))
	}
}

// minSpared returns the minimum percentage of unchanged bytes that must not be transferred. It is lower for a small
// web, where the three bodies per host that prove its validators are a larger part.
func minSpared(pages int) float64 {
	if pages >= 1000 {
		return 96
	}
	return 80
}

func monthSeeds(each int, seeds *[]string) string {
	var quoted []string
	for _, s := range monthSites {
		for n := range each {
			u := fmt.Sprintf("http://%s.example/%d", s.name, n)
			*seeds = append(*seeds, u)
			quoted = append(quoted, fmt.Sprintf("%q", u))
		}
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (m monthOfHost) spared() float64 {
	if m.sameBytes == 0 {
		return 0
	}
	return 100 * (1 - float64(m.sameSent)/float64(m.sameBytes))
}

// monthOf computes the totals of one host from the recorded requests. Two answers have the same version if that version
// began at the same time.
func monthOf(asked []testcrawl.Request, size map[string]int, host string) (m monthOfHost) {
	type state struct {
		have   string // version of the last body that was read
		row    int
		hidden time.Time // time of the first visit that missed the change
	}
	pages := map[string]*state{}
	for _, a := range asked {
		if !strings.HasPrefix(a.URI, host) || size[a.URI] == 0 {
			continue
		}
		m.visits++
		s := pages[a.URI]
		is := fmt.Sprint(a.From, a.Version)
		read := a.Status == 200 && !a.Broken
		switch {
		case s == nil:
			s = &state{have: is}
			pages[a.URI] = s
		case s.have == is:
			m.sameBytes += int64(size[a.URI])
			m.sameSent += int64(a.Sent)
			s.row = 0
		case !read:
			m.hidden++
			if s.row++; s.row == 1 {
				s.hidden = a.At
			}
			m.longest, m.longestTime = max(m.longest, s.row), max(m.longestTime, a.At.Sub(s.hidden))
		default:
			s.have, s.row = is, 0
		}
	}
	return m
}

const everyMinute = `[crawl]
workers = 4
[[wait]]
mime = ".*"
rule = "fixed"
every = "1m"
[retry]
first = "1m"
max = "1m"
[robots]
wait = "30d"
[seeds]
uris = [%s]
`

// Forty hosts send their pages at 150 bytes a second, which is more than fetch.min_rate, and are due all the time. A
// healthy site is visited as often as without them.
func TestSlowBodiesDoNotKeepAHealthySiteWaiting(t *testing.T) {
	without := visitsBesideDrippingHosts(t, 0, 0)
	for _, c := range []struct {
		name          string
		hosts, honest int
	}{
		{"hosts that always drip", 40, 0},
		{"hosts that first answer ten times", 40, 10},
	} {
		if with := visitsBesideDrippingHosts(t, c.hosts, c.honest); 10*with < 9*without {
			t.Errorf("%s: the healthy site had %d visits in three hours, and %d without the attack", c.name, with, without)
		}
	}
}

// visitsBesideDrippingHosts crawls for three hours, and returns the number of visits of a healthy site. Dripping hosts
// answer the first honest requests at once.
func visitsBesideDrippingHosts(t *testing.T, hosts, honest int) (visits int) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		seeds := []string{`"http://healthy.example/"`}
		for n := range hosts {
			seeds = append(seeds, fmt.Sprintf(`"http://drip%d.example/"`, n))
		}
		w := newWorld(t, dir, fmt.Sprintf(everyMinute, strings.Join(seeds, ", ")))
		w.set("http://healthy.example/", testcrawl.Page{})
		d := &drippingHosts{honest: honest, answered: map[string]int{}}
		defer d.serving.Wait()
		parts, shut := w.openOptions(func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, "drip") {
				return w.town.Dial(ctx, network, address)
			}
			ours, theirs := net.Pipe()
			d.serving.Go(func() { d.serve(theirs, address) })
			return ours, nil
		}, func(o *frontier.Options) { o.MaxDoubtful = frontier.MaxDoubtful(4) })
		defer shut()
		c := crawler.New(parts)
		w.crawlWith(c, 3*time.Hour)
		visits = len(w.visits("healthy.example/"))
	})
	return visits
}

// drippingHosts are hosts that answer their first requests, and then send a body of 150 bytes a second.
type drippingHosts struct {
	honest  int // requests of each host that are answered at once
	serving sync.WaitGroup

	mu       sync.Mutex // guards answered
	answered map[string]int
}

func (d *drippingHosts) serve(c net.Conn, host string) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		d.mu.Lock()
		n := d.answered[host]
		d.answered[host]++
		d.mu.Unlock()
		switch {
		case req.URL.Path == "/robots.txt":
			_, err = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		case n <= d.honest:
			_, err = io.WriteString(c, good+"Content-Length: 2\r\n\r\nhi")
		default:
			_, err = io.WriteString(c, good+"\r\n")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(c, strings.Repeat("x", 150))
			}
		}
		if err != nil {
			return
		}
	}
}

// TestAnnotationsAreSaidInWords has an annotation of each kind, and what no version of the program writes.
func TestAnnotationsAreSaidInWords(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string]string{
		"chg:4.1": "4.1 changes a day are expected", "chg:0.033": "a change every 30d7h is expected", "miss:0.16": "about 16 % of versions are missed",
		"new:1": "about 1 version new since the last visit", "new:2.6": "about 3 versions new since the last visit", "spared:20480": "20.5 kB not transferred",
		"asked:120": "the server asked for no request during 2m", "dol:1": "1 link left out", "head:3": "3 lines of its header repaired",
		"feedNew:2": "2 entries new", "odds:0.37": "a change was expected with a probability of 37 %", "odds:2": "", "sitemapListed:1": "first reading, with 1 entry", "feedGap": "entries of the feed were probably missed",
		"trapsUntested:7":      "7 links not compared with traps before they are due",
		"challenge:cloudflare": "a challenge to prove that the visitor is human (cloudflare)", "err=connection_refused;_again": "connection refused; again",
		"permission:letter_of_the_publisher": "robots.txt forbids it; permitted by: letter of the publisher",
		"ip:192.0.2.7":                       "from 192.0.2.7", "content-size:12": "", "midFetchAbort": "stopped after the header, which showed no change",
		"duplicate:server-not-modified": "the server said that nothing changed (304)", "look:noisy": "fetched twice: only parts differ that a reader does not see",
		"chg:x": "", "miss:x": "", "new:x": "", "chg:-1": "", "somethingNew:7": "somethingNew:7", "": "",
	} {
		if got := crawler.Words(annotation); got != want {
			t.Errorf("%q is %q in words, want %q", annotation, got, want)
		}
	}
	for _, known := range []string{
		crawllog.Unchanged, crawllog.MidFetchAbort, crawllog.LengthTruncated, crawllog.TimeTruncated,
		crawllog.DuplicateDigest, crawllog.Unwritten, crawllog.Evidence, crawllog.OtherRequest, crawllog.AcceptedExpired,
		crawllog.Restless, crawllog.Noise,
		crawllog.Way + "x", crawllog.Permission + "x", crawllog.Spared + "1", crawllog.Asked + "1",
		crawllog.Look + "same", crawllog.Hit + "other",
	} {
		if got := crawler.Words(known); got == known || strings.ContainsAny(got, "_") {
			t.Errorf("%q has no words: %q", known, got)
		}
	}
}
