package frontier_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// newsroom is a news host in virtual time. It has a front page, sections, articles that change less often as they age,
// and pages that hardly ever change. Politeness allows fewer visits than are due.
type newsroom struct {
	*world
	rnd   *rand.Rand
	pages map[uri.URI]*newsPage
}

type newsPage struct {
	changes  []time.Time // all changes, in order
	seen     int         // changes that happened before the last visit
	captured int
	changed  int // visits that found a change
}

// newPage draws the changes that a page will have until the end.
func (n *newsroom) newPage(kind string, i int, born, end time.Time) uri.URI {
	p := &newsPage{changes: []time.Time{born}}
	perDay := map[string]float64{"front": 144, "section": 48, "static": 0.01}[kind]
	for t := born; ; {
		if kind == "article" { // 2.5 edits in total, most of them early
			perDay = 24 * 2.5 * math.Exp(-t.Sub(born).Hours()/6) / 6
			if perDay < 0.01 {
				break
			}
		}
		step := time.Duration(n.rnd.ExpFloat64() / perDay * float64(24*time.Hour))
		if kind == "article" && step > time.Hour { // the rate falls during a long step
			t = t.Add(time.Hour)
			continue
		}
		if t = t.Add(step); t.After(end) {
			break
		}
		p.changes = append(p.changes, t)
	}
	u := parse(n, fmt.Sprintf("http://news.example/%s/%d", kind, i))
	n.pages[u] = p
	return u
}

// visit visits a page and settles it with the adaptive rule of earlier crawlers. The wait is divided by 1.5 after a
// change, and multiplied otherwise.
func (n *newsroom) visit(c frontier.Claim, now time.Time) {
	p := n.pages[c.Record.URI]
	seen := p.seen
	for p.seen < len(p.changes) && !p.changes[p.seen].After(now) {
		p.seen++
	}
	r := c.Record
	r.Visits++
	switch changed := p.seen > seen; {
	case r.Wait == 0:
		r.Wait = time.Hour
		p.captured++
	case changed:
		r.Wait = max(r.Wait*2/3, 10*time.Minute)
		p.captured++
		p.changed++
	default:
		r.Wait = min(r.Wait*3/2, 28*24*time.Hour)
	}
	watched := now.Sub(r.FirstSeen).Hours() / 24
	r.Rate = (float64(p.changed) + 0.3) / (watched + 0.1)
	r.LastVisit, r.Due = now, now.Add(r.Wait)
	n.settle(c, frontier.Settlement{Record: r, Finished: now})
}

// share returns the share of all versions that were captured.
func (n *newsroom) share(end time.Time) float64 {
	captured, all := 0, 0
	for _, p := range n.pages {
		captured += p.captured
		for _, t := range p.changes {
			if t.Before(end) {
				all++
			}
		}
	}
	return float64(captured) / float64(all)
}

func news(t testing.TB, order frontier.Order, budget, days int) *newsroom {
	t.Helper()
	n := &newsroom{
		world: newWorld(t, func(o *frontier.Options) { o.Order = order }), rnd: rand.New(rand.NewPCG(1, 2)),
		pages: map[uri.URI]*newsPage{},
	}
	end := day.AddDate(0, 0, days)
	add := func(kind string, i int, now time.Time) {
		c := frontier.Candidate{URI: n.newPage(kind, i, now, end), Hops: "L", Due: now}
		if kind == "front" {
			c.Hops = ""
		}
		if _, err := n.Add(now, c); err != nil {
			t.Fatal(err)
		}
	}
	add("front", 0, day)
	for i := range 10 {
		add("section", i, day)
	}
	for i := range 1000 {
		add("static", i, day)
	}
	article := 0
	for now := day; now.Before(end); now = now.Add(24 * time.Hour / time.Duration(budget)) {
		for float64(article) < now.Sub(day).Hours()/24*100 {
			add("article", article, now)
			article++
		}
		c, ok, err := n.Claim(now)
		must(t, err)
		if ok {
			n.visit(c, now)
		}
	}
	return n
}

// If a host has more due URIs than it can serve, most versions are captured when the URI that would lose most versions
// goes first.
func TestOrderUnderOverload(t *testing.T) {
	t.Parallel()
	const days = 4
	end := day.AddDate(0, 0, days)
	due, value := news(t, frontier.ByDue, 1000, days).share(end), news(t, frontier.ByValue, 1000, days).share(end)
	if value < 1.3*due {
		t.Errorf("captured %.3f of all versions by due time and %.3f by value; want a third more", due, value)
	}
}

// No URI is handed out early, and no URI waits forever: neither a URI of low value, nor a seed, a feed or a first
// visit.
func TestNoURIStarvesUnderOverload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds := map[string]int{}
	link := func(text string, due time.Time) {
		if _, err := w.Add(day, frontier.Candidate{URI: parse(t, text), Hops: "L", Due: due}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 400 { // more than are compared at a time; one visit each ten minutes, but ten times as many are due
		link(fmt.Sprintf("http://a.example/busy/%d", i), day.Add(time.Duration(i)*time.Second))
	}
	link("http://a.example/slow", at(time.Minute))
	link("http://a.example/feed", day)
	now, fresh := day, 0
	last := map[string]time.Time{}
	for range 4000 {
		now = now.Add(10 * time.Minute)
		if fresh++; fresh%10 == 0 {
			link(fmt.Sprintf("http://a.example/new/%d", fresh), now)
		}
		c, ok, err := w.Claim(now)
		if err != nil || !ok || c.Record.Due.After(now) {
			t.Fatalf("Claim: %v, %v, due %s at %s", ok, err, c.Record.Due, now)
		}
		r := c.Record
		kind := r.URI.Path()[1:2]
		if r.Visits == 0 {
			kinds["first"]++
		} else {
			kinds[kind]++
		}
		r.Visits++
		r.Wait, r.Rate = 6*time.Hour, 50
		switch kind {
		case "s":
			r.Rate = 0.001
		case "f":
			r.ContentType, r.Rate = "application/rss+xml", 0.01
		}
		r.LastVisit, r.Due = now, now.Add(r.Wait)
		last[r.URI.String()] = now
		w.settle(c, frontier.Settlement{Record: r, Finished: now})
	}
	oldest := now
	for _, when := range last {
		if when.Before(oldest) {
			oldest = when
		}
	}
	t.Logf("visits %v, the longest wait %s", kinds, now.Sub(oldest))
	if kinds["f"] < 60 || kinds["s"] < 2 || kinds["first"] < 800 {
		t.Errorf("visits %v; want the feed, the slow page and all first visits among them", kinds)
	}
}
