package curator

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestTicketsEnd issues tickets for two tokens, takes one of the tokens away, and waits.
func TestTicketsEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	all := newTickets()
	const page, at = "http://a.example/", "20261121090000"
	issue := func(all *tickets, name string, now time.Time) string {
		return all.Issue(name, access.Curate, page, at, true, now)
	}
	maria, socket := issue(all, "maria", now), issue(all, "", now)
	for _, c := range []struct {
		what, ticket string
		names        []string
		after        time.Duration
		want         bool
	}{
		{"the ticket of a token", maria, []string{"jo", "maria"}, 0, true},
		{"the ticket of a removed token", maria, []string{"jo"}, 0, false},
		{"the ticket of a user of the socket", socket, []string{"", "jo"}, 0, true},
		{"a ticket of this morning", maria, []string{"maria"}, 11 * time.Hour, true},
		{"a ticket of yesterday", maria, []string{"maria"}, 24 * time.Hour, false},
		{"a ticket of another process", issue(newTickets(), "maria", now), []string{"maria"}, 0, false},
		{"a ticket that was made to last", "ff" + maria, []string{"maria"}, 0, false},
		{"no ticket", "", []string{"maria"}, 0, false},
	} {
		if v, got := all.Find(c.ticket, c.names, now.Add(c.after)); got != c.want || got && v.page != page {
			t.Errorf("%s: valid %t, want %t", c.what, got, c.want)
		}
	}
	if issue(all, "maria", now.Add(time.Hour)) != maria {
		t.Error("a ticket of the same hours differs: browsers load everything again")
	}
	for i := range 2 * maxViews {
		all.Issue("maria", access.Curate, fmt.Sprint(page, i), at, true, now.Add(2*time.Hour))
	}
	if _, ok := all.Find(maria, []string{"maria"}, now); ok || len(all.views) != maxViews {
		t.Errorf("%d views are kept, the oldest %t; want %d and false", len(all.views), ok, maxViews)
	}
}

