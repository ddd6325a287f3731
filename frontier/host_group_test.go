package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// grouped puts all hosts of .one.example behind one server.
func grouped(o *frontier.Options) {
	o.Group = func(h uri.Host) string {
		if frontier.HostMatches("*.one.example", h) {
			return "one"
		}
		return ""
	}
}

func TestHostsOfAGroupAreVisitedAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, grouped)
	for i, text := range []string{"http://a.one.example/", "http://b.one.example/", "http://a.one.example/2", "http://b.one.example/2"} {
		w.addDue(day, text, at(time.Duration(i)*time.Millisecond))
	}
	now := at(time.Second)
	c := w.claim(now, "http://a.one.example/")
	w.nothing(now) // the other host has its own slot, but the server behind it is busy
	w.addDue(now, "http://alone.example/", day)
	alone := w.claim(now, "http://alone.example/")
	w.settle(alone, visited(alone, now, 24*time.Hour))
	w.settle(c, visited(c, now, time.Hour))
	// The host that has waited longer goes first, not the one with the smaller number.
	c = w.nextAt(now.Add(2*time.Second), "http://b.one.example/")
	now = now.Add(2 * time.Second)
	w.settle(c, visited(c, now, time.Hour))
	w.reopen(now)
	c = w.nextAt(now.Add(2*time.Second), "http://a.one.example/2")
	now = now.Add(2 * time.Second)
	o := visited(c, now, time.Hour)
	o.RetryAfter = now.Add(10 * time.Minute)
	w.settle(c, o)
	w.reopen(now)
	w.nextAt(now.Add(10*time.Minute), "http://b.one.example/2")
}

func TestRefreshHostsMovesHostsBetweenGroups(t *testing.T) {
	t.Parallel()
	name, leaves := "", uri.Host("")
	w := newWorld(t, func(o *frontier.Options) {
		o.Group = func(h uri.Host) string {
			if h == leaves {
				return ""
			}
			return name
		}
	})
	w.add(day, "http://a.example/", "http://b.example/")
	w.addDue(day, "http://c.example/", at(-time.Second))
	for _, group := range []string{"one", "two"} {
		name = group
		must(t, w.RefreshHosts())
		w.check()
	}
	c := w.claim(day, "http://c.example/")
	w.nothing(day)
	leaves = "c.example"
	must(t, w.RefreshHosts()) // the one that is being visited leaves after the others were looked at
	w.check()
	w.claim(day, "http://a.example/")
	w.nothing(day)
	name = ""
	must(t, w.RefreshHosts())
	w.claim(day, "http://b.example/")
	w.settle(c, visited(c, day, time.Hour))
}
