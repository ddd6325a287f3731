package feeds

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// follow visits a feed with the given policy for some time. The feed publishes an item at each interval and lists the
// last ones.
func follow(p Policy, interval, lasts time.Duration, listed int) (last State, waits []time.Duration, missed int) {
	var s Seen
	var st State
	now := start
	newest := -1
	for now.Before(start.Add(lasts)) {
		d := Document{Kind: Feed}
		top := int(now.Sub(start) / interval)
		for i := top; i > top-listed && i >= 0; i-- {
			d.Items = append(d.Items, items(fmt.Sprintf("%d:/%d", i, i))...)
		}
		if len(d.Items) > 0 {
			missed += max(0, top-listed-newest)
			newest = top
		}
		var r Reading
		s, r = s.Read(now, d)
		st = st.After(now, d, r, 0, 0)
		w := p.Next(st, now, 0)
		waits = append(waits, w.Interval)
		now = now.Add(w.Interval)
	}
	return st, waits, missed
}

func TestNextFollowsTheRateOfNewItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval, min, max time.Duration
	}{
		{time.Minute, 5 * time.Minute, 5 * time.Minute},
		{20 * time.Minute, 6 * time.Minute, 15 * time.Minute},
		{6 * time.Hour, time.Hour, 4 * time.Hour},
		{10 * 24 * time.Hour, 6 * time.Hour, 6 * time.Hour},
	} {
		_, waits, missed := follow(DefaultPolicy(), c.interval, 30*24*time.Hour, 30)
		for _, w := range waits[len(waits)-20:] {
			if w < c.min || w > c.max {
				t.Errorf("an item every %s: wait %s, want %s to %s", c.interval, w, c.min, c.max)
				break
			}
		}
		if missed > 0 {
			t.Errorf("an item every %s: %d items were missed, want none", c.interval, missed)
		}
	}
}

func TestNextShortensWaitsAfterItemsWereMissed(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	p.Feed.Initial = 3 * time.Hour // so that the first waits miss items
	p.HintsUpTo = 24 * time.Hour
	st, waits, missed := follow(p, 10*time.Minute, 2*24*time.Hour, 5)
	if st.Gaps == 0 || missed == 0 {
		t.Errorf("%d gaps, %d missed items: the test does not begin with a gap", st.Gaps, missed)
	}
	for _, w := range waits[len(waits)/2:] {
		if w > 25*time.Minute {
			t.Errorf("wait %s, want at most 25m: all five items are replaced in 50 minutes", w)
		}
	}
	if age := start.Add(2 * 24 * time.Hour).Sub(st.LastGap); age < 40*time.Hour {
		t.Errorf("the last gap was %s before the end, want at least 40h", age)
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	quiet := State{
		Kind: Feed, Read: start, Began: at(-40 * 24 * time.Hour), News: at(-time.Hour), Listed: 20,
		slow: average{10, 100}, // 0.1 per hour
	}
	with := func(change func(*State)) State { s := quiet; change(&s); return s }
	for _, c := range []struct {
		name   string
		s      State
		cached time.Duration
		want   time.Duration
		reason string
	}{
		{"the rate of new items decides", quiet, 0, 4*time.Hour + 47*time.Minute, "2.5 new items a day"},
		{"first reading", State{Kind: Feed, Read: start, Began: start}, 0, 30 * time.Minute, "first reading"},
		{"a busy feed asks for a longer wait", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100; s.Hints.Every = 30 * time.Minute }), 0, 30 * time.Minute, "asked for 30m"},
		{"the cache of a busy feed asks for a longer wait", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100 }), 20 * time.Minute, 20 * time.Minute, "asked for 20m"},
		{"a hint beyond HintsUpTo", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100; s.Hints.Every = 24 * time.Hour }), 0, time.Hour, "asked for 1h"},
		{"a hint beyond which items would be missed", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 4; s.Hints.Every = 24 * time.Hour }), 0, 24 * time.Minute, "lists no more than 4"},
		{"the hour is skipped", with(func(s *State) { s.Hints.SkipHours = 1 << 16; s.Listed = 100 }), 0, 5 * time.Hour, "hours that it skips"},
		{"all hours are skipped", with(func(s *State) { s.Hints.SkipHours = 1<<24 - 1; s.Listed = 100 }), 0, 5*time.Hour + 47*time.Minute, "hours that it skips"},
		{"items were missed", with(func(s *State) { s.ceiling = 10 * time.Minute }), 0, 10 * time.Minute, "is replaced"},
		{"a silent feed", with(func(s *State) { s.News = at(-70 * 24 * time.Hour); s.Began = at(-90 * 24 * time.Hour) }), 0, 7 * 24 * time.Hour, "without anything new for 70d: slow lane"},
		{"a feed that was always empty", with(func(s *State) { s.News = time.Time{}; s.Began = at(-90 * 24 * time.Hour) }), 0, 7 * 24 * time.Hour, "slow lane"},
		{"unreadable once", with(func(s *State) { s.Broken = 1 }), 0, 30 * time.Minute, "cannot be read, 1 time"},
		{"no longer a feed", with(func(s *State) { s.Broken = 4 }), 0, 7 * 24 * time.Hour, "slow lane"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := DefaultPolicy().Next(c.s, start, c.cached)
			if got := w.Interval.Round(time.Minute); got != c.want || !strings.Contains(w.Reason, c.reason) {
				t.Errorf("wait %s (%s), want %s (%s)", got, w.Reason, c.want, c.reason)
			}
		})
	}
}

