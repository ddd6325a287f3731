package frontier_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// A seed is visited, links to another URI, and is due again in an hour. The other URI waits for the politeness delay.
func Example() {
	dir, err := os.MkdirTemp("", "frontier")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: now})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	seed, _ := uri.Parse("https://www.news.example/")
	if _, err := f.Add(now, frontier.Candidate{URI: seed, Seed: seed.String()}); err != nil {
		log.Fatal(err)
	}
	for range 3 {
		next, _ := f.NextReady()
		now = next // a crawler would sleep until then
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			log.Fatal(ok, err)
		}
		fmt.Printf("%s %q %s\n", now.Format(time.TimeOnly), c.Record.Hops, c.Record.URI)

		link, _ := seed.Join("/article")
		visit := frontier.Settlement{Record: c.Record, Finished: now.Add(time.Second), Took: time.Second}
		visit.Record.Visits++
		visit.Record.Due = now.Add(time.Hour)
		visit.Politeness = frontier.Politeness{DelayFactor: 5, MinDelay: 2 * time.Second, MaxDelay: 30 * time.Second}
		visit.Found = []frontier.Candidate{{
			URI: link, Hops: c.Record.Hops.Then(uri.Link), Via: seed.String(),
			Seed: seed.String(),
		}}
		if _, err := f.Settle(c, visit); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 12:00:00 "" https://www.news.example/
	// 12:00:06 "L" https://www.news.example/article
	// 13:00:00 "" https://www.news.example/
}
