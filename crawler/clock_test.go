package crawler_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// The clock was ten years ahead for a while: a page was visited then, and a robots.txt closes its host until 2099. A
// crawl corrects both when it starts.
func TestURIsOfAWrongClockComeBack(t *testing.T) {
	inTown(t, "[seeds]\nuris = [\"http://page.example/\", \"http://closed.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://page.example/", town.Page{})
		w.set("http://closed.example/", town.Page{})
		parts, shut := w.open()
		c := parts.Frontier
		began := time.Now()
		ahead := began.AddDate(10, 0, 0)
		for _, u := range []string{"http://page.example/", "http://closed.example/"} {
			if _, err := c.Add(began, frontier.Candidate{URI: uri.FromCanonical(u), Seed: u}); err != nil {
				t.Fatal(err)
			}
			claim, ok, err := c.Claim(ahead)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			settlement := frontier.Settlement{Record: claim.Record, Finished: ahead}
			settlement.Record.LastVisit, settlement.Record.Visits = ahead, 1
			settlement.Record.Due = ahead.Add(48 * time.Hour)
			if claim.Record.URI.Host() == "closed.example" {
				if claim, err = c.Divert(claim, claim.Record.URI.Robots(), ahead); err != nil {
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
		shut()
		parts, shut = w.open()
		w.crawl(parts, 3*24*time.Hour)
		shut()
		page, closed := w.visits("page.example/"), w.visits("closed.example/")
		if len(page) == 0 || len(closed) == 0 {
			t.Fatalf("%d visits of the page and %d of the other site within three days; want some of each", len(page), len(closed))
		}
		if wait := page[0].Finished.Sub(began); wait < 48*time.Hour || wait > 49*time.Hour {
			t.Errorf("the page was visited after %s, want after the two days that it had to wait", wait)
		}
		if wait := closed[0].Finished.Sub(began); wait > 2*time.Minute {
			t.Errorf("the closed site was visited after %s, want after the rest of its host: its robots.txt is asked for again", wait)
		}
	})
}
