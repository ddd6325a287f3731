package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// handOut claims the next URI and settles it, due again in a day.
func handOut(t *testing.T, f *frontier.Frontier, now time.Time) string {
	t.Helper()
	c, ok, err := f.Claim(now)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	r := c.Record
	r.Due, r.Urgent, r.LastVisit = now.Add(24*time.Hour), false, now
	if _, err := f.Settle(c, frontier.Settlement{Record: r, Finished: now}); err != nil {
		t.Fatal(err)
	}
	return r.URI.Path()
}

func openUrgent(t *testing.T) (*frontier.Frontier, time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
	must(t, err)
	t.Cleanup(func() {
		if err := f.Check(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, now
}

func addTo(t *testing.T, f *frontier.Frontier, now time.Time, cs ...frontier.Candidate) frontier.Added {
	t.Helper()
	added, err := f.Add(now, cs...)
	must(t, err)
	return added
}

func newsURI(path string) uri.URI { return uri.FromCanonical("http://news.example" + path) }

func TestUrgentURIsGoBeforeURIsDueForLonger(t *testing.T) {
	t.Parallel()
	for _, waiting := range []int{1, 3, 50} {
		t.Run(fmt.Sprintf("%d others wait", waiting), func(t *testing.T) {
			t.Parallel()
			f, now := openUrgent(t)
			for i := range waiting {
				addTo(t, f, now, frontier.Candidate{URI: newsURI(fmt.Sprintf("/old/%d", i)), Due: now.Add(-time.Hour)})
			}
			addTo(t, f, now, frontier.Candidate{URI: newsURI("/news"), Urgent: true})
			if got := handOut(t, f, now); got != "/news" {
				t.Errorf("handed out %s", got)
			}
			if got := handOut(t, f, now); got == "/news" {
				t.Error("the news was handed out twice")
			}
		})
	}
}

func TestAFloodOfNewsDoesNotStopOtherURIs(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	for i := range 40 {
		addTo(t, f, now, frontier.Candidate{URI: newsURI(fmt.Sprintf("/news/%d", i)), Urgent: true}, frontier.Candidate{URI: newsURI(fmt.Sprintf("/old/%d", i))})
	}
	others := 0
	for range 32 {
		if got := handOut(t, f, now); got[:5] == "/old/" {
			others++
		}
	}
	if others < 2 || others > 4 {
		t.Errorf("%d of 32 choices were for others, want 2 to 4", others)
	}
}

func TestSoonerBringsKnownURIsForward(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	later := now.Add(10 * 24 * time.Hour)
	addTo(t, f, now, frontier.Candidate{URI: newsURI("/a"), Due: later}, frontier.Candidate{URI: newsURI("/b"), Due: later})
	soon := now.Add(time.Hour)
	added := addTo(t, f, now, frontier.Candidate{URI: newsURI("/a"), Due: soon, Sooner: true, Urgent: true},
		frontier.Candidate{URI: newsURI("/b"), Due: soon}, frontier.Candidate{URI: newsURI("/b"), Due: later.Add(time.Hour), Sooner: true})
	if want := (frontier.Added{Known: 3, Sooner: 1}); added != want {
		t.Errorf("added %+v, want %+v", added, want)
	}
	for path, want := range map[string]time.Time{"/a": soon, "/b": later} {
		if r, ok, err := f.Get(newsURI(path)); err != nil || !ok || !r.Due.Equal(want) || r.Urgent != (path == "/a") {
			t.Errorf("%s is due %s, urgent %v, want %s (%v %v)", path, r.Due, r.Urgent, want, ok, err)
		}
	}
}

func TestReportedChangesAreRememberedUntilTheNextVisit(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	a := frontier.Candidate{URI: newsURI("/a"), Due: now.Add(time.Minute)}
	addTo(t, f, now, a)
	first, second := now.Add(-time.Hour), now.Add(-time.Minute)
	for _, said := range []struct {
		changed, nothing time.Time
		sooner           bool
	}{{first, first.Add(-time.Hour), true}, {second, first.Add(time.Minute), true}, {first, first, true}, {
		now, now,
		false,
	}} {
		a.ReportedChange, a.ReportedUnchanged, a.Sooner = said.changed, said.nothing, said.sooner
		a.Due = now.Add(2 * time.Minute)
		if added := addTo(t, f, now, a); added != (frontier.Added{Known: 1}) {
			t.Errorf("after a report of a change at %s: %+v", said.changed, added)
		}
	}
	r, _, err := f.Get(newsURI("/a"))
	if err != nil || !r.ReportedChange.Equal(second) || !r.ReportedUnchanged.Equal(first.Add(-time.Hour)) || r.Why != "" {
		t.Errorf("changed at %s, unchanged until %s, want the last change and the earliest time without one (%v; %s)",
			r.ReportedChange, r.ReportedUnchanged, err, r.Why)
	}
	if c, ok, err := f.Claim(now.Add(time.Hour)); err != nil || !ok || !c.Record.ReportedChange.Equal(second) {
		t.Errorf("the claim does not have the report: %+v, %v", c.Record, err)
	}
}

func TestSoonerDuringAVisit(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	addTo(t, f, now, frontier.Candidate{URI: newsURI("/a")})
	c, ok, err := f.Claim(now)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	soon := now.Add(time.Minute)
	addTo(t, f, now, frontier.Candidate{URI: newsURI("/a"), Due: soon, Sooner: true})
	r := c.Record
	r.Due = now.Add(24 * time.Hour)
	if _, err := f.Settle(c, frontier.Settlement{Record: r, Finished: now}); err != nil {
		t.Fatal(err)
	}
	if r, _, err := f.Get(newsURI("/a")); err != nil || !r.Due.Equal(soon) {
		t.Errorf("due %s, want %s (%v)", r.Due, soon, err)
	}
}

// A source is read while one of its pages is visited. A change after the capture is remembered for the next visit. A
// change before it was seen by the visit, unless the visit failed or was released.
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
			f, now := openUrgent(t)
			a := frontier.Candidate{URI: newsURI("/a")}
			addTo(t, f, now, a)
			claim, _, err := f.Claim(now)
			must(t, err)
			r := claim.Record
			r.Due = now.Add(24 * time.Hour)
			if c.captured {
				r.LastCapture = now
			}
			a.Sooner, a.Due = true, now.Add(time.Minute)
			said, silent := now.Add(c.said), now.Add(-time.Hour)
			for i := range 2 { // reported twice: the last change and the earliest time without change count
				back := time.Duration(1-i) * time.Millisecond
				a.ReportedChange, a.ReportedUnchanged = said.Add(-back), silent.Add(time.Duration(i)*time.Minute)
				addTo(t, f, now, a)
			}
			if c.released {
				err = f.Release(claim, now)
			} else {
				_, err = f.Settle(claim, frontier.Settlement{Record: r, Finished: now.Add(2 * time.Second)})
			}
			must(t, err)
			if !c.want {
				said, silent = time.Time{}, time.Time{}
			}
			if r, _, err = f.Get(newsURI("/a")); err != nil || !r.ReportedChange.Equal(said) || !r.ReportedUnchanged.Equal(silent) {
				t.Errorf("changed at %s, unchanged until %s, want %s and %s (%v)", r.ReportedChange, r.ReportedUnchanged, said, silent, err)
			}
		})
	}
}