// TestCapturesForTheEngine asks for captures as the engine does.
func TestCapturesForTheEngine(t *testing.T) {
	t.Parallel()
	w := newArchived(t)
	const page = "http://www.a.example/"
	bad := "\r\nSet-Cookie: a=b\r\nClear-Site-Data: \"*\"\r\nLink: <http://evil.example/>; rel=preconnect\r\nContent-Security-Policy: default-src *\r\nService-Worker-Allowed: /"
	first := w.Page(page, htmlHead+bad, "one")
	w.add(first, "text/html", 200)
	w.add(w.Page(page, "HTTP/1.1 503 Busy\r\nContent-Type: text/html", "busy"), "text/html", 503)
	w.add(w.Page(page, htmlHead, "two"), "text/html", 200)
	w.add(w.Page(page+"gone", "HTTP/1.1 410 Gone\r\nContent-Type: text/html", "gone"), "text/html", 410)
	w.add(w.Page(page+"moved", "HTTP/1.1 301 Moved\r\nLocation: ../new?a=b", ""), "unk", 301)
	w.add(w.Page(page+"new?a=b", htmlHead, "new"), "text/html", 200)
	w.add(w.Page(page+"broken", htmlHead+"\r\nContent-Encoding: gzip", "this is not gzip"), "text/html", 200)
	w.add(w.Page(page+"only-later", htmlHead, "later"), "text/html", 200)
	p := w.player("", "maria")
	for _, c := range []struct {
		what, at, page string
		status         int
		says, shows    string // the answer, and the status that the engine shows
	}{
		{"the exact time", "20261121090000", page, 200, "one", ""},
		{"a time between, with a failure nearer", "20261121094500", page, 200, "one", ""},
		{"a failure that is asked for", "20261121100000", page, 200, "busy", "503"},
		{"a time after all", "20301121100000", page, 200, "two", ""},
		{"no time", "", page, 200, "two", ""},
		{"a time before the first", "20261121090000", page + "only-later", 200, "later", ""},
		{"another scheme and www", "20261121090000", "https://a.example/", 200, "one", ""},
		{"a page that is gone", "", page + "gone", 200, "gone", "410"},
		{"a redirect", "", page + "moved", 200, "", "301"},
		{"a body that is not what its header says", "", page + "broken", 404, "gzip: invalid header", ""},
		{"a page that was never archived", "", page + "no", 404, "The archive has no capture of it.", ""},
		{"no timestamp", "2026", page, 404, "The archive has no capture", ""},
		{"no URI", "20261121090000", "nonsense", 400, "not a ticket", ""},
	} {
		got := askPlayer(p, "/raw/"+p.o.Tickets.Issue("maria", access.Curate, c.page, c.at, true, w.Now)+"/"+c.page)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) || got.Header().Get("X-Redirect-Status") != c.shows {
			t.Errorf("%s: %d, shown %q: %s", c.what, got.Code, got.Header().Get("X-Redirect-Status"), got.Body)
		}
		for _, name := range []string{"Set-Cookie", "Clear-Site-Data", "Link", "Service-Worker-Allowed"} {
			if value := got.Header().Get(name); value != "" {
				t.Errorf("%s: the browser sees %s: %s", c.what, name, value)
			}
		}
		if policy := got.Header().Get("Content-Security-Policy"); policy != nothingAllowed {
			t.Errorf("%s: the policy is %q", c.what, policy)
		}
	}
	ticket := "/raw/" + p.o.Tickets.Issue("maria", access.Curate, page+"moved", "", true, w.Now) + "/"
	if to := askPlayer(p, ticket+page+"moved").Header().Get("X-Orig-Location"); to != "http://www.a.example/new?a=b" {
		t.Errorf("the redirect leads to %q", to)
	}
	if got := askPlayer(p, ticket+page+"new?a=b", destinationHeader, "iframe").Body.String(); got != "new" {
		t.Errorf("the target of the redirect is %q", got)
	}
	const elsewhere = "http://other.example/"
	w.add(w.Page(page+"away", "HTTP/1.1 302 Found\r\nLocation: "+elsewhere, ""), "text/html", 302)
	w.add(w.Page(elsewhere, htmlHead, "away"), "text/html", 200)
	ticket = "/raw/" + p.o.Tickets.Issue("maria", access.Curate, page+"away", "", true, w.Now) + "/"
	if got := askPlayer(p, ticket+elsewhere, destinationHeader, "iframe"); got.Header().Get(otherHeader) == "" {
		t.Errorf("the target of a redirect that was not followed: %q", got.Body)
	}
	askPlayer(p, ticket+page+"away")
	got := askPlayer(p, ticket+elsewhere, destinationHeader, "iframe")
	if got.Body.String() != "away" || got.Header().Get(foreignHeader) != "" {
		t.Errorf("the target of a redirect to another host: %q, foreign %q", got.Body, got.Header().Get(foreignHeader))
	}
}

