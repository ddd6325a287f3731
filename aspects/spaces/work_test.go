package spaces_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// maxTraps is the number of traps of a host.
const maxTraps = 64

// facetsOf lets a store learn traps of combinations of parameters whose names begin with each other. All are of one
// path.
func facetsOf(t *testing.T, b store) {
	t.Helper()
	for trap := range maxTraps {
		g := spaces.Page{HTML: true, Now: day}
		for page := range 60 {
			query := "?"
			for name := range 12 {
				query += fmt.Sprintf("%s%d=%d&", strings.Repeat("b", name), trap, page>>(name%6)&1)
			}
			g.Links = append(g.Links, spaces.Link{URI: uri.FromCanonical("http://www.stranger.example/f" + query), Page: true})
		}
		for page := range spaces.FacetsRow {
			g.URI = g.Links[page].URI
			_, _, err := b.Learn(g)
			must(t, err)
		}
	}
}

// repeatsOf lets a store learn traps of repeated folders.
func repeatsOf(t *testing.T, b store) {
	t.Helper()
	for trap := range maxTraps {
		u := parse(t, "http://www.stranger.example"+strings.Repeat("/"+strings.Repeat("a", 100+trap), 3))
		found, ok, err := b.Judge(u, u, "L", day)
		must(t, err)
		if !ok {
			t.Fatalf("%s is no trap", u)
		}
		must(t, b.CountKeptOut(found, day, u))
	}
}

// The links of one page are compared with the traps of their host for a bounded number of steps. The rest waits until
// each is due, and nothing is lost. Ordinary pages are compared whole.
func TestWorkOfLinksIsBounded(t *testing.T) {
	t.Parallel()
	const links, host = 1900, "http://www.stranger.example"
	facets, repeats := open(t), open(t)
	facetsOf(t, facets)
	repeatsOf(t, repeats)
	for _, c := range []struct {
		name  string
		traps store
		link  string // with %d
		least int    // links that are compared with the traps at least
		most  int    // and at most
		kept  int    // links that stay at least
	}{
		{"parameters of crafted names", facets, host + "/f?%d" + strings.Repeat("&"+strings.Repeat("b", 199), 20), 1, 20, links},
		{"short parameters", facets, host + "/f?%d" + strings.Repeat("&b", 2030), 1, 20, links},
		{"other folders that repeat", repeats, host + "/%d" + strings.Repeat("/"+strings.Repeat("a", 99), 3), 100, links, 100},
		{"short folders that repeat", repeats, host + "/%d" + strings.Repeat("/a", 2030), 1, 20, links - 20},
		{"ordinary links of that host", facets, host + "/news/2026/article-with-a-name-%d.html", links, links, links},
		{"ordinary parameters", facets, host + "/f?page=%d&order=title", 1000, links, links},
		{"links to another host", facets, "http://www.other.example/f?%d" + strings.Repeat("&b", 2030), links, links, links},
	} {
		t.Run(c.name, func(t *testing.T) {
			known, err := c.traps.Get("www.stranger.example")
			must(t, err)
			if len(known) != maxTraps {
				t.Fatalf("the host has %d traps, want %d", len(known), maxTraps)
			}
			v := &aspects.Visit{Capture: new(fetch.Capture), Finished: day}
			v.Claim.Record.URI = parse(t, "http://www.page.example/")
			v.Found.Page = new(discover.Result)
			for i := range links {
				v.Found.Candidates = append(v.Found.Candidates, frontier.Candidate{
					URI: uri.FromCanonical(fmt.Sprintf(c.link, i)), Via: "http://www.page.example/", Hops: "L", Due: day,
				})
			}
			a := spaces.Aspect{Store: c.traps.Store, Options: func(*aspects.Visit) *spaces.Options {
				return &spaces.Options{Detect: true, Wait: time.Hour}
			}}
			must(t, a.Read(t.Context(), v))
			untested := 0
			for _, note := range a.Note(v, nil) {
				untested, err = strconv.Atoi(strings.TrimPrefix(note, "trapsUntested:"))
				must(t, err)
			}
			if tested := links - untested; tested < c.least || tested > c.most {
				t.Errorf("%d of %d links were compared with the traps, want %d to %d", tested, links, c.least, c.most)
			}
			if n := len(v.Found.Candidates); n < c.kept {
				t.Errorf("%d links stay, want %d", n, c.kept)
			}
		})
	}
}

// Folders with very long names that repeat are no trap: its pattern would take long to compare, and could not be
// stored, so nobody could release it. The maximum length of a URI bounds how often such folders repeat.
func TestLongPatternsAreNotLearned(t *testing.T) {
	t.Parallel()
	b := open(t)
	for size, want := range map[int]bool{100: true, 1200: false} {
		u := parse(t, "http://www.stranger.example"+strings.Repeat("/"+strings.Repeat("a", size), 3))
		found, ok, err := b.Judge(u, u, "L", day)
		must(t, err)
		if ok != want || spaces.MayRepeat(u) != want {
			t.Errorf("folders of %d bytes: part of a trap = %t, may repeat = %t; want %t", size, ok, spaces.MayRepeat(u), want)
		}
		if ok {
			must(t, b.CountKeptOut(found, day, u))
			_, err := b.Release(u.Host(), found.Pattern)
			must(t, err)
		}
	}
}
