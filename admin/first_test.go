package admin

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestReasonOfFirstFailureIsShown crawls a host with a private address. Each place where people look has the reason and
// what to do.
func TestReasonOfFirstFailureIsShown(t *testing.T) {
	var log bytes.Buffer
	inWorld(t, strings.Replace(everyHour, "news.example", "10.0.0.1:8099", 1), func(w *world) {
		w.Must(w.Parts.Fetch.Close())
		w.Parts.Fetch = fetch.New(fetch.Options{Dial: fetch.Guard(nil), SpoolDir: w.Dir}) // refuses before it connects
		w.Crawler = crawler.New(w.Parts)
		w.window.o.Crawler = w.Crawler
		w.Run(10 * time.Minute)
		const reason = "address is not public: host 10.0.0.1 is at 10.0.0.1; to crawl it, add its network to fetch.allow_networks and restart"

		s := get[api.Status](w, "/api/v1/status")
		if len(s.Down) != 1 || s.Down[0].Host != "10.0.0.1:8099" || s.Down[0].Failures < 2 || s.Down[0].Error != reason {
			w.Errorf("the status reports the unreachable hosts %+v", s.Down)
		}
		if h := get[api.Hosts](w, "/api/v1/hosts").Hosts; len(h) != 1 || h[0].LastError != reason {
			w.Errorf("the list of hosts is %+v", h)
		}
		if h := get[api.Host](w, "/api/v1/hosts/10.0.0.1:8099"); h.LastError != reason {
			w.Errorf("the host is %+v", h)
		}
		why := get[api.Why](w, "/api/v1/why?uri=http://10.0.0.1:8099/")
		if why.Host.LastError != reason || !strings.Contains(why.Next, reason) {
			w.Errorf("why answers %+v", why)
		}
		if u := get[api.URI](w, "/api/v1/uri?uri=http://10.0.0.1:8099/robots.txt"); u.LastError != reason || u.LastStatus != -2 {
			w.Errorf("robots.txt is %+v", u)
		}
		if n := strings.Count(log.String(), reason); n != 1 || !strings.Contains(log.String(), `"status":"-2 connection failed"`) {
			w.Errorf("the journal has the reason %d times, want once:\n%s", n, &log)
		}
	}, func(o *Options) { o.Log = zerolog.New(&log) })
}

// TestFirstFailuresOfSeedsAreLogged crawls seeds that fail in different ways, and one that works.
func TestFirstFailuresOfSeedsAreLogged(t *testing.T) {
	var log bytes.Buffer
	seeds := `"http://news.example/", "http://news.example/gone", "http://news.example/private", "http://down.example/", "http://typo.example/"`
	inWorld(t, strings.Replace(everyHour, `"http://news.example/"`, seeds, 1), func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Set("http://news.example/gone", testcrawl.Page{Status: 404})
		w.Set("http://news.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /private\n", Type: "text/plain"})
		w.Set("http://down.example/", testcrawl.Page{Down: true})
		w.Run(3 * 24 * time.Hour)
		for _, want := range []string{
			`"uri":"http://news.example/gone","status":"404 Not Found"`,
			`"uri":"http://news.example/private","status":"-9998 forbidden by robots.txt"`,
			`"uri":"http://down.example/robots.txt","status":"-2 connection failed","reason":"connect to down.example:80: dial tcp: connection refused"`,
			`"uri":"http://typo.example/robots.txt","status":"-1 DNS lookup failed","reason":"connect to typo.example:80: lookup typo.example: no such host"`,
		} {
			if strings.Count(log.String(), want) != 1 {
				w.Errorf("the journal has %q %d times, want once", want, strings.Count(log.String(), want))
			}
		}
		if n := strings.Count(log.String(), "a seed"); n != 4 || strings.Contains(log.String(), "0001-01-01") || strings.Contains(log.String(), `"http://news.example/"`) {
			w.Errorf("%d lines are about seeds, want 4:\n%s", n, &log)
		}
	}, func(o *Options) { o.Log = zerolog.New(&log) })
}