func TestAReleasedUrgentURIStaysUrgent(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	addTo(t, f, now, frontier.Candidate{URI: newsURI("/old"), Due: now.Add(-time.Hour)}, frontier.Candidate{URI: newsURI("/news"), Urgent: true})
	c, _, err := f.Claim(now)
	if err != nil || c.Record.URI != newsURI("/news") {
		t.Fatal(c.Record.URI, err)
	}
	diverted, err := f.Divert(c, newsURI("/robots.txt"), now)
	must(t, err)
	must(t, f.Release(diverted, now))
	if got := handOut(t, f, now); got != "/news" {
		t.Errorf("handed out %s", got)
	}
}

func TestSeenIsStoredWithTheSource(t *testing.T) {
	t.Parallel()
	f, now := openUrgent(t)
	feed := newsURI("/rss.xml")
	addTo(t, f, now, frontier.Candidate{URI: feed, Source: "a feed"})
	for i, seen := range [][]byte{[]byte("one"), nil, make([]byte, frontier.MaxSeen), {}} {
		c, _, err := f.Claim(now)
		if err != nil || c.Record.Source != "a feed" {
			t.Fatal(c.Record.Source, err)
		}
		r := c.Record
		r.Due = now
		var found []frontier.Candidate
		for n := range 1000 {
			found = append(found, frontier.Candidate{URI: newsURI(fmt.Sprintf("/%d/%d", i, n)), Due: now.Add(time.Hour)})
		}
		if _, err := f.Settle(c, frontier.Settlement{Record: r, Finished: now, Seen: seen, Found: found}); err != nil {
			t.Fatal(err)
		}
		want := string(seen)
		if seen == nil {
			want = "one"
		}
		if got, err := f.Seen(feed); err != nil || string(got) != want {
			t.Errorf("%d: listed %d bytes, want %d (%v)", i, len(got), len(want), err)
		}
	}
	if got, err := f.Seen(newsURI("/0/0")); err != nil || got != nil {
		t.Errorf("a page has listed %q (%v)", got, err)
	}
}
