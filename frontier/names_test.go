package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// calling returns options that apply the given naming rules to all hosts.
func calling(n *uri.Naming) func(*frontier.Options) {
	return func(o *frontier.Options) { o.Names = func(uri.Host) *uri.Naming { return n } }
}

// find adds a URI that the seed links to, and reports whether it was new.
func (w *world) find(text string, hops uri.HopPath, via string) bool {
	w.Helper()
	added, err := w.Add(day, frontier.Candidate{URI: parse(w, text), Hops: hops, Via: via, Seed: "http://news.example/"})
	if err != nil || added.New+added.Known != 1 {
		w.Fatalf("Add(%s) = %+v, %v", text, added, err)
	}
	return added.New == 1
}

func TestURIsWithTheSameNameAreVisitedOnce(t *testing.T) {
	t.Parallel()
	heritrix, pywb := &uri.Naming{Set: uri.Heritrix}, &uri.Naming{Set: uri.Pywb}
	tracking := &uri.Naming{Drop: []string{"utm_*"}}
	type found struct {
		uri  string
		hops uri.HopPath
		via  string
		want bool // whether the URI is new
	}
	for _, c := range []struct {
		name   string
		naming *uri.Naming
		finds  []found
	}{
		{"without rules each is its own", nil, []found{{"http://news.example/a", "L", "", true}, {"http://news.example/A", "L", "", true}}},
		{"the first one stays", tracking, []found{
			{"http://news.example/a?utm_source=x", "L", "", true},
			{"http://news.example/a", "L", "", false},
			{"http://news.example/a?utm_source=y", "L", "", false},
			{"http://news.example/a?utm_source=x", "L", "", false},
			{"http://news.example/b", "L", "", true},
		}},
		{"on another host", heritrix, []found{{"http://www.news.example/a", "L", "", true}, {"http://news.example/a", "L", "", false}, {"http://www2.news.example/A", "L", "", false}}},
		{"a home page on another host is another one", heritrix, []found{{"http://www.news.example/", "L", "", true}, {"http://news.example/", "L", "", true}}},
		{"a name that is no URI", pywb, []found{{"http://www.news.example/a?b&a", "L", "", true}, {"https://news.example/A/?a&b", "L", "", false}}},
		{"a seed is always taken", pywb, []found{{"http://news.example/a", "L", "", true}, {"https://news.example/a", "", "", true}}},
		{"what redirects to its own name is followed", pywb, []found{
			{"http://news.example/a", "L", "", true}, {"https://www.news.example/a", "LR", "http://news.example/a", true}, {"https://news.example/a", "L", "", false},
		}},
		{"a redirect from another name is not", pywb, []found{{"http://news.example/a", "L", "", true}, {"https://news.example/a", "LR", "http://news.example/b", false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, calling(c.naming))
			for i, f := range c.finds {
				if i == 2 {
					w.reopen(day)
				}
				if got := w.find(f.uri, f.hops, f.via); got != f.want {
					t.Errorf("%s was new: %t, want %t", f.uri, got, f.want)
				}
			}
		})
	}
}

func TestOnePageMayLinkToTwoURIsWithTheSameName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Set: uri.Pywb}))
	got, err := w.Add(day,
		frontier.Candidate{URI: parse(t, "http://news.example/a"), Hops: "L"},
		frontier.Candidate{URI: parse(t, "https://www.news.example/a"), Hops: "L"},
		frontier.Candidate{URI: parse(t, "http://news.example/a?"), Hops: "L"})
	if want := (frontier.Added{New: 1, Known: 2}); err != nil || got != want {
		t.Errorf("Add = %+v, %v; want %+v", got, err, want)
	}
}

func TestVisitedForReturnsTheHolderOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://news.example/a", "http://news.example/A", "http://news.example/b",
		"http://news.example/C?", "http://news.example/C")
	holder := func(text string, hops uri.HopPath) string {
		t.Helper()
		u, err := w.VisitedFor(frontier.Record{URI: parse(t, text), Hops: hops})
		must(t, err)
		return u.String()
	}
	if got := holder("http://news.example/A", "L"); got != "http://news.example/A" {
		t.Errorf("without rules the holder is %s", got)
	}
	w.o.Names = func(uri.Host) *uri.Naming { return &uri.Naming{Set: uri.Heritrix} }
	w.reopen(day)
	for _, c := range []struct {
		name, uri string
		hops      uri.HopPath
		want      string
	}{
		{"the one that is its own name has it", "http://news.example/A", "L", "http://news.example/a"},
		{"it asks for itself", "http://news.example/a", "L", "http://news.example/a"},
		{"the other one asks again", "http://news.example/A", "L", "http://news.example/a"},
		{"the first that asks has a name that no URI is", "http://news.example/C?", "L", "http://news.example/C?"},
		{"another one finds it taken", "http://news.example/C", "L", "http://news.example/C?"},
		{"a seed is its own", "http://news.example/a", "", "http://news.example/a"},
		{"one without another", "http://news.example/b", "L", "http://news.example/b"},
	} {
		if got := holder(c.uri, c.hops); got != c.want {
			t.Errorf("%s: holder %s, want %s", c.name, got, c.want)
		}
	}
}

// If a link in a feed has tracking parameters, the page under its plain URI becomes due.
func TestSoonerAppliesToTheHolderOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Drop: []string{"utm_*"}}))
	w.find("http://news.example/a", "L", "")
	later := at(10 * 24 * time.Hour)
	c := w.claim(day, "http://news.example/a")
	c.Record.Due = later
	w.settle(c, frontier.Settlement{Record: c.Record, Finished: day})
	got, err := w.Add(day, frontier.Candidate{URI: parse(t, "http://news.example/a?utm_source=feed"), Hops: "M", Due: at(time.Second), Sooner: true})
	if want := (frontier.Added{Known: 1, Sooner: 1}); err != nil || got != want {
		t.Errorf("Add = %+v, %v; want %+v", got, err, want)
	}
}

// A page that has the same name as a dead link is still visited, whether it is known or new.
func TestNamesGoToReachableURIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Drop: []string{"ref"}}))
	w.find("http://news.example/a?ref=old", "L", "")
	c := w.claim(day, "http://news.example/a?ref=old")
	c.Record.Gone, c.Record.Due = 1, at(time.Hour)
	w.settle(c, frontier.Settlement{Record: c.Record, Finished: day})
	if !w.find("http://news.example/a", "L", "") {
		t.Error("a new URI was replaced by the dead one with the same name")
	}
	if w.find("http://news.example/a?ref=new", "L", "") {
		t.Error("another new URI with the name was not replaced by the one before")
	}
	dead, err := w.VisitedFor(c.Record)
	if err != nil || dead.String() != "http://news.example/a" {
		t.Errorf("the URI that is visited instead of the dead one is %s, %v", dead, err)
	}
}

// A link to a new host becomes no URI if another URI has its name. The hosts that the same page names
// after it get the next numbers, without a gap.
func TestALinkThatBecomesNoURILeavesNoGapInTheHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Set: uri.Heritrix}))
	var links []frontier.Candidate
	for _, text := range []string{"http://www.news.example/a", "http://news.example/a", "http://other.example/"} {
		links = append(links, frontier.Candidate{URI: parse(t, text), Hops: "L"})
	}
	added, err := w.Add(day, links...)
	if err != nil || added.New != 2 || added.Known != 1 {
		t.Fatalf("Add = %+v, %v; want two new URIs and a known one", added, err)
	}
	w.check()
	w.reopen(day)
	w.find("http://other.example/b", "L", "")
	if _, ok, err := w.Get(parse(t, "http://other.example/")); !ok || err != nil {
		t.Errorf("Get = %t, %v", ok, err)
	}
}
