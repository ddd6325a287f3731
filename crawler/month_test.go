package crawler_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

var monthPages = flag.Int("month", 60, "pages of the month that TestAMonthOfJudgingChange plays")

// site is a host of the month, with headers that are honest or not.
type site struct {
	name   string
	honest bool
	page   func(every time.Duration, n int) []town.Page
}

// once returns a page that behaves in the same way all month.
func once(set func(p *town.Page, n int)) func(time.Duration, int) []town.Page {
	return func(every time.Duration, n int) []town.Page {
		p := town.Page{Every: every, Size: 4000 + 1000*(n%7)}
		set(&p, n)
		return []town.Page{p}
	}
}

var monthSites = []site{
	{"both", true, once(func(p *town.Page, _ int) { p.ETag, p.Modified = "honest", "honest" })},
	{"etag", true, once(func(p *town.Page, _ int) { p.ETag = "honest" })},
	{"date", true, once(func(p *town.Page, _ int) { p.Modified = "honest" })},
	{"weak", true, once(func(p *town.Page, _ int) { p.ETag = "weak" })},
	{"partial", false, once(func(p *town.Page, n int) {
		if n%2 == 0 {
			p.ETag = "honest"
		}
	})},
	{"none", false, once(func(*town.Page, int) {})},
	{"frozen-date", false, once(func(p *town.Page, _ int) { p.Modified, p.Ignore = "lie", true })},
	{"frozen-etag", false, once(func(p *town.Page, _ int) { p.ETag = `"v1"` })},
	{"denier", false, once(func(p *town.Page, _ int) { p.ETag, p.Deny = "honest", true })},
	{"turncoat", false, func(every time.Duration, n int) []town.Page {
		p := town.Page{Size: 4000, ETag: `"v1"`} // honest until the page changes
		q := p
		q.From, q.Every = 10*24*time.Hour, every
		return []town.Page{p, q}
	}},
}

var monthRhythms = []time.Duration{0, 20 * time.Hour, 0, 3 * 24 * time.Hour, 7 * 24 * time.Hour, 0, 16 * 24 * time.Hour}

// monthOfHost sums up the month of one host.
type monthOfHost struct {
	visits      int
	sameBytes   int64 // of documents that were the same as captured
	sameSent    int64 // of these, bytes that were sent
	hidden      int   // visits that left a change unread
	longest     int   // maximum of these in a row
	longestTime time.Duration
}

// TestAMonthOfJudgingChange plays 30 days of a web with honest, false, partial and missing validators, with the default
// settings; -month 1000 plays it in full. From the requests that the town has recorded it computes what was transferred
// without need, and how long a change stayed unread although the page was visited.
func TestAMonthOfJudgingChange(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	var asked []town.Request
	size := map[string]int{}
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		var seeds []string
		each := *monthPages / len(monthSites)
		w := newWorld(t, dir, "[crawl]\nworkers = 20\n[storage]\nmin_free = \"0B\"\n[seeds]\nuris = "+monthSeeds(each, &seeds)+"\n")
		defer w.town.Close()
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
		t.Logf("%-12s %5d visits, %5.1f %% of unchanged bytes not transferred, %3d visits left a change unread, at most %d in a row, %s",
			s.name, m.visits, m.spared(), m.hidden, m.longest, m.longestTime.Round(time.Hour))
		if s.honest {
			honest.sameBytes, honest.sameSent = honest.sameBytes+m.sameBytes, honest.sameSent+m.sameSent
			if m.hidden > 0 {
				t.Errorf("%s is honest, and %d visits left a change unread", s.name, m.hidden)
			}
		}
		if m.longest > 50 || m.longestTime > 30*24*time.Hour {
			t.Errorf("%s hid a change for %d visits and %s, beyond the audit interval", s.name, m.longest, m.longestTime)
		}
	}
	t.Logf("%d pages, %d requests in %s; where validators are honest %.1f %% of unchanged bytes were not transferred",
		len(size), len(asked), time.Since(began).Round(time.Second), honest.spared())
	if honest.spared() < minSpared(*monthPages) {
		t.Errorf("%.1f %% of unchanged bytes were not transferred, want %.0f %%", honest.spared(), minSpared(*monthPages))
	}
}

// minSpared returns the minimum percentage of bytes that must be saved. On a small web the proofs weigh more: three
// bodies of each host.
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

// monthOf sums up the requests to one host that the town has recorded. Versions differ in the time at which they began.
func monthOf(asked []town.Request, size map[string]int, host string) (m monthOfHost) {
	type state struct {
		have   string // the version whose body was read last
		row    int
		hidden time.Time // when a visit first left a change unread
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
