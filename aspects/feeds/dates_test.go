package feeds

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

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
