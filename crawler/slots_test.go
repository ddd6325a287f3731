package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// Two workers claim URIs of a host with two slots, whose robots.txt is not known. One worker fetches it, the other
// waits.
func TestOnlyOneSlotFetchesRobots(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{})
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 2 } })
		defer shut()
		c := crawler.New(parts)
		now := time.Now()
		var claims []frontier.Claim
		for _, path := range []string{"a", "b"} {
			u, err := uri.Parse("http://news.example/" + path)
			must(t, err)
			if _, err := parts.Frontier.Add(now, frontier.Candidate{URI: u, Seed: "http://news.example/", Due: now}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			claim, ok, err := parts.Frontier.Claim(now)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			claims = append(claims, claim)
		}
		robots, err := parts.Frontier.Divert(claims[0], claims[0].Record.URI.Robots(), now)
		must(t, err)
		must(t, c.Walk(context.Background(), claims[1]))
		if _, ok, _ := parts.Frontier.Claim(now.Add(time.Minute)); ok {
			t.Error("a URI is handed out while robots.txt is being fetched")
		}
		must(t, c.Walk(context.Background(), robots))
		if got := w.visits(""); len(got) != 1 || got[0].URI.String() != "http://news.example/robots.txt" {
			t.Errorf("visits: %v; want only robots.txt", got)
		}
		time.Sleep(time.Minute)
		for range 2 {
			if _, ok, err := parts.Frontier.Claim(time.Now()); !ok || err != nil {
				t.Error("a URI is not handed out once robots.txt is known", err)
			}
		}
	})
}

// The host has answered, but the answer cannot be stored. That is a local fault, and the host must rest nevertheless.
func TestHostRestsAfterALocalFault(t *testing.T) {
	inTown(t, "[politeness]\nmin_delay = \"10m\"\nmax_delay = \"10m\"\n"+everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{})
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		if _, err := c.AddSeeds(time.Now()); err != nil {
			t.Fatal(err)
		}
		full := false
		c.OnStep(func(step string) {
			if step == "fetched" && full {
				_ = parts.Archive.Close(time.Now())
			}
		})
		claim, _, err := parts.Frontier.Claim(time.Now())
		must(t, err)
		if err := c.Walk(context.Background(), claim); err != nil { // the visit of robots.txt
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		if claim, _, err = parts.Frontier.Claim(time.Now()); err != nil {
			t.Fatal(err)
		}
		full = true
		if err := c.Walk(context.Background(), claim); err == nil {
			t.Fatal("a visit that cannot be archived returns no error")
		}
		if next, ok := parts.Frontier.NextReady(); !ok || time.Until(next) < 9*time.Minute {
			t.Errorf("the host is ready again in %s, want 10 minutes", time.Until(next))
		}
	})
}

// While nothing can be logged, only one visit at a time checks whether it is possible again.
func TestOneVisitAtATimeChecksWhetherAFaultIsGone(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const hosts, workers = 40, 20
		var seeds strings.Builder
		for n := range hosts {
			fmt.Fprintf(&seeds, "%q, ", fmt.Sprintf("http://h%d.example/", n))
		}
		w := newWorld(t, dir, fmt.Sprintf("[crawl]\nworkers = %d\n[seeds]\nuris = [%s]\n", workers, &seeds))
		for n := range hosts {
			w.set(fmt.Sprintf("http://h%d.example/", n), town.Page{})
		}
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		var asked atomic.Int64
		c.OnStep(func(step string) {
			if step == "fetched" {
				asked.Add(1)
			}
		})
		log := w.path("crawl.log")
		must(t, errors.Join(os.Remove(log), os.Mkdir(log, 0o750)))
		mended := time.AfterFunc(5*time.Minute, func() {
			if n := asked.Load(); n < workers || n > workers+40 {
				t.Errorf("%d requests in five minutes in which nothing could be logged; want a few at the beginning, and then one every 10 seconds", n)
			}
			if err := os.Remove(log); err != nil {
				t.Error(err)
			}
		})
		defer mended.Stop()
		w.crawlWith(c, 7*time.Minute)
		if n := len(w.visits("example/")); n != hosts || c.Held() != "" {
			t.Errorf("%d of %d pages were visited after the log was fixed; held: %q", n, hosts, c.Held())
		}
	})
}
