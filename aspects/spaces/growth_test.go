package spaces_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// tree is a site below a folder, with folders in folders.
type tree struct {
	levels, folders int
	crumbs          bool             // each page names all folders above it
	siblings        bool             // each page names the folders next to it
	files           bool             // the last folders have files
	menu            bool             // each page names the first two levels
	end             func(string) int // last level below a folder; nil = levels
}

func (tr tree) links(s string) []string {
	list := []string{"/", "/about", "/deep/"}
	if !strings.HasPrefix(s, "/deep/") || !strings.HasSuffix(s, "/") {
		return list
	}
	parts := strings.Split(strings.Trim(s, "/"), "/")
	end := tr.levels
	if tr.end != nil {
		end = tr.end(s)
	}
	switch {
	case tr.levels == 0 || len(parts) <= end:
		list = append(list, tr.below(s)...)
	case tr.files:
		list = append(list, s+"text.html")
	}
	if tr.crumbs {
		for i := 1; i < len(parts); i++ {
			list = append(list, "/"+strings.Join(parts[:i], "/")+"/")
		}
	}
	if tr.siblings && len(parts) > 1 {
		list = append(list, tr.below("/"+strings.Join(parts[:len(parts)-1], "/")+"/")...)
	}
	if tr.menu {
		for _, name := range tr.below("/deep/") {
			list = append(append(list, name), tr.below(name)...)
		}
	}
	return list
}

func (tr tree) below(folder string) []string {
	return numbered(folder+"d"+fmt.Sprint(pick(1_000, folder))+"-%d/", 0, tr.folders)
}

// pages returns the number of pages of a tree whose last folders are all on one level. It includes the home page and
// the other pages.
func (tr tree) pages() int {
	all, level := 2, 1
	for range tr.levels + 1 {
		all, level = all+level, level*tr.folders
	}
	if tr.files {
		all += level / tr.folders
	}
	return all
}

// A finite tree of folders is not a trap: all of its pages are visited without a long wait.
func TestFiniteTreesAreNotTakenForTraps(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tree
	}{
		{"four levels of six folders without files", tree{levels: 4, folders: 6}},
		{"four levels of six folders, with files at the ends", tree{levels: 4, folders: 6, files: true}},
		{"four levels of six folders, with breadcrumbs", tree{levels: 4, folders: 6, crumbs: true}},
		{"four levels of six folders, with siblings and a menu", tree{levels: 4, folders: 6, siblings: true, menu: true}},
		{"five levels of four folders, with breadcrumbs and files", tree{levels: 5, folders: 4, crumbs: true, files: true}},
		{"six levels of three folders", tree{levels: 6, folders: 3}},
		{"six levels of three folders, with breadcrumbs", tree{levels: 6, folders: 3, crumbs: true}},
		{"six levels of three folders, with breadcrumbs, siblings and files", tree{levels: 6, folders: 3, crumbs: true, siblings: true, files: true}},
		{"three levels of fifteen folders", tree{levels: 3, folders: 15, crumbs: true}},
		{"ten levels of two folders", tree{levels: 10, folders: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			waits := 0
			visited := crawl(t, b, site{links: c.tree.links, waits: &waits}, 10_000).visited
			if list, err := b.Get("news.example"); err != nil || len(list) > 0 {
				t.Errorf("traps %+v, %v; want no trap", list, err)
			}
			if len(visited) != c.tree.pages() {
				t.Errorf("%d pages were visited, want %d", len(visited), c.tree.pages())
			}
			if waits > 8 {
				t.Errorf("the last pages waited for %d hours, want at most 8", waits)
			}
		})
	}
}

// An endless tree of folders becomes a trap soon after the evidence is certain. The first three folders are not part of
// the trap.
func TestEndlessFoldersAreTraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tree
		most int
	}{
		{"one folder in each", tree{folders: 1}, 40},
		{"two folders in each", tree{folders: 2}, 40},
		{"three folders in each, with breadcrumbs", tree{folders: 3, crumbs: true}, 40},
		{"ten folders in each, with siblings and a menu", tree{folders: 10, crumbs: true, siblings: true, menu: true}, 125},
		{"three folders in each, and some are an end", tree{levels: 1, folders: 3, end: func(s string) int {
			if len(s) > 20 && pick(20, s) == 0 {
				return 0
			}
			return 1_000
		}}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, site{links: c.tree.links}, 3_000).visited
			if len(visited) > c.most {
				t.Errorf("%d pages were visited, want at most %d", len(visited), c.most)
			}
			list, err := reopen(t, b).Get("news.example")
			if err != nil || len(list) != 1 || list[0].Kind != spaces.Growth {
				t.Errorf("traps %+v, %v; want one of the kind growth", list, err)
			}
		})
	}
}

// Released folders are not suspected again, and pages in a sitemap do not have to wait.
func TestSuspectedGrowthCanBeReleased(t *testing.T) {
	t.Parallel()
	endless := tree{folders: 3}
	b := open(t)
	crawl(t, b, site{links: endless.links}, 24) // suspected, but not yet certain
	home, other := parse(t, "http://news.example/deep/"), parse(t, "http://news.example/deep/x/y/")
	if trap, ok, err := b.Judge(other, home, "LL", day); err != nil || !ok || !trap.Suspect {
		t.Fatalf("Judge = %+v, %t, %v; want a suspect", trap, ok, err)
	}
	for _, c := range []struct{ what, uri, via, hops string }{
		{"listed by a sitemap", other.String(), home.String(), "M"},
		{"found elsewhere", other.String(), "http://news.example/about", "LL"},
		{"a file", other.String() + "text.html", home.String(), "LL"},
		{"not deep", "http://news.example/deep/x/", home.String(), "LL"},
		{"below another folder", "http://news.example/docs/x/y/", "http://news.example/docs/", "LL"},
	} {
		trap, ok, err := b.Judge(parse(t, c.uri), parse(t, c.via), uri.HopPath(c.hops), day)
		if err != nil || ok {
			t.Errorf("a URI %s: Judge = %+v, %t, %v; want no trap", c.what, trap, ok, err)
		}
	}
	crawl(t, b, site{links: endless.links}, 100)
	list, err := b.Get("news.example")
	if err != nil || len(list) != 1 {
		t.Fatalf("traps %+v, %v; want one", list, err)
	}
	if _, err := b.Release("news.example", list[0].Pattern); err != nil {
		t.Fatal(err)
	}
	waits := 0
	if visited := crawl(t, b, site{links: endless.links, waits: &waits}, 300).visited; len(visited) != 300 || waits > 0 {
		t.Errorf("%d pages were visited after the release, with %d waits; want 300 and none", len(visited), waits)
	}
}
