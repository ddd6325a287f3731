package hostile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// costs are attacks with documents that take much work, and with servers that take much time.
func costs() []attack {
	return []attack{
		{
			name: "content above fetch.max_content that is compared as text",
			stranger: func(c *crawl) crawlOptions {
				body := []byte("<title>a</title>" + strings.Repeat("<p>much text ", 100_000))
				c.town.serve(document("text/html", "", body), "www.stranger.example")
				return crawlOptions{
					fetch: `max_content = "64KiB"`, seeds: pagesOf(c, "www.stranger.example", 2),
					tables: "[change]\nmode = \"text\"\nmax_size = \"2MiB\"\n",
				}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 4) },
		},
		{
			name: "bodies that drip on twelve hosts",
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						http.NotFound(w, r)
						return
					}
					for r.Context().Err() == nil {
						_, _ = io.WriteString(w, "x")
						_ = http.NewResponseController(w).Flush()
						time.Sleep(100 * time.Millisecond)
					}
				}), "*.stranger.example")
				var o crawlOptions
				for i := range 12 {
					o.seeds = append(o.seeds, c.town.url(fmt.Sprintf("n%d.stranger.example", i), "/"))
				}
				return o
			},
		},
		{
			name: "curator's expressions on a page made for them",
			stranger: func(c *crawl) crawlOptions {
				body := []byte(strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab ", 60_000))
				var n atomic.Int64
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<title>%d</title>", n.Add(1))
					_, _ = w.Write(body)
					_, _ = io.WriteString(w, "x z !")
				}), "*.stranger.example")
				var seeds []string
				for i := range 8 {
					seeds = append(seeds, pagesOf(c, fmt.Sprintf("n%d.stranger.example", i), 3)...)
				}
				return crawlOptions{
					seeds:  seeds,
					tables: "[change]\nmode = \"scrubbed\"\nscrub = ['[a-z ]{0,900}!', '(x|a+){1,200}z']\n",
				}
			},
		},
		{
			name: "links to hosts with very long names",
			stranger: func(c *crawl) crawlOptions {
				var page bytes.Buffer
				long := strings.Repeat("ü", 30_000)
				for i := range 60 {
					fmt.Fprintf(&page, "<a href=\"http://%d%s.example/\">a</a>\n", i, long)
				}
				c.town.serve(document("text/html", "", page.Bytes()), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 10)}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 20) },
		},
		{
			name: "decompression bomb",
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(document("text/html", "gzip", gzipped(make([]byte, 256<<20))), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 2)}
			},
		},
		{
			name: "page of 8 MB that is nothing but elements",
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(document("text/html", "", []byte(strings.Repeat("<div><a href=x>", 8<<20/15))), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 2)}
			},
			bound: usage{heap: 96 << 20, disk: 128 << 20},
		},
		{
			name: "redirects without end", quick: true,
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						http.NotFound(w, r)
						return
					}
					http.Redirect(w, r, r.URL.Path+"0", http.StatusFound)
				}), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 5)}
			},
			check: func(t *testing.T, c *crawl) {
				known := map[string]bool{}
				for _, r := range c.visits("stranger.example") {
					known[r.URI.String()] = true
				}
				if len(known) > 5*7+1 {
					t.Errorf("%d pages were visited, want at most 5 redirects for each of 5 seeds", len(known))
				}
			},
		},
		{
			name: "header without end",
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					conn, out, err := http.NewResponseController(w).Hijack()
					if err != nil {
						return
					}
					defer conn.Close()
					_, err = out.WriteString("HTTP/1.1 200 OK\r\n")
					for i := 0; err == nil; i++ {
						_, err = fmt.Fprintf(out, "X-%d: y\r\n", i)
					}
				}), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 5)}
			},
		},
	}
}

// document serves the same body for all pages.
func document(kind, coding string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
		}
		_, _ = w.Write(body)
	})
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}
