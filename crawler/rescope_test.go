package crawler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
)

const newsSeed = "[seeds]\nuris = [\"http://www.news.example/\"]\n"

// playEmptied crawls a site of four pages once an hour. Its host file is empty when all are due, from minute 59 on.
// restore brings the file back. It returns the minutes of the visits, by path.
func playEmptied(t *testing.T, restore func(w *world)) map[string][]int {
	visits := map[string][]int{}
	const mainFile = "[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1h\"\n[politeness]\nmin_delay = \"1s\"\n"
	story(t, mainFile, func(w *world) {
		var links []string
		for i := range 3 {
			links = append(links, fmt.Sprintf("http://www.news.example/%d", i))
			w.set(links[i], town.Page{Every: time.Hour})
		}
		w.set("http://www.news.example/", town.Page{Every: time.Hour, Links: links})
		w.host("www.news.example.toml", newsSeed)
		began := time.Now()
		restore(w)
		for _, path := range []string{"/", "/0", "/1", "/2"} {
			for _, v := range w.visits("example" + path) {
				if v.Status == 200 {
					visits[path] = append(visits[path], int(v.Finished.Sub(began)/time.Minute))
				} else if v.Status != -5000 {
					t.Errorf("%s: status %d", v.URI, v.Status)
				}
			}
			if len(w.visits("example"+path)) < 2 {
				t.Errorf("%s was not found out of scope: the test shows nothing", path)
			}
		}
	})
	return visits
}

// An emptied host file must not cost a day: the URIs that were found out of scope meanwhile are due as they were.
func TestURIsBackInScopeAreDueAsTheyWere(t *testing.T) {
	t.Parallel()
	want := map[string][]int{"/": {0, 62}, "/0": {0, 62}, "/1": {0, 62}, "/2": {0, 62}}
	t.Run("after a reload", func(t *testing.T) {
		t.Parallel()
		got := playEmptied(t, func(w *world) {
			w.during(64*time.Minute, func(c *crawler.Crawler) {
				time.Sleep(59 * time.Minute)
				w.host("www.news.example.toml", "")
				w.reload(c)
				time.Sleep(3 * time.Minute)
				w.host("www.news.example.toml", newsSeed)
				w.reload(c)
			})
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("minutes of the visits (-want +got):\n%s", diff)
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		t.Parallel()
		got := playEmptied(t, func(w *world) {
			w.run(59 * time.Minute)
			w.host("www.news.example.toml", "")
			w.run(3 * time.Minute)
			w.host("www.news.example.toml", newsSeed)
			w.run(2 * time.Minute)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("minutes of the visits (-want +got):\n%s", diff)
		}
	})
}

// What stays out of scope is not visited, whatever else changes, and is checked again after a day only.
func TestURIsThatStayOutOfScopeAreNotChecked(t *testing.T) {
	t.Parallel()
	got := playEmptied(t, func(w *world) {
		w.during(3*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(59 * time.Minute)
			for i := range 5 {
				w.host("www.news.example.toml", fmt.Sprintf("[politeness]\nmin_delay = \"%ds\"\n", i+1))
				w.reload(c)
				time.Sleep(20 * time.Minute)
			}
		})
	})
	if diff := cmp.Diff(map[string][]int{"/": {0}, "/0": {0}, "/1": {0}, "/2": {0}}, got); diff != "" {
		t.Errorf("minutes of the visits (-want +got):\n%s", diff)
	}
}
