package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

const sixHosts = `[[wait]]
mime = ".*"
initial = "30m"
min = "30m"
max = "30m"
[robots]
wait = "30d"
[seeds]
uris = ["http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/", "http://e.example/", "http://f.example/"]
`

// A crawl of six hosts has no network for five hours. No host is counted as down for that.
func TestLocalOutageCountsAgainstNoHost(t *testing.T) {
	dir := inTown(t, sixHosts, func(t *testing.T, w *world) {
		for host := range strings.SplitSeq("abcdef", "") {
			w.set("http://"+host+".example/", town.Page{})
		}
		began := time.Now()
		var tries atomic.Int64 // requests during the outage
		away := func() bool { d := time.Since(began); return d > 3*time.Hour && d < 8*time.Hour }
		parts, shut := w.openWith(func(ctx context.Context, network, address string) (net.Conn, error) {
			if away() {
				tries.Add(1)
				return nil, &net.OpError{Op: "dial", Err: errors.New("network is unreachable")}
			}
			return w.town.Dial(ctx, network, address)
		})
		defer shut()
		c := crawler.New(parts)
		looked := make(chan crawler.Status, 1)
		time.AfterFunc(5*time.Hour, func() { looked <- c.Status() })
		w.crawlWith(c, 10*time.Hour)
		midway := <-looked
		if !midway.Uplink || !strings.Contains(midway.Held, "our own network") || midway.Since.Sub(began) > 4*time.Hour {
			t.Errorf("after two hours of the outage the state is %+v; want that our own network is down since its beginning", midway)
		}
		if n := tries.Load(); n < 500 || n > 2000 {
			t.Errorf("%d probes in five hours; want one each ten seconds", n)
		}
		failed := 0
		for host := range strings.SplitSeq("abcdef", "") {
			u := uri.FromCanonical(fmt.Sprintf("http://%s.example/", host))
			r, _, err := parts.Frontier.Get(u)
			must(t, err)
			var back time.Duration // when the host was first visited again
			for _, v := range w.visits(host + ".example/") {
				if d := v.Finished.Sub(began); d > 8*time.Hour && back == 0 {
					back = d - 8*time.Hour
				}
				if v.Failed {
					failed++
				}
			}
			if back == 0 || back > time.Minute {
				t.Errorf("%s was visited %s after the network was back; want within a minute", u, back)
			}
			if r.Failures != 0 || r.Wait != 30*time.Minute {
				t.Errorf("%s has %d failures and waits %s; want no trace of the outage", u, r.Failures, r.Wait)
			}
			if v, _ := parts.Frontier.Host(u.Host(), time.Now()); v.Failures != 0 {
				t.Errorf("the host %s has %d failures", u.Host(), v.Failures)
			}
		}
		if failed != 2 {
			t.Errorf("%d visits were logged as failed; want the two before the outage was known", failed)
		}
		if s := c.Status(); s != (crawler.Status{}) {
			t.Errorf("at the end the state is %+v", s)
		}
	})
	checkArchive(t, dir)
}

// Two of six hosts go down, and a third never existed. The crawl must not take that for a local outage.
func TestUnreachableHostsAreNotTakenForAnOutage(t *testing.T) {
	inTown(t, sixHosts, func(t *testing.T, w *world) {
		for host := range strings.SplitSeq("abcde", "") {
			w.set("http://"+host+".example/", town.Page{})
		}
		for _, host := range []string{"a", "b"} {
			w.set("http://"+host+".example/", town.Page{From: 2 * time.Hour, Down: true})
		}
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		began := time.Now()
		w.crawlWith(c, 12*time.Hour)
		for _, host := range []string{"a", "b", "f"} {
			if v, _ := parts.Frontier.Host(uri.Host(host+".example"), time.Now()); v.Failures == 0 {
				t.Errorf("%s.example is down, but has no failures", host)
			}
		}
		if n := len(w.visits("c.example/")); n < 22 {
			t.Errorf("%d visits to a host that was up, want one each half hour for %s", n, time.Since(began))
		}
	})
}

// A hundred names of strangers refuse together. The crawl tries a canary and continues: the healthy
// site is visited on time.
func TestStrangersThatRefuseTogetherDoNotStopTheCrawl(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		seeds := []string{`"http://well.example/"`}
		for n := range 100 {
			seeds = append(seeds, fmt.Sprintf(`"http://s%d.example/"`, n))
		}
		settings, _, _ := strings.Cut(sixHosts, "[seeds]")
		w := newWorld(t, dir, settings+"[crawl]\ncanaries = [\"http://well.example/\"]\n[seeds]\nuris = ["+strings.Join(seeds, ", ")+"]\n")
		w.set("http://well.example/", town.Page{})
		for n := range 100 {
			w.set(fmt.Sprintf("http://s%d.example/", n), town.Page{})
			w.set(fmt.Sprintf("http://s%d.example/", n), town.Page{From: 2 * time.Hour, Down: true})
		}
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		if _, err := c.AddSeeds(time.Now()); err != nil {
			t.Fatal(err)
		}
		stopped := 0
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Hour)
		defer cancel()
		var watching sync.WaitGroup
		watching.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				if c.Status().Uplink {
					stopped++
				}
			}
		})
		err := c.Run(ctx)
		if watching.Wait(); err != nil {
			t.Fatal(err)
		}
		var last time.Time
		visits := w.visits("well.example/")
		for _, v := range visits {
			if gap := v.Finished.Sub(last); !last.IsZero() && gap > 31*time.Minute {
				t.Errorf("the healthy site was visited %s after the visit before, want 30 minutes", gap)
			}
			last = v.Finished
		}
		if len(visits) < 10 || stopped > 0 {
			t.Errorf("%d visits of the healthy site, and the crawl stopped for %d seconds; want 10 and none", len(visits), stopped)
		}
	})
}