// TestOnlyTheWorkerReadsCaptures asks for captures as nobody but the player's worker may.
func TestOnlyTheWorkerReadsCaptures(t *testing.T) {
	t.Parallel()
	w := newArchived(t)
	w.add(w.Page("http://a.example/", htmlHead, "secret"), "text/html", 200)
	p := w.player("", "maria")
	issue := func(all *tickets, name string) string {
		return "/raw/" + all.Issue(name, access.Curate, "http://a.example/", "", true, w.Now) + "/http://a.example/"
	}
	good := issue(p.o.Tickets, "maria")
	if got := askPlayer(p, good, "Sec-Fetch-Dest", "empty"); got.Code != 200 {
		t.Fatalf("the worker: %d %s", got.Code, got.Body)
	}
	for what, got := range map[string]struct {
		path   string
		header []string
	}{
		"a frame":                     {good, []string{"Sec-Fetch-Dest", "iframe"}},
		"a tab":                       {good, []string{"Sec-Fetch-Dest", "document"}},
		"an archived service worker":  {good, []string{"Service-Worker", "script"}},
		"the engine as a worker":      {"/engine/sw.js", []string{"Service-Worker", "script"}},
		"a script of a page":          {good, []string{"Sec-Fetch-Dest", "empty", workerHeader, "guessed"}},
		"our worker, reconfigured":    {"/sw.js?root=x", []string{"Service-Worker", "script"}},
		"a ticket of somebody else":   {issue(newTickets(), "maria"), nil},
		"a ticket of a missing token": {issue(p.o.Tickets, "jo"), nil},
	} {
		answer := askPlayer(p, got.path, got.header...)
		if answer.Code != http.StatusForbidden || strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("%s: %d %s", what, answer.Code, answer.Body)
		}
	}
	for _, dest := range []string{"", "empty", "script", "worker"} {
		if r := askPlayer(p, "/sw.js", "Service-Worker", "script", "Sec-Fetch-Dest", dest); r.Code == 200 {
			t.Errorf("our worker is read as %q, with its key", dest)
		}
	}
	r := askPlayer(p, "/sw.js", "Service-Worker", "script", "Sec-Fetch-Dest", "serviceworker")
	if policy := r.Header().Get("Content-Security-Policy"); r.Code != 200 || !strings.HasPrefix(policy, "default-src 'self'") {
		t.Errorf("our worker: %d, policy %q", r.Code, policy)
	}
}

// TestLostFilesAreNamed asks for captures whose WARC file is gone, or has other bytes.
func TestLostFilesAreNamed(t *testing.T) {
	t.Parallel()
	w := newArchived(t)
	o := w.Page("http://a.example/", htmlHead, "page")
	w.add(o, "text/html", 200)
	p := w.player("", "maria")
	ask := func() string {
		t.Helper()
		return askPlayer(p, "/raw/"+p.o.Tickets.Issue("maria", access.Curate, "http://a.example/", "", true, w.Now)+"/http://a.example/").Body.String()
	}
	file := filepath.Join(w.Dir, o.File+".open")
	whole := archivetest.Read(t, file)
	archivetest.Must(t, os.WriteFile(file, []byte(whole[:o.Offset]+strings.Repeat("x", len(whole)-int(o.Offset))), 0o644))
	if got := ask(); !strings.Contains(got, "is damaged") || !strings.Contains(got, o.File) {
		t.Errorf("a damaged record: %s", got)
	}
	archivetest.Must(t, os.Remove(file))
	if got := ask(); !strings.Contains(got, "is not in the folder of the archive") || !strings.Contains(got, o.File) {
		t.Errorf("a file that is gone: %s", got)
	}
	archivetest.Must(t, os.WriteFile(file, []byte(whole), 0o644))
	w.Seal()
	if got := ask(); got != "page" {
		t.Errorf("a file that was finished: %s", got)
	}
	archivetest.Must(t, w.live.Merge(t.Context()))
	archivetest.Must(t, w.live.Merge(t.Context())) // the second call moves the lines to the sorted index
	if got := ask(); got != "page" {
		t.Errorf("a file that was merged into the index: %s", got)
	}
	finished := w.Files()[0]
	archivetest.Must(t, os.Rename(finished, finished+".moved"))
	if got := ask(); !strings.Contains(got, "is not in the folder of the archive") {
		t.Errorf("a finished file that is gone: %s", got)
	}
	archivetest.Must(t, os.Rename(finished+".moved", finished))
	entries, release, err := p.o.Archive.Open(w.Now)
	archivetest.Must(t, err)
	defer release()
	if list, err := entries.Lookup("http://a.example/", nil); err != nil || len(list) != 1 || entries.Unindexed() != 0 {
		t.Errorf("after the merge: %d captures, %d files without index, %v", len(list), entries.Unindexed(), err)
	}
}