func TestBeliefFollowsCheckedClaims(t *testing.T) {
	t.Parallel()
	s := State{Kind: Sitemap}
	if b := s.Belief(); b < 0.5 {
		t.Errorf("belief in a new source is %.2f, want at least 0.5", b)
	}
	wrong, right := s, s
	for range 20 {
		wrong = wrong.After(start, Document{Kind: Sitemap}, Reading{}, 0, 1)
		right = right.After(start, Document{Kind: Sitemap}, Reading{}, 1, 0)
	}
	if wrong.Belief() > 0.15 || right.Belief() < 0.9 {
		t.Errorf("belief %.2f after wrong statements and %.2f after right ones; want at most 0.15 and at least 0.9", wrong.Belief(), right.Belief())
	}
	for range 200 {
		wrong = wrong.After(start, Document{Kind: Sitemap}, Reading{}, 1, 0)
	}
	if wrong.Belief() < 0.9 {
		t.Errorf("belief is %.2f after 200 right statements, want at least 0.9", wrong.Belief())
	}
}

func TestCacheHint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		control, age string
		want         time.Duration
	}{
		{"", "", 0},
		{"max-age=300", "", 5 * time.Minute},
		{"public, max-age=\"300\"", "60", 4 * time.Minute},
		{"max-age=10", "60", 0},
		{"max-age=-1", "", 0},
		{"no-store", "", 0},
		{"max-age=99999999999999", "", maxHint},
	} {
		h := http.Header{"Cache-Control": {c.control}, "Age": {c.age}}
		if got := CacheHint(h); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}

// rssWith returns a feed with one entry and these elements of its channel.
func rssWith(elements string) string {
	return `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>t</title>` + elements +
		`<item><link>/a</link><guid>1</guid></item></channel></rss>`
}

// Nothing that a source says, by number or date, puts its next visit off beyond the settings.
func TestNoNumberOfASourceExilesIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	allHours := "<skipHours>"
	for n := range 25 {
		allHours += fmt.Sprintf("<hour>%d</hour>", n)
	}
	allHours += "</skipHours>"
	allDays := "<skipDays>"
	for d := time.Sunday; d <= time.Saturday; d++ {
		allDays += "<day>" + d.String() + "</day>"
	}
	allDays += "</skipDays>"
	for _, c := range []struct{ name, text, cacheControl string }{
		{"ttl of a year", rssWith("<ttl>525600</ttl>"), ""},
		{"ttl of 8,000 years", rssWith("<ttl>4294967295</ttl>"), ""},
		{"ttl beyond every number", rssWith("<ttl>99999999999999999999999</ttl>"), ""},
		{"ttl below zero", rssWith("<ttl>-9223372036854775808</ttl>"), ""},
		{"every hour is skipped", rssWith(allHours), ""},
		{"every day is skipped", rssWith(allDays), ""},
		{"all of that", rssWith("<ttl>4294967295</ttl>" + allHours + allDays), "max-age=4294967295"},
		{"updated once a year", rssWith("<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>1</sy:updateFrequency>"), ""},
		{"updated never", rssWith("<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>-1</sy:updateFrequency>"), ""},
		{"fresh for 136 years", rssWith(""), "max-age=4294967295"},
		{"fresh forever", rssWith(""), "public, max-age=99999999999999999999, immutable"},
		{"entries of the future", rssWith("<pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate><lastBuildDate>Fri, 31 Dec 9999 23:59:59 GMT</lastBuildDate>"), ""},
		{"a sitemap of the future", `<urlset><url><loc>/a</loc><lastmod>2099-01-01</lastmod><changefreq>never</changefreq></url></urlset>`, ""},
		{"a sitemap of the last day", `<urlset><url><loc>/a</loc><lastmod>9999-12-31T23:59:59Z</lastmod><changefreq>yearly</changefreq></url></urlset>`, "max-age=4294967295"},
		{"a sitemap of the first day", `<urlset><url><loc>/a</loc><lastmod>0001-01-01T00:00:00Z</lastmod></url></urlset>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Read(uri.FromCanonical("http://news.example/feed"), "text/xml", true, strings.NewReader(c.text), Bounds{})
			if err != nil || doc.Fault != nil {
				t.Fatal(err, doc.Fault)
			}
			cached := CacheHint(http.Header{"Cache-Control": {c.cacheControl}})
			for _, hintsUpTo := range []time.Duration{0, time.Hour, 48 * time.Hour} {
				p := DefaultPolicy()
				p.HintsUpTo = hintsUpTo
				state := State{}.After(now, doc, Reading{First: true, Listed: len(doc.Items)}, 0, 0)
				stored, err := OpenState(state.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				bounds, _ := p.waits(doc.Kind)
				for range 50 { // visits that find nothing new, until the source is on the slow lane
					w := p.Next(stored, now, cached)
					longest := max(bounds.Max, p.SilentWait) + 2*hintsUpTo
					if w.Interval < p.MinWait || w.Interval > longest {
						t.Fatalf("the next visit is in %s, want at most %s: %s", w.Interval, longest, w.Reason)
					}
					now := stored.Read.Add(w.Interval)
					stored = stored.Unchanged(now)
				}
			}
			for _, i := range doc.Items {
				if at, ok := doc.pageDates(now, 0).changed(i); ok && at.After(now) {
					t.Errorf("the page of an entry changed at %s, in the future", at)
				}
			}
		})
	}
}
