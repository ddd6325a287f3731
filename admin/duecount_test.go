package admin

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// TestSlowCountsAreKept counts due URIs with a clock that says how long it took.
func TestSlowCountsAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now})
	archivetest.Must(t, err)
	defer func() { _ = f.Close() }()
	add := func(path string) {
		t.Helper()
		if _, err := f.Add(now, frontier.Candidate{URI: uri.FromCanonical("http://a.example/" + path), Due: now}); err != nil {
			t.Fatal(err)
		}
	}
	due, took := dueCounter{Frontier: f}, time.Duration(0)
	clock := func() time.Time { now = now.Add(took); return now }
	check := func(when string, want int64, count func(time.Time, func() time.Time) (int64, error)) {
		t.Helper()
		if n, err := count(now, clock); err != nil || n != want {
			t.Errorf("%s: %d URIs are due, %v; want %d", when, n, err, want)
		}
	}
	add("1")
	check("at first", 1, due.latest)
	add("2")
	check("after a quick count", 2, due.latest)
	took = time.Second / 2
	check("with a slow count", 2, due.count)
	took = 0
	add("3")
	now = now.Add(9 * time.Second)
	check("in the background, soon after a slow count", 2, due.count)
	now = now.Add(20 * time.Second)
	check("soon after a slow count", 2, due.latest)
	check("in the background, later", 3, due.count)
	took = time.Second
	now = now.Add(time.Hour)
	check("with a slower count", 3, due.count)
	took = 0
	add("4")
	now = now.Add(61 * time.Second)
	check("after a minute", 4, due.latest)
	took = time.Second
	now = now.Add(time.Hour)
	check("with another slow count", 4, due.count)
	took, now = 0, now.Add(-30*time.Minute)
	add("5")
	check("after the clock was set back", 5, due.latest)
}

// TestNobodyWaitsForTheFirstCount asks for the number of due URIs before it was counted in the background.
func TestNobodyWaitsForTheFirstCount(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now})
	archivetest.Must(t, err)
	defer func() { _ = f.Close() }()
	due, clock := dueCounter{Frontier: f}, func() time.Time { return now }
	for _, step := range []struct{ add, latest int64 }{{999, 999}, {600, counting}} {
		for i := range step.add {
			u := uri.FromCanonical(fmt.Sprintf("http://a.example/%d/%d", step.add, i))
			if _, err := f.Add(now, frontier.Candidate{URI: u, Due: now}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := due.latest(now, clock); err != nil || n != step.latest {
			t.Errorf("with %d more there are %d due URIs, %v; want %d", step.add, n, err, step.latest)
		}
	}
	for _, count := range []func(time.Time, func() time.Time) (int64, error){due.count, due.latest} {
		if n, err := count(now, clock); err != nil || n != 1599 {
			t.Errorf("%d URIs are due, %v; want 1599", n, err)
		}
	}
}

// TestQueuesHavePagesAndOrders reads pages of a queue in several orders, with a text, and without enough time.
func TestQueuesHavePagesAndOrders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
	archivetest.Must(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	const n = 12_000
	var list []frontier.Entry
	for i := range n {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://a.example/%05d", i))}
		r.Due = now.Add(time.Duration(n-i) * time.Second)
		r.Versions, r.Visits, r.Wait, r.LastStatus = i%7, i, time.Duration(i%100)*time.Hour, 200+i%3
		e := frontier.Entry{Record: r, Held: i == 4000}
		if i == 5000 {
			e.Due = time.Time{} // on demand
		}
		list = append(list, e)
		if len(list) == 1000 {
			if _, err := f.Import(now, false, list...); err != nil {
				t.Fatal(err)
			}
			list = nil
		}
	}
	clock := func() time.Time { return now }
	for _, c := range []struct {
		text, sort    string
		limit, offset int
		want          string // the first and the last URI, how many there are, how many were found, whether there are more
	}{
		{"", "due", 50, 0, "11999 11950 50 0 true"},
		{"", "due", 50, 3000, "08999 08950 50 11998 true"},
		{"", "due", 50, 11_990, "00007 00000 8 11998 false"},
		{"", "uri", 10, 0, "00000 00009 10 11998 true"},
		{"", "visits", 10, 10, "11989 11980 10 11998 true"},
		{"", "wait", 3, 0, "11999 11799 3 11998 true"},
		{"", "status", 1, 0, "11999 11999 1 11998 true"},
		{"", "versions", 1, 0, "11997 11997 1 11998 true"},
		{"LE/0012", "due", 50, 0, "00129 00120 10 10 false"},
		{".", "uri", 50, 0, "00000 00049 50 11998 true"},
		{"nowhere", "uri", 50, 50, "  0 0 false"},
	} {
		q, err := queuePage(f, queueQuery{
			Host: "a.example", Text: c.text, Sort: c.sort, Limit: c.limit, Offset: c.offset, Within: time.Second,
		}, clock)
		first, last := "", ""
		if len(q.URIs) > 0 {
			first, last = q.URIs[0].URI[17:], q.URIs[len(q.URIs)-1].URI[17:]
		}
		if got := fmt.Sprint(first, " ", last, " ", len(q.URIs), " ", q.Found, " ", q.More); err != nil || got != c.want || !q.Complete {
			t.Errorf("%+v: %s, complete %v, %v", c, got, q.Complete, err)
		}
	}
	q, err := queuePage(f, queueQuery{Host: "a.example", Sort: "uri", Limit: 5, Within: -1}, clock)
	if err != nil || q.Complete || q.Found == 0 || q.Found > 6000 {
		t.Errorf("without time: %d found, complete %v, %v", q.Found, q.Complete, err)
	}
	if q, err = queuePage(f, queueQuery{Host: "no.example", Sort: "uri", Limit: 5}, clock); err != nil || q.URIs == nil || len(q.URIs) > 0 {
		t.Errorf("an unknown host has %+v, %v", q, err)
	}
}
