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

// newsPage is a page of a news host in virtual time.
type newsPage struct {
	perDay     float64       // changes
	alive      time.Duration // how long it changes
	born, seen time.Time     // seen: at the last visit
	changed    float64       // visits that found a change
}

// changes returns the number of changes expected between two times.
func (p *newsPage) changes(from, to time.Time) float64 {
	if end := p.born.Add(p.alive); to.After(end) {
		to = end
	}
	return max(0, p.perDay*to.Sub(from).Hours()/24)
}

// captured returns the share of all versions of a news host that are captured in four days of a thousand visits. The
// host has a front page, sections, articles that change for six hours, and pages that hardly ever change. The wait is
// divided by 1.5 after a change, and multiplied otherwise.
func captured(t *testing.T, order frontier.Order) float64 {
	t.Helper()
	w := newWorld(t, func(o *frontier.Options) { o.Order = order })
	rnd, list, end := rand.New(rand.NewPCG(1, 2)), map[uri.URI]*newsPage{}, day.AddDate(0, 0, 4)
	add := func(kind string, n int, hops uri.HopPath, now time.Time, p newsPage) {
		for i := range n {
			u := parse(t, fmt.Sprintf("http://news.example/%s/%d/%d", kind, i, now.Unix()))
			page := p
			page.born, list[u] = now, &page
			w.addAll(frontier.Candidate{URI: u, Hops: hops, Due: now})
		}
	}
	always := end.Sub(day)
	add("front", 1, "", day, newsPage{perDay: 144, alive: always})
	add("section", 10, "L", day, newsPage{perDay: 48, alive: always})
	add("static", 1000, "L", day, newsPage{perDay: 0.01, alive: always})
	captures := 0.0
	for n := 0; n < 4*1000; n++ {
		now := at(time.Duration(n) * 24 * time.Hour / 1000)
		if n%10 == 0 {
			add("article", 1, "L", now, newsPage{perDay: 10, alive: 6 * time.Hour})
		}
		c, ok, err := w.Claim(now)
		must(t, err)
		if !ok {
			continue
		}
		p, o := list[c.Record.URI], visited(c, now, 0)
		switch r := &o.Record; {
		case p.seen.IsZero():
			r.Wait = time.Hour
			captures++
		case rnd.Float64() < 1-math.Exp(-p.changes(p.seen, now)):
			r.Wait = max(r.Wait*2/3, 10*time.Minute)
			captures++
			p.changed++
		default:
			r.Wait = min(r.Wait*3/2, 28*24*time.Hour)
		}
		p.seen = now
		o.Record.Rate = (p.changed + 0.3) / (now.Sub(c.Record.FirstSeen).Hours()/24 + 0.1)
		o.Record.Due, o.Politeness = now.Add(o.Record.Wait), frontier.Politeness{}
		w.settle(c, o)
	}
	versions := float64(len(list))
	for _, p := range list {
		versions += p.changes(p.born, end)
	}
	return captures / versions
}

// If a host has more due URIs than it can serve, most versions are captured when the URI that would lose most versions
// goes first.
func TestOrderUnderOverload(t *testing.T) {
	t.Parallel()
	due, value := captured(t, frontier.ByDue), captured(t, frontier.ByValue)
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
