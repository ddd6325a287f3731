package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

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
