package frontier_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
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
	slow.Unraced(t, slow.OneGoroutine)
	due, value := captured(t, frontier.ByDue), captured(t, frontier.ByValue)
	if value < 1.3*due {
		t.Errorf("captured %.3f of all versions by due time and %.3f by value; want a third more", due, value)
	}
}

// No URI is handed out early, and no URI waits forever: neither a URI of low value, nor a seed, a feed or a first
// visit.
func TestNoURIStarvesUnderOverload(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
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

// handOut claims the next URI, settles it, due again in a day, and returns its path.
func (w *world) handOut(now time.Time) string {
	w.Helper()
	c := w.claimAny(now)
	o := visited(c, now, 24*time.Hour)
	o.Record.Urgent, o.Politeness = false, frontier.Politeness{}
	w.settle(c, o)
	return c.Record.URI.Path()
}

func newsURI(path string) uri.URI { return uri.FromCanonical("http://news.example" + path) }

func TestUrgentURIsGoBeforeURIsDueForLonger(t *testing.T) {
	t.Parallel()
	for _, waiting := range []int{1, 3, 50} {
		t.Run(fmt.Sprintf("%d others wait", waiting), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range waiting {
				w.addAll(frontier.Candidate{URI: newsURI(fmt.Sprintf("/old/%d", i)), Due: day.Add(-time.Hour)})
			}
			w.addAll(frontier.Candidate{URI: newsURI("/news"), Urgent: true})
			if got := w.handOut(day); got != "/news" {
				t.Errorf("handed out %s", got)
			}
			if got := w.handOut(day); got == "/news" {
				t.Error("the news was handed out twice")
			}
		})
	}
}

func TestAFloodOfNewsDoesNotStopOtherURIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 40 {
		w.addAll(frontier.Candidate{URI: newsURI(fmt.Sprintf("/news/%d", i)), Urgent: true}, frontier.Candidate{URI: newsURI(fmt.Sprintf("/old/%d", i))})
	}
	others := 0
	for range 32 {
		if got := w.handOut(day); got[:5] == "/old/" {
			others++
		}
	}
	if others < 2 || others > 4 {
		t.Errorf("%d of 32 choices were for others, want 2 to 4", others)
	}
}

func TestSoonerBringsKnownURIsForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := day.Add(10 * 24 * time.Hour)
	w.addAll(frontier.Candidate{URI: newsURI("/a"), Due: later}, frontier.Candidate{URI: newsURI("/b"), Due: later})
	soon := day.Add(time.Hour)
	added := w.addAll(frontier.Candidate{URI: newsURI("/a"), Due: soon, Sooner: true, Urgent: true},
		frontier.Candidate{URI: newsURI("/b"), Due: soon}, frontier.Candidate{URI: newsURI("/b"), Due: later.Add(time.Hour), Sooner: true})
	if want := (frontier.Added{Known: 3, Sooner: 1}); added != want {
		t.Errorf("added %+v, want %+v", added, want)
	}
	for path, want := range map[string]time.Time{"/a": soon, "/b": later} {
		sooner := path == "/a"
		if r := w.get("http://news.example" + path); !r.Due.Equal(want) || r.Urgent != sooner || (r.Why == frontier.WhySooner) != sooner {
			t.Errorf("%s is due %s, urgent %v, because %q; want %s", path, r.Due, r.Urgent, r.Why, want)
		}
	}
}

func TestReportedChangesAreRememberedUntilTheNextVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := frontier.Candidate{URI: newsURI("/a"), Due: day.Add(time.Minute)}
	w.addAll(a)
	first, second := day.Add(-time.Hour), day.Add(-time.Minute)
	for _, said := range []struct {
		changed, nothing time.Time
		sooner           bool
	}{
		{first, first.Add(-time.Hour), true},
		{second, first.Add(time.Minute), true},
		{first, first, true},
		{day, day, false},
	} {
		a.ReportedChange, a.ReportedUnchanged, a.Sooner = said.changed, said.nothing, said.sooner
		a.Due = day.Add(2 * time.Minute)
		if added := w.addAll(a); added != (frontier.Added{Known: 1}) {
			t.Errorf("after a report of a change at %s: %+v", said.changed, added)
		}
	}
	r := w.claimAny(at(time.Hour)).Record
	if !r.ReportedChange.Equal(second) || !r.ReportedUnchanged.Equal(first.Add(-time.Hour)) || r.Why != "" {
		t.Errorf("changed at %s, unchanged until %s, want the last change and the earliest time without one (%s)",
			r.ReportedChange, r.ReportedUnchanged, r.Why)
	}
}

