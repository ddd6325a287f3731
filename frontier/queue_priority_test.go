package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

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
