package admin

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// TestWhyReturnsTheNextVisit asks about one URI while it waits, is overdue or is held, and while its host rests.
func TestWhyReturnsTheNextVisit(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		const page = "http://news.example/"
		w.Set(page, testcrawl.Page{Every: time.Minute})
		w.Set("http://news.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /private\n"})
		w.Run(90*time.Minute + 10*time.Second) // visited twice, the last time an hour before it is due
		asks := func(what, state, next string) api.Why {
			w.Helper()
			y := get[api.Why](w, "/api/v1/why?uri="+page)
			if y.State != state || !strings.Contains(y.Next, next) {
				w.Errorf("%s: the state is %q, next %q; want %q and %q", what, y.State, y.Next, state, next)
			}
			if (y.At == nil) != strings.HasPrefix(next, "not visited") {
				w.Errorf("%s: the time is %v, but next is %q", what, y.At, y.Next)
			}
			return y
		}
		y := asks("in between", "waiting", "due ")
		if y.URI.Visits != 2 || !strings.HasPrefix(y.Why, ".*: changed") {
			w.Errorf("%d visits, reason %q; want 2, and the evaluator's reason", y.URI.Visits, y.Why)
		}
		if !slices.ContainsFunc(y.Settings, func(s api.Setting) bool {
			return strings.HasSuffix(s.Key, ".max") && s.Value == `"1h"` && strings.HasSuffix(s.Origin, ":9")
		}) {
			w.Errorf("settings %v; want the maximum wait with the line that sets it", y.Settings)
		}
		if at := y.At.Sub(*y.URI.Due); at != 0 {
			w.Errorf("the visit is predicted %s after the due time, want no difference", at)
		}
		time.Sleep(2 * time.Hour)
		asks("overdue after the crawl was stopped", "due", "next on its host")

		w.known("news.example", 10, 24*time.Hour, 3*time.Hour) // ten other URIs are due earlier
		y = asks("behind others", "due", "after 10 URIs of its host")
		if y.Ahead != 10 || time.Until(*y.At) != 10*time.Duration(y.Delay) {
			w.Errorf("%d URIs come before it, its visit is in %s; want 10 URIs, with a delay of %s each", y.Ahead, time.Until(*y.At), time.Duration(y.Delay))
		}
		if !strings.Contains(y.Next, "sooner or later") {
			w.Errorf("the answer claims that a crowded host keeps its order: %q", y.Next)
		}
		hosts := func(v frontier.HostVerb, until time.Time) {
			_, _, err := w.Parts.Frontier.SteerHosts(time.Now(), "news.example", frontier.HostAction{Verb: v, Until: until})
			w.Must(err)
		}
		hosts(frontier.Rest, time.Now().Add(time.Hour))
		y = asks("while the host rests", "due", "its host rests until")
		if at := time.Until(*y.At); at < time.Hour {
			w.Errorf("the visit is predicted in %s, but the host rests for an hour", at)
		}
		hosts(frontier.Wake, time.Time{})
		hosts(frontier.Pause, time.Time{})
		asks("while the host is held", "due", "not visited: its host is held")
		hosts(frontier.Resume, time.Time{})
		w.Crawler.Pause("works", time.Now(), time.Time{})
		asks("while the crawl is paused", "due", "not visited: the crawl is paused (works)")
		w.Crawler.Resume()
		post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "hold", Select: api.Select{URIs: []string{page}}})
		asks("while it is held", "held", "not visited: held by an operator")
		const closed = "http://news.example/private/x"
		_, err := w.Parts.Frontier.Add(time.Now(), frontier.Candidate{URI: uri.FromCanonical(closed)})
		w.Must(err)
		if y := get[api.Why](w, "/api/v1/why?uri="+closed); y.At != nil || !strings.Contains(y.Next, "not visited, because") ||
			!strings.Contains(y.Next, "robots.txt") || !strings.Contains(y.Next, "asked again on 20") {
			w.Errorf("of a forbidden URI: %q at %v", y.Next, y.At)
		}
		w.Run(3 * time.Hour)
		out := map[string]string{}
		for _, r := range get[api.Queue](w, "/api/v1/hosts/news.example/queue").URIs {
			out[r.URI] = r.Out
		}
		if out[closed] != "robots.txt forbids it" || out[page] != "" {
			w.Errorf("the queue says of what is kept out: %v", out)
		}
	})
}

// TestWhyNotReturnsWhatKeepsAURIOut asks about URIs that different rules keep out.
func TestWhyNotReturnsWhatKeepsAURIOut(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Set("http://news.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /private\n"})
		w.Run(time.Minute)
		for _, c := range []struct{ uri, out string }{
			{"http://news.example/", ""},
			{"http://news.example/private/x", "kept out by robots.txt"},
			{"http://elsewhere.example/", "kept out by scope"},
			{"http://news.example/never-linked", "never found"},
			{"ftp://news.example/list.txt", "kept out by scheme"},
		} {
			n := get[api.WhyNot](w, "/api/v1/why-not?uri="+c.uri)
			if !strings.HasPrefix(n.Out, c.out) || (c.out == "") != (n.Out == "") || len(n.Rules) == 0 {
				w.Errorf("%s: %q after %d rules; want %q", c.uri, n.Out, len(n.Rules), c.out)
			}
		}
		post[api.HostsOrdered](w, "/api/v1/frontier/hosts", api.HostOrder{Pattern: "news.example", Verb: "pause"})
		if n := get[api.WhyNot](w, "/api/v1/why-not?uri=http://news.example/"); !strings.HasPrefix(n.Out, "not visited: its host is held by an operator") {
			w.Errorf("the answer for a URI on a held host is %q", n.Out)
		}
		var p api.Problem
		if status := w.Ask(http.MethodGet, "/api/v1/why?uri=http://news.example/never", nil, &p); status != 404 || !strings.Contains(p.Error, "arcrawl why") {
			w.Errorf("why of an unknown URI: status %d, %q; want 404 and the advice to ask arcrawl why", status, p.Error)
		}
	})
}

// TestWhyOfASeedNamesWhatHelps asks, after one visit of each, about seeds that redirect to a wall, that robots.txt
// forbids, and that bring a page.
func TestWhyOfASeedNamesWhatHelps(t *testing.T) {
	seeds := `"http://front.example/", "http://closed.example/", "http://open.example/"`
	inWorld(t, strings.Replace(everyHour, `"http://news.example/"`, seeds, 1), func(w *world) {
		w.Set("http://front.example/", testcrawl.Page{Status: 302, Location: "/consent"})
		w.Set("http://front.example/consent", testcrawl.Page{Body: "<h1>Cookies required</h1><p>Please enable cookies in your browser.</p>"})
		w.Set("http://closed.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /\n"})
		w.Set("http://open.example/", testcrawl.Page{})
		w.Run(time.Minute)
		for seed, want := range map[string]string{
			"http://front.example/": "leads to http://front.example/consent, which showed a wall", "http://closed.example/": "robots.obey",
			"http://open.example/": "",
		} {
			hint := get[api.Why](w, "/api/v1/why?uri="+seed).Hint
			if !strings.Contains(hint, want) || (hint == "") != (want == "") || strings.Contains(hint, "--try URI") {
				w.Errorf("the hint of %s is %q, want %q", seed, hint, want)
			}
		}
	})
}
