package spaces_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// A page that names a search which was visited already does not put off anything. So searches that nobody else names
// are visited as usual again once no new one was named for a long time.
func TestNamesOfVisitedSearchesPutOffNothing(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: day, Compactors: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := spaces.Open(f.DB())
	a := spaces.Aspect{Store: s, Frontier: f}
	search := func(n int) uri.URI {
		word := strings.Map(func(r rune) rune { return r - '0' + 'k' }, fmt.Sprint(n))
		u, err := uri.Parse("http://news.example/search?q=" + word)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	wanted := func(n int, at time.Duration) spaces.Wanted {
		return spaces.Wanted{URI: search(n), Via: search(n / 2), Hops: "LL", Now: day.Add(at)}
	}
	visited := 1
	for ; visited < 100; visited++ { // each search brings a new text and names two more words
		if _, held, err := a.HoldFound(wanted(visited, 0)); err != nil || held {
			break
		}
		text := ""
		for i := range 80 {
			text += fmt.Sprintf("%x ", visited*7919+i*104729)
		}
		page := spaces.Page{
			URI: search(visited), Via: search(visited / 2), Hops: "LL", First: true, HTML: true, Content: []byte(text),
			Links: []spaces.Link{{URI: search(2 * visited), Page: true}, {URI: search(2*visited + 1), Page: true}}, Now: day,
		}
		if _, _, err := s.Learn(page); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(day, frontier.Candidate{URI: search(visited), Via: search(visited / 2).String(), Hops: "LL"}); err != nil {
			t.Fatal(err)
		}
	}
	if visited == 100 {
		t.Fatal("no search was put off")
	}
	again := func(at time.Duration) (held bool) {
		w := wanted(2, at)
		_, _, held, err := s.Hold(w, true)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if !again(time.Hour) {
		t.Error("a visited search is visited again while new ones are put off; want that it waits")
	}
	for after := time.Hour; after < spaces.Doubt; after += 12 * time.Hour {
		if _, held, err := a.HoldFound(wanted(2, after)); err != nil || held {
			t.Fatalf("a search that is known is held: %v, %v", held, err)
		}
	}
	if again(spaces.Doubt + 2*time.Hour) {
		t.Error("a visited search waits although no new one was named for a long time")
	}
	if _, held, err := a.HoldFound(wanted(5000, spaces.Doubt)); err != nil || !held {
		t.Errorf("a search that is not known is held: %v, %v; want true", held, err)
	}
	if !again(spaces.Doubt + 2*time.Hour) {
		t.Error("a visited search is visited again after a new one was put off; want that it waits")
	}
}