// A source is read while one of its pages is visited. A change after the capture is remembered for the next visit. A
// change before it was seen by the visit, unless the visit failed or was released. The earlier one of two due times
// counts for the next visit.
func TestReportsDuringAVisitAreRemembered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said     time.Duration // reported time of the change, after the claim
		captured bool
		released bool
		want     bool
	}{
		"a change after the capture is kept":               {said: time.Second, captured: true, want: true},
		"a change before the capture is seen by the visit": {said: -time.Second, captured: true},
		"a change before a visit that failed is kept":      {said: -time.Second, want: true},
		"a change before a visit that is released is kept": {said: -time.Second, released: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := frontier.Candidate{URI: newsURI("/a")}
			w.addAll(a)
			claim := w.claimAny(day)
			o := visited(claim, at(2*time.Second), 24*time.Hour)
			if c.captured {
				o.Record.LastCapture = day
			}
			said, silent := day.Add(c.said), day.Add(-time.Hour)
			for i := range 2 { // reported twice: the last change and the earliest time without change count
				back := time.Duration(1-i) * time.Millisecond
				a.Sooner, a.Due = true, at(time.Minute+time.Duration(i)*time.Millisecond)
				a.ReportedChange, a.ReportedUnchanged = said.Add(-back), silent.Add(time.Duration(i)*time.Minute)
				w.addAll(a)
			}
			due := at(time.Minute)
			if c.released {
				must(t, w.Release(claim, day))
				due = day
			} else {
				w.settle(claim, o)
			}
			if !c.want {
				said, silent = time.Time{}, time.Time{}
			}
			if r := w.get("http://news.example/a"); !r.ReportedChange.Equal(said) || !r.ReportedUnchanged.Equal(silent) || !r.Due.Equal(due) {
				t.Errorf("changed at %s, unchanged until %s, due %s; want %s, %s and %s", r.ReportedChange, r.ReportedUnchanged, r.Due, said, silent, due)
			}
		})
	}
}

func TestAReleasedUrgentURIStaysUrgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addAll(frontier.Candidate{URI: newsURI("/old"), Due: day.Add(-time.Hour)}, frontier.Candidate{URI: newsURI("/news"), Urgent: true})
	c := w.claim(day, "http://news.example/news")
	diverted, err := w.Divert(c, newsURI("/robots.txt"), day)
	must(t, err)
	must(t, w.Release(diverted, day))
	if got := w.handOut(day); got != "/news" {
		t.Errorf("handed out %s", got)
	}
}

func TestSeenIsStoredWithTheSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	feed := newsURI("/rss.xml")
	w.addAll(frontier.Candidate{URI: feed, Source: "a feed"})
	for i, seen := range [][]byte{[]byte("one"), nil, make([]byte, frontier.MaxSeen), {}} {
		c := w.claim(at(time.Duration(i)*time.Minute), feed.String())
		o := visited(c, day, 0)
		if o.Seen = seen; c.Record.Source != "a feed" {
			t.Errorf("the claim has the source %q", c.Record.Source)
		}
		for n := range 1000 {
			o.Found = append(o.Found, frontier.Candidate{URI: newsURI(fmt.Sprintf("/%d/%d", i, n)), Due: at(time.Hour)})
		}
		w.settle(c, o)
		want := string(seen)
		if seen == nil {
			want = "one"
		}
		if got, err := w.Seen(feed); err != nil || string(got) != want {
			t.Errorf("%d: listed %d bytes, want %d (%v)", i, len(got), len(want), err)
		}
	}
	if got, err := w.Seen(newsURI("/0/0")); err != nil || got != nil {
		t.Errorf("a page has listed %q (%v)", got, err)
	}
}

// The segments that are cached for the queue of a crowded host are updated when URIs are added, removed or moved. They
// are not read again. Check compares them with the queue.
func TestQueueSegmentsHaveNoGap(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	for seed := range uint64(6) {
		w := newWorld(t, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 3 } })
		rnd := rand.New(rand.NewPCG(seed, 0))
		soon := []time.Duration{time.Second, time.Minute, time.Hour, 100 * time.Hour}[:2+seed%3]
		later := func() time.Duration { return 1 + time.Duration(rnd.Int64N(int64(soon[rnd.IntN(len(soon))]))) }
		now, n := day, 0
		add := func() {
			n++
			u := parse(t, fmt.Sprintf("http://a.example/%d", n))
			due := now.Add(-later())
			if seed%2 == 1 {
				due = due.Add(later())
			}
			_, err := w.Add(now, frontier.Candidate{URI: u, Hops: "L", Due: due})
			w.wantErr(err, nil)
		}
		for range 150 * (1 + seed%4) {
			add()
		}
		var claims []frontier.Claim
		for step := range 1500 {
			now = now.Add(time.Duration(rnd.Int64N(int64(seed+1) * int64(time.Second))))
			switch what := rnd.IntN(20); {
			case what == 0 || what < 9 && seed == 3: // as many URIs are added as are visited
				add()
			case what == 1:
				named := frontier.Selection{URIs: []uri.URI{parse(t, fmt.Sprintf("http://a.example/%d", 1+rnd.IntN(n)))}}
				verb := []frontier.Verb{frontier.Forget, frontier.Hold, frontier.Release, frontier.Force}[rnd.IntN(4)]
				_, _, err := w.Steer(now, named, frontier.Action{Verb: verb}, "")
				w.wantErr(err, nil)
			case what < 11 && len(claims) < 3:
				if c, ok, err := w.Claim(now); err != nil {
					t.Fatal(err)
				} else if ok {
					claims = append(claims, c)
				}
			case len(claims) > 0:
				i := rnd.IntN(len(claims))
				c := claims[i]
				o := visited(c, now, later())
				o.Politeness = frontier.Politeness{}
				if what == 19 {
					w.wantErr(w.Release(c, now), nil)
				} else if what == 18 { // the store fails; the claim stays valid
					broken := errors.New("broken")
					o.AlsoWrite = func(*badger.Txn) error { return broken }
					_, err := w.Settle(c, o)
					w.wantErr(err, broken)
					continue
				} else {
					w.settle(c, o)
				}
				claims = append(claims[:i], claims[i+1:]...)
			}
			if step%25 == 0 {
				w.check()
			}
		}
		for _, c := range claims {
			w.wantErr(w.Release(c, now), nil)
		}
	}
}
