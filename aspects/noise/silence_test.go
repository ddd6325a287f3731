package noise

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Pages that do not fit are forgotten, the oldest first. What is kept of a page is from one moment.
func TestFetchesAreBounded(t *testing.T) {
	t.Parallel()
	var f Fetches
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	page := func(i int) uri.URI { return uri.FromCanonical(fmt.Sprintf("http://news.example/%d", i)) }
	content := make([]byte, maxKeptPage)
	for i := range 3 * maxKept / maxKeptPage {
		f.add(page(i), Version{Date: now, Content: content})
		if f.Bytes() > maxKept || len(f.order) != len(f.pages) {
			t.Fatalf("%d bytes, %d of %d pages in order", f.Bytes(), len(f.order), len(f.pages))
		}
	}
	last := page(3*maxKept/maxKeptPage - 1)
	if _, kept := f.pages[page(0)]; kept || f.pages[last] == nil || f.Bytes() < maxKept/2 {
		t.Errorf("the oldest page is kept: %v; %d pages are kept", kept, len(f.pages))
	}
	for n, c := range []struct {
		after time.Duration
		want  int // fetches of the page that are kept
	}{{0, 1}, {time.Minute, 2}, {2 * time.Minute, 3}, {2*time.Minute + Moment + time.Second, 1}} {
		f.add(page(-1), Version{Date: now.Add(c.after), Content: content[:100]})
		if got := len(f.pages[page(-1)]); got != c.want {
			t.Errorf("after fetch %d, %d are kept, want %d", n, got, c.want)
		}
	}
	for i := range maxVersions + 3 {
		f.add(page(-2), Version{Date: now.Add(time.Duration(i) * time.Second)})
	}
	if got := len(f.pages[page(-2)]); got != maxVersions {
		t.Errorf("%d fetches of a page are kept, want %d", got, maxVersions)
	}
	for u := range f.pages {
		f.forget(u)
	}
	if f.Bytes() != 0 || len(f.order) != 0 {
		t.Errorf("%d bytes of %d pages are left", f.Bytes(), len(f.order))
	}
}

// Searches take a tenth of the time, apart from a minute. No more than two are in progress.
func TestSearchesForRulesAreBounded(t *testing.T) {
	t.Parallel()
	var f Fetches
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	searched := time.Duration(0)
	for range 1000 { // pages that need a search each second, of five seconds
		now = now.Add(time.Second)
		if f.begin(now) {
			searched += maxSearch
			f.end(maxSearch)
		}
	}
	if searched < 2*time.Minute || searched > 1000*time.Second/searchShare+maxCredit+maxSearch {
		t.Errorf("searches took %v of 1000 s", searched)
	}
	f = Fetches{}
	for i := range maxSearches + 1 {
		if begins := f.begin(now); begins != (i < maxSearches) {
			t.Errorf("search %d begins: %v", i, begins)
		}
	}
	for used, want := range map[time.Duration]bool{maxCredit - 1: true, maxCredit: false} {
		f = Fetches{used: used, counted: now}
		if begins := f.begin(now); begins != want {
			t.Errorf("after %s a search begins: %v", used, begins)
		}
	}
}
