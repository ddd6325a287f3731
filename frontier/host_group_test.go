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

func TestHostsReportsTheStateOfEachHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://busy.example/", day)
	w.addDue(day, "http://busy.example/2", at(time.Millisecond))
	w.claim(at(time.Second), "http://busy.example/")
	w.addDue(day, "http://idle.example/", day)
	c := w.claim(at(time.Second), "http://idle.example/")
	s := visited(c, at(time.Second), time.Hour)
	s.Record.Due, s.Forbidden = time.Time{}, true
	w.settle(c, s)
	w.addDue(day, "http://ready.example/", day)
	w.addDue(day, "http://ready.example/later", at(time.Hour))
	w.addDue(day, "http://snoozed.example/", at(time.Hour))

	want := []struct {
		host  string
		state frontier.HostState
		ready time.Time
	}{
		{"busy.example", frontier.Busy, time.Time{}},
		{"idle.example", frontier.Idle, time.Time{}},
		{"ready.example", frontier.Ready, day},
		{"snoozed.example", frontier.Snoozed, at(time.Hour)},
	}
	same(t, w.Counts(at(time.Second)), frontier.Counts{
		Hosts: 4, URIs: 6, Queued: 5, InProgress: 1, Forbidden: 1, Ready: 1, Snoozed: 1, Busy: 1, Idle: 1,
		Oldest: day, OldestReachable: day,
	})
	got := w.Hosts(at(time.Second))
	if len(got) != len(want) {
		t.Fatalf("%d hosts, want %d", len(got), len(want))
	}
	for i, v := range got {
		if string(v.Host) != want[i].host || v.State != want[i].state || !v.Ready.Equal(want[i].ready) {
			t.Errorf("%s is %s, ready at %s; want %s, %s, %s", v.Host, v.State, v.Ready, want[i].host, want[i].state, want[i].ready)
		}
		one, ok := w.Host(v.Host, at(time.Second))
		if !ok || one != v {
			t.Errorf("Host(%s) = %+v, %v; want %+v", v.Host, one, ok, v)
		}
	}
	if v := got[2]; v.URIs != 2 || v.Queued != 2 || !v.Oldest.Equal(day) {
		t.Errorf("%+v; want two URIs queued, the oldest due at %s", v, day)
	}
	if _, ok := w.Host("never.example", day); ok {
		t.Error("a host that was never seen is known")
	}
}

func TestNewHostsAreBoundedByPageSeedDayAndTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) {
		o.NewHosts = frontier.NewHosts{Total: 1000, PerPage: 200, PerSeedDay: 450, PerDomainDay: 50}
	})
	now := day
	w.add(now, "http://a.example/", "http://b.example/")
	visit := func(host string, links []frontier.Candidate, want, wantHosts int64) {
		t.Helper()
		w.steerHosts(now, "*", frontier.Pause)
		w.steerHosts(now, host, frontier.Resume)
		c := w.claim(now, "http://"+host+"/")
		o := visited(c, now, time.Second)
		o.Record.Seed, o.Found = "http://"+host+"/", links
		added := w.settle(c, o)
		all := added.New + added.Refused + added.Known
		if got := w.Counts(now).Hosts; int64(added.New) != want || got != wantHosts || all != len(links) {
			t.Fatalf("%s: added %+v of %d links, there are %d hosts now; want %d new and %d hosts", host, added, len(links), got, want, wantHosts)
		}
		w.check()
		now = now.Add(10 * time.Second)
	}
	visit("a.example", discovered(t, "http://h%d-a.example/", 0, 600), 200, 202)   // one page
	visit("a.example", discovered(t, "http://n%d.farm.example/", 0, 100), 50, 252) // one domain
	visit("a.example", discovered(t, "http://h%d-a.example/x", 0, 200), 200, 252)  // known hosts are not affected
	visit("a.example", discovered(t, "http://i%d-a.example/", 0, 200), 200, 452)   // the seed's day is used up
	visit("a.example", discovered(t, "http://j%d-a.example/", 0, 200), 0, 452)     // it is
	visit("b.example", discovered(t, "http://k%d-b.example/", 0, 200), 200, 652)   // another seed
	now = now.Add(24 * time.Hour)
	visit("a.example", discovered(t, "http://j%d-a.example/", 0, 200), 200, 852) // the next day
	visit("b.example", discovered(t, "http://l%d-b.example/", 0, 200), 148, 1000)
	added, err := w.Add(now, candidates(t, "http://m1.example/", "http://m2.example/", "http://m3.example/")...)
	if err != nil || added.New != 3 {
		t.Errorf("Add = %+v, %v; want all new: no seed is ever refused", added, err)
	}
}
