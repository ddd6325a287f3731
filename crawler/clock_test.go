package crawler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// The store of an earlier version holds a page that a Retry-After put off for ten years, and a robots.txt that closes
// its host until 2099. A crawl corrects both when it starts.
func TestExiledURIsOfAnEarlierVersionComeBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[retry]\nmax = \"2d\"\n[seeds]\nuris = [\"http://page.example/\", \"http://closed.example/\"]\n")
		defer w.town.Close()
		w.set("http://page.example/", town.Page{})
		w.set("http://closed.example/", town.Page{})
		parts, shut := w.open()
		c := parts.Frontier
		began := time.Now()
		for _, u := range []string{"http://page.example/", "http://closed.example/"} {
			if _, err := c.Add(began, frontier.Candidate{URI: uri.FromCanonical(u), Seed: u}); err != nil {
				t.Fatal(err)
			}
			claim, ok, err := c.Claim(began)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			settlement := frontier.Settlement{Record: claim.Record, Finished: began}
			settlement.Record.LastVisit, settlement.Record.Visits = began, 1
			if claim.Record.URI.Host() == "page.example" {
				settlement.Record.Due, settlement.Record.Why = began.AddDate(10, 0, 0), frontier.WhyRetryAfter
			} else {
				if claim, err = c.Divert(claim, claim.Record.URI.Robots(), began); err != nil {
					t.Fatal(err)
				}
				settlement.Record = claim.Record
				settlement.Robots = &frontier.RobotsCopy{
					Fetched: began, Expires: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), Status: 503, Unreachable: true,
				}
			}
			if _, err := c.Settle(claim, settlement); err != nil {
				t.Fatal(err)
			}
		}
		w.crawl(parts, 3*24*time.Hour)
		shut()
		page, closed := w.visits("page.example/"), w.visits("closed.example/")
		if len(page) == 0 || len(closed) == 0 {
			t.Fatalf("%d visits of the page and %d of the other site within three days; want some of each", len(page), len(closed))
		}
		if wait := page[0].Finished.Sub(began); wait < 48*time.Hour || wait > 49*time.Hour {
			t.Errorf("the page was visited after %s, want retry.max, two days", wait)
		}
		if wait := closed[0].Finished.Sub(began); wait > time.Minute {
			t.Errorf("the closed site was visited after %s, want at once: its robots.txt is asked for again", wait)
		}
	})
}
