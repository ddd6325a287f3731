package feeds

import (
	"context"
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
		interval, min, max, lasts time.Duration
	}{
		{time.Minute, 5 * time.Minute, 5 * time.Minute, 2 * 24 * time.Hour},
		{20 * time.Minute, 6 * time.Minute, 15 * time.Minute, 7 * 24 * time.Hour},
		{6 * time.Hour, time.Hour, 4 * time.Hour, 30 * 24 * time.Hour},
		{10 * 24 * time.Hour, 6 * time.Hour, 6 * time.Hour, 30 * 24 * time.Hour},
	} {
		_, waits, missed := follow(DefaultPolicy(), c.interval, c.lasts, 30)
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
			doc, err := Read(context.Background(), uri.FromCanonical("http://news.example/feed"), "text/xml", true, strings.NewReader(c.text), Bounds{})
			if err != nil || doc.Fault != nil {
				t.Fatal(err, doc.Fault)
			}
			cached := CacheHint(http.Header{"Cache-Control": {c.cacheControl}})
			for _, hintsUpTo := range []time.Duration{0, time.Hour, 48 * time.Hour} {
				p := DefaultPolicy()
				p.HintsUpTo = hintsUpTo
				state := State{}.After(now, doc, Reading{First: true, Listed: len(doc.Items)}, 0, 0)
				stored, err := OpenState(state.Bytes())
				must(t, err)
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

// TestActivityJudgesTheDatesOfNewItems reads a feed with three old items at 12:00 and again at 13:00. The new items are
// dated in minutes after 12:00.
func TestActivityJudgesTheDatesOfNewItems(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const none = -1 << 30
	at := func(minutes float64) time.Time {
		if minutes == none {
			return time.Time{}
		}
		return noon.Add(time.Duration(minutes * float64(time.Minute)))
	}
	item := func(id string, minutes float64) Item {
		return Item{ID: id, URI: mustURI(t, "http://news.example/"+id), Published: at(minutes), Text: 1}
	}
	old := []Item{item("x", -50), item("y", -500), item("z", none)}
	for _, c := range []struct {
		name    string
		dates   []float64
		edit    func([]Item)
		skew    time.Duration
		changes int
		moments []float64
		right   int
		wrong   int
	}{
		{name: "one by one", dates: []float64{5, 20, 40}, changes: 3, moments: []float64{5, 20, 40}, right: 3},
		{name: "in any order", dates: []float64{40, 5, 20}, changes: 3, moments: []float64{5, 20, 40}, right: 3},
		{name: "two within a minute are one change", dates: []float64{5, 5.5, 40}, changes: 2, moments: []float64{5, 40}, right: 3},
		{name: "listed a little late", dates: []float64{-5, 20}, changes: 2, moments: []float64{0, 20}, right: 2},
		{name: "each item without a date is a change", dates: []float64{none, none, none, none, none}, changes: 5},
		{name: "at most one change per minute", dates: make([]float64, 100), edit: func(l []Item) {
			for i := range l {
				l[i].Published = time.Time{}
			}
		}, changes: 60},
		{name: "a clock that is behind", dates: []float64{5 - 180, 20 - 180}, skew: 3 * time.Hour, changes: 2, moments: []float64{5, 20}, right: 2},

		{name: "all now", dates: []float64{59.5, 59.6, 60}, changes: 2},
		{name: "all at the same time", dates: []float64{30, 30, 30, 30, 30}, changes: 1},
		{name: "most items share the time at which the feed was generated", dates: []float64{30, 30, 30, 30, 30, 45}, changes: 2, moments: []float64{45}, right: 1},
		{name: "all in the future", dates: []float64{70, 80, 90}, changes: 3, wrong: 3},
		{name: "next year", dates: []float64{60 * 24 * 365}, changes: 1, wrong: 1},
		{name: "in a time zone that is one hour behind", dates: []float64{5 - 60, 20 - 60, 40 - 60}, changes: 3, wrong: 3},
		{name: "in a time zone that is two hours ahead", dates: []float64{5 + 120, 20 + 120}, changes: 2, wrong: 2},
		{name: "fifty years ago", dates: []float64{-60 * 24 * 365 * 50}, changes: 1, wrong: 1},
		{name: "a day without a time of day", dates: []float64{30}, edit: func(l []Item) {
			l[0].Published, l[0].Updated, l[0].Day = time.Time{}, noon.Truncate(24*time.Hour), true
		}, changes: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen, _ := Seen{}.Read(noon, Document{Kind: Feed, Items: old})
			items := make([]Item, len(c.dates))
			for i, d := range c.dates {
				items[i] = item(fmt.Sprint(i), d)
			}
			if c.edit != nil {
				c.edit(items)
			}
			doc := Document{Kind: Feed, Items: append(items, old...)}
			now := noon.Add(time.Hour)
			_, round := seen.Read(now, doc)
			got := round.activity(doc, noon, now, c.skew)
			var moments []float64
			for _, m := range got.Moments {
				moments = append(moments, float64(m.Sub(noon)/time.Second)/60)
			}
			if got.Changes != c.changes || fmt.Sprint(moments) != fmt.Sprint(c.moments) ||
				got.Right != c.right || got.Wrong != c.wrong {
				t.Errorf("%d changes at %v, %d right and %d wrong; want %d at %v, %d and %d", got.Changes, moments, got.Right, got.Wrong,
					c.changes, c.moments, c.right, c.wrong)
			}
		})
	}
}

func TestActivityCountsUpdatedItems(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	before := []Item{}
	for i := range 6 {
		page := mustURI(t, fmt.Sprintf("http://news.example/%d", i))
		date := noon.Add(-time.Duration(i+1) * time.Hour)
		before = append(before, Item{ID: fmt.Sprint(i), URI: page, Updated: date, Text: 1})
	}
	after := append([]Item(nil), before...)
	after[5].Updated = noon.Add(10 * time.Minute)
	after[3].Text, after[4].Text = 3, 5 // other texts with the same dates
	seen, _ := Seen{}.Read(noon, Document{Kind: Feed, Items: before})
	doc := Document{Kind: Feed, Items: after}
	_, round := seen.Read(noon.Add(time.Hour), doc)
	got := round.activity(doc, noon, noon.Add(time.Hour), 0)
	if got.Changes != 2 || len(got.Moments) != 1 || !got.Moments[0].Equal(after[5].Updated) ||
		got.Right+got.Wrong != 0 {
		t.Errorf("%+v, want one change at 12:10 and one without a time, and no verdict on the dates of new items", got)
	}
	first := Reading{First: true, New: after}.activity(doc, noon, noon.Add(time.Hour), 0)
	if first.Changes != 0 || first.Right+first.Wrong != 0 {
		t.Errorf("the first reading: %+v, want no changes", first)
	}
	if at, ok := doc.pageDates(noon.Add(time.Hour), 0).changed(after[5]); !ok || !at.Equal(after[5].Updated) {
		t.Errorf("the page changed at %s, %t; want the date of the item", at, ok)
	}
	for name, i := range map[string]Item{
		"no date": {}, "just now": {Updated: noon.Add(time.Hour - time.Second)}, "ahead": {Updated: noon.Add(2 * time.Hour)},
		"a day": {Updated: noon.Truncate(24 * time.Hour), Day: true},
	} {
		if at, ok := doc.pageDates(noon.Add(time.Hour), 0).changed(i); ok {
			t.Errorf("%s: the page changed at %s, want no time", name, at)
		}
	}
	for i := range after {
		after[i].Updated = noon.Add(30 * time.Minute)
	}
	if at, ok := doc.pageDates(noon.Add(time.Hour), 0).changed(after[0]); ok {
		t.Errorf("all items have the same date: the page changed at %s, want no time", at)
	}
}

// The Date of a server moves the dates of its feeds by a day at most, however far its clock is off.
func TestTheClockOfAServerIsBelievedForADay(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for date, want := range map[string]time.Duration{
		"": 0, "soon": 0,
		noon.Add(-3 * time.Hour).Format(http.TimeFormat):            3 * time.Hour,
		noon.Add(20 * time.Hour).Format(http.TimeFormat):            -20 * time.Hour,
		noon.Add(-25 * time.Hour).Format(http.TimeFormat):           0,
		noon.Add(10 * 365 * 24 * time.Hour).Format(http.TimeFormat): 0,
		"Mon, 01 Jan 0001 00:00:00 GMT":                             0,
		"Fri, 31 Dec 9999 23:59:59 GMT":                             0,
	} {
		if got := clockSkew(http.Header{"Date": {date}}, noon); got != want {
			t.Errorf("the Date %q means a skew of %s, want %s", date, got, want)
		}
	}
}
