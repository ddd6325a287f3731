package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func TestValenceMayChange(t *testing.T) {
	t.Parallel()
	valence := 3
	w := newWorld(t, func(o *frontier.Options) {
		o.Valence = func(uri.Host) int { return valence }
		o.Order = frontier.ByDue
	})
	for i, page := range pages("a.example", 10) {
		w.addDue(day, page, day.Add(time.Duration(i)*time.Millisecond))
	}
	now := at(time.Minute)
	a, b, c := w.claim(now, "http://a.example/page/0"), w.claim(now, "http://a.example/page/1"), w.claim(now, "http://a.example/page/2")
	valence = 1
	w.settle(a, visited(a, now, time.Hour))
	w.settle(b, visited(b, now.Add(time.Second), time.Hour))
	w.nothing(now.Add(time.Hour)) // the one slot left is still taken
	w.settle(c, visited(c, now.Add(2*time.Second), time.Hour))
	// The latest of the three delays counts.
	a = w.nextAt(now.Add(4*time.Second), "http://a.example/page/3")
	w.nothing(now.Add(time.Hour))
	valence = 2
	w.settle(a, visited(a, now.Add(5*time.Second), time.Hour))
	w.claim(now.Add(5*time.Second), "http://a.example/page/4")
	w.nextAt(now.Add(7*time.Second), "http://a.example/page/5")
	valence = -1 // counts as one
	w.reopen(now.Add(24 * time.Hour))
	w.claim(now.Add(48*time.Hour), "http://a.example/page/4")
	w.nothing(now.Add(48 * time.Hour))
	valence = 2
	must(t, w.RefreshHosts()) // no visit of the host ends meanwhile
	w.claimAny(now.Add(48 * time.Hour))
}

func TestDivertSpendsTheSlotOnAnotherURI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/", day)
	c := w.claim(at(time.Second), "http://a.example/")
	for _, u := range []uri.URI{{}, parse(t, "http://b.example/robots.txt")} {
		if _, err := w.Divert(c, u, day); err == nil {
			t.Errorf("Divert took %q, which is not on the host", u)
		}
	}
	r, err := w.Divert(c, parse(t, "http://a.example/robots.txt"), at(time.Second))
	must(t, err)
	want := frontier.Record{
		URI: parse(t, "http://a.example/robots.txt"), Hops: "P", Via: "http://a.example/",
		History: frontier.History{FirstSeen: at(time.Second)},
	}
	if r.Record != want || r.Overdue != 0 {
		t.Errorf("Divert returned %+v, overdue %s; want %+v", r.Record, r.Overdue, want)
	}
	w.check()
	w.nothing(at(time.Hour)) // one slot, and it is spent

	body := []byte("User-agent: *\nDisallow:\n")
	o := frontier.Settlement{Record: r.Record, Finished: at(2 * time.Second), Politeness: polite}
	o.Robots = &frontier.RobotsCopy{Fetched: at(2 * time.Second), Expires: at(24 * time.Hour), Status: 200, Body: body}
	w.settle(r, o)
	// The page stayed due where it was; the host rests as after any visit.
	c = w.nextAt(at(4*time.Second), "http://a.example/")
	if c.Overdue != 4*time.Second {
		t.Errorf("Overdue = %s, want 4s", c.Overdue)
	}
	w.settle(c, visited(c, at(5*time.Second), 10*time.Minute))
	// robots.txt is in no queue.
	c = w.nextAt(at(5*time.Second+10*time.Minute), "http://a.example/")

	again, err := w.Divert(c, parse(t, "http://a.example/robots.txt"), at(time.Hour))
	if err != nil || again.Record != w.get("http://a.example/robots.txt") {
		t.Errorf("Divert to a known URI = %+v, %v; want its record", again.Record, err)
	}
	w.settle(again, o)
}

func TestDivertedURIThatIsFoundDuringTheVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	r, err := w.Divert(w.claim(day, "http://a.example/"), parse(t, "http://a.example/robots.txt"), day)
	must(t, err)
	w.add(day, "http://a.example/robots.txt") // some page links to it
	w.check()
	w.settle(r, frontier.Settlement{Record: r.Record, Finished: day})
	w.check()
	if n := w.Counts(day); n.URIs != 2 || n.Queued != 1 {
		t.Errorf("Counts = %+v, want 2 URIs, 1 in the queue", n)
	}
}
