package crawler_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestACrawlOverHTTP2IsArchivedInTheFormOfHTTP1 crawls two hosts of one server, one of them over HTTP/2, until their
// pages were visited twice.
func TestACrawlOverHTTP2IsArchivedInTheFormOfHTTP1(t *testing.T) {
	t.Parallel()
	site := httptest.NewUnstartedServer(http.HandlerFunc(servePages))
	site.EnableHTTP2 = true
	site.StartTLS()
	t.Cleanup(site.Close)
	w := newWorld(t, t.TempDir(), "[politeness]\ndelay_factor = 0\nmin_delay = \"0s\"\n[midfetch]\nproof = 0\naudit_share = 0\n"+
		"[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1s\"\n[seeds]\nuris = [\"https://two.example/\", \"https://one.example/\"]\n")
	w.hostFiles(map[string]string{"hosts.d/two.example.toml": "[fetch]\nhttp = \"2\"\n"})
	seen := map[string]int{}
	w.crawlSite(site, &tls.Config{InsecureSkipVerify: true}, nil, func(r crawler.Report) (enough bool) {
		seen[r.URI.String()]++
		for _, host := range []string{"one", "two"} {
			enough = seen["https://"+host+".example/1"] >= 2 && seen["https://"+host+".example/2"] >= 1
			if !enough {
				break
			}
		}
		return enough
	})
	kinds := map[string]int{}
	for _, r := range archivetest.CheckDir(t, w.path("warc")) {
		rest, page := strings.CutPrefix(r.Target(), "https://")
		if !page || r.Type() == "metadata" {
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		kinds[host+" "+r.Type()]++
		protocols := strings.Join(r.Header.Values("WARC-Protocol"), " ")
		text := string(r.Block)
		switch {
		case host == "one.example" && protocols != "http/1.1 tls/1.3", host == "two.example" && protocols != "h2 tls/1.3":
			t.Errorf("the %s record of %s has the protocols %q", r.Type(), r.Target(), protocols)
		case r.Type() != "revisit" && !strings.Contains(strings.SplitAfter(text, "\r\n")[0], "HTTP/1.1"), host == "two.example" && strings.Contains(strings.ToLower(text), "transfer-encoding:"):
			t.Errorf("the %s record of %s begins with %.200q", r.Type(), r.Target(), text)
		case host == "two.example" && r.Type() == "response" && !strings.Contains(text, "\r\nx-asked: HTTP/2.0\r\n"):
			t.Errorf("the answer of %s is %.200q", r.Target(), text)
		}
	}
	for _, kind := range []string{"two.example response", "two.example request", "two.example revisit", "one.example response"} {
		if kinds[kind] == 0 {
			t.Errorf("the archive has no %s: %v", kind, kinds)
		}
	}
	checkArchive(t, w.dir)
	t.Run("read by warcio", func(t *testing.T) {
		slow.Test(t)
		pages := 0
		for _, r := range foreign.Records(t, finishedFiles(t, w.dir)...) {
			if len(r.Errors) > 0 {
				t.Errorf("the %s record of %s: %q", r.Type, r.Target, r.Errors)
			}
			if r.Type == "response" && strings.HasPrefix(r.Target, "https://two.example/") {
				pages++
				if r.PayloadLength == 0 || !strings.HasPrefix(r.Status, "HTTP/1.1 ") {
					t.Errorf("%s: status %q, payload of %d bytes", r.Target, r.Status, r.PayloadLength)
				}
			}
		}
		if pages < 3 {
			t.Errorf("warcio reads %d answers over HTTP/2", pages)
		}
	})
}

// servePages serves three pages, of which one has a validator. All else is elsewhere.
func servePages(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("X-Asked", r.Proto)
	switch r.URL.Path {
	case "/":
		_, _ = fmt.Fprint(w, "<a href=/1>1</a><a href=/2>2</a> the first page of", r.Host)
	case "/1":
		w.Header().Set("Etag", `"one"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, strings.Repeat("a page that has not changed ", 5000), r.Host)
	default:
		// Each host says it in its own words: the second of two equal answers would be a revisit record.
		http.Error(w, "there is no such page at "+r.Host, http.StatusNotFound)
	}
}
