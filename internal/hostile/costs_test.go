package hostile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
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
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
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
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
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
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
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
	return withoutRobots(func(w http.ResponseWriter, r *http.Request) {
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

// shape makes inputs of about n bytes.
type shape struct {
	name string
	make func(n int) string
}

// of returns a shape that repeats a piece after a beginning.
func of(name, beginning, piece string) shape {
	return shape{name, func(n int) string { return beginning + strings.Repeat(piece, max(1, n/len(piece))) }}
}

const (
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	logLine = "2026-01-02T06:00:00.000Z   200       4000 http://news.example/ - - text/html #001 20260102055959960+40 " +
		"sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 - "
)

// parsers are the parsers that have no list of hostile inputs in their own package.
var parsers = []struct {
	name   string
	run    func(text string)
	shapes []shape
}{
	{"URI", func(s string) { _, _ = uri.Parse(s) }, addresses},
	{"replay key", func(s string) { _ = uri.ReplayKey(s) }, addresses},
	{"robots.txt", func(s string) { robots.Parse([]byte(s)).CrawlDelay("arcrawl") }, []shape{
		of("groups", "", "User-agent: a\nDisallow: /b\n"), of("stars", "User-agent: *\nDisallow: ", "*"),
		of("agents", "", "User-agent: a\n"), of("one line", "Disallow:", " "), of("percents", "User-agent: *\nAllow: /", "%"),
		of("returns", "", "\r"), of("delays", "User-agent: *\n", "Crawl-delay: 1\n"), of("sitemaps", "", "Sitemap: /a\n"),
	}},
	{"media type", func(s string) { digest.MediaType(s); discover.Charset(s) }, []shape{
		of("parameters", "text/html", ";a=b"), of("pieces", "text/html", ";a*0=b"), of("quotes", "text/html;a=\"", `\"`),
		of("spaces", "text/html;", " "), of("slashes", "", "/"),
	}},
	{"date", func(s string) { _, _ = discover.ParseDate(s) }, []shape{
		of("digits", "2026-11-", "1"), of("spaces", "Sat, ", " "), of("words", "", "Nov "), of("zone", "2026-11-21T10:00:00+", "0"),
	}},
	{"text of a page", scrub(digest.Spec{Text: true, Sketch: true}), pages},
	{"elements of a page", scrub(digest.Spec{Selectors: []string{".clock", "div > p b", "p ~ i"}}), pages},
	{"line of an index", func(s string) { _, _ = index.ParseEntry(s) }, []shape{
		of("brackets", "com,a)/ 20260101000000 {", `"a":[`), of("keys", `com,a)/ 20260101000000 {"url":"http://a/"`, `,"a":"b"`),
		of("escapes", `com,a)/ 20260101000000 {"url":"`, `\u0041`), of("spaces", "", " "),
	}},
	{"line of crawl.log", func(s string) { _, _ = crawllog.Parse(s) }, []shape{
		of("spaces", "", " "), of("columns", "", "- "), of("annotations", logLine, "a:b,"),
	}},
	{"WARC file", readWARC, []shape{
		of("header fields", "WARC/1.1\r\n", "A: b\r\n"), of("records", "", "WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"),
		of("folded fields", "WARC/1.1\r\nA: b", "\r\n c"), of("no records", "", "WARC/"), of("lines", "", "\n"),
		of("lengths", "", "WARC/1.1\r\nContent-Length: 9999999\r\n\r\n"),
	}},
	{"response", exchange, []shape{
		of("chunks", chunked, "1\r\na\r\n"), of("extensions of a chunk", chunked+"1", ";a=b"), of("empty chunk sizes", chunked, "\r\n"),
		of("trailers", chunked+"0\r\n", "A: b\r\n"), of("header fields", "HTTP/1.1 200 OK\r\n", "A: b\r\n"),
		of("folded lines", "HTTP/1.1 200 OK\r\nA: b", "\r\n c"), of("folded fields", "HTTP/1.1 200 OK\r\n", "A: b\r\n c\r\n"),
		of("lines without a colon", "HTTP/1.1 200 OK\r\n", "abc\r\n"), of("informational heads", "", "HTTP/1.1 100 Continue\r\n\r\n"),
		of("empty lines", "", "\r\n"), of("lengths", "HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n"),
		of("codings", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip", ", gzip"), of("control bytes", "HTTP/1.1 200 OK\r\n", "A: \x01\r\n"),
		of("status line", "HTTP/1.1 200 ", "a"),
	}},
}

// TestWorkOfParsersGrowsWithTheirInput reads inputs of each shape in growing sizes.
func TestWorkOfParsersGrowsWithTheirInput(t *testing.T) {
	for _, p := range parsers {
		for _, s := range p.shapes {
			t.Run(strings.ReplaceAll(p.name+": "+s.name, " ", "-"), func(t *testing.T) { slow.Linear(t, s.make, p.run) })
		}
	}
}

var addresses = []shape{
	of("host", "http://", "a."), of("host in Unicode", "http://", "ü"), of("host of percents", "http://", "%41"),
	of("dots", "http://a.example/", "../"), of("slashes", "http://a.example", "/"), of("path", "http://a.example/", "a"),
	of("path in Unicode", "http://a.example/", "é"), of("query", "http://a.example/?", "a=b&"), of("tabs", "http://a.example/", "\t"),
	of("percents", "http://a.example/", "%"), of("at signs", "http://", "@"), of("colons", "http://a", ":"),
	of("brackets", "http://[", ":"), of("sessions", "http://a.example/", ";jsessionid=0"), of("spaces", " ", " "),
}

var pages = []shape{
	of("elements", "", "<div>"), of("end tags", "<p><b><i>", "</b>"), of("formatting", "", "<b><p>"), of("comments", "", "<!--"),
	of("entities", "", "&am"), of("words", "", "word "), of("tables", "", "<table><td>"), of("templates", "", "<template>"),
	of("attributes", "<a ", "b=c "), of("classes", "<p class='", "clock "), of("siblings", "", "<p></p><i></i>"), of("zeros", "", "\x00"),
	of("selects", "", "<select><option>"), of("links in links", "", "<a><b>"), of("SVG", "<svg>", "<g><style>"),
}

// scrub returns a function that compares a page by rules.
func scrub(s digest.Spec) func(text string) {
	rules, err := digest.Compile(s)
	if err != nil {
		panic(err)
	}
	return func(text string) {
		_, _ = rules.Compare(context.Background(), strings.NewReader(text), "text/html", digest.Of([]byte(text)))
	}
}

// readWARC reads all records of a file.
func readWARC(text string) {
	r, err := warc.NewReader("a.warc", strings.NewReader(text), int64(len(text)), 0)
	for err == nil {
		var rec *warc.Record
		if rec, err = r.Next(); rec == nil {
			return
		}
	}
}

// sent is a connection to a server that has already sent everything.
type sent struct{ io.Reader }

func (sent) Write(p []byte) (int, error)      { return len(p), nil }
func (sent) Close() error                     { return nil }
func (sent) LocalAddr() net.Addr              { return nil }
func (sent) RemoteAddr() net.Addr             { return nil }
func (sent) SetDeadline(time.Time) error      { return nil }
func (sent) SetReadDeadline(time.Time) error  { return nil }
func (sent) SetWriteDeadline(time.Time) error { return nil }

// exchange fetches a page whose answer is a text.
func exchange(text string) {
	client := fetch.New(fetch.Options{MaxIdle: -1, Dial: func(context.Context, string, string) (net.Conn, error) {
		return sent{bytes.NewReader([]byte(text))}, nil
	}})
	defer func() { _ = client.Close() }()
	limits := fetch.Limits{MaxHead: 16 << 20, MaxContent: 64 << 20}
	c, err := client.Fetch(context.Background(), fetch.Request{URI: uri.FromCanonical("http://a.example/"), Limits: limits})
	if err != nil {
		panic(fmt.Sprintf("fetch: %v", err))
	}
	_ = c.Close()
}

// shares are further attacks on what all hosts share.
func shares() []attack {
	return []attack{
		{
			name: "bodies that announce 1 GiB on a small disk", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				c.dir = smalldisk.Mount(c.t, "400m")
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 1073741824\r\n\r\n")
					if r.URL.Path != "/robots.txt" {
						buffer := make([]byte, 64<<10)
						for range 1 << 14 {
							if _, err := w.Write(buffer); err != nil {
								return
							}
						}
					}
				}, "www.stranger.example")
				return crawlOptions{fetch: `max_content = "2GB"`, seeds: pagesOf(c, "www.stranger.example", 8)}
			},
			bound: usage{disk: 8 << 20},
			check: func(t *testing.T, c *crawl) {
				refused := 0
				for _, r := range c.visits("www.stranger.example") {
					if r.NoSpace {
						refused++
					}
				}
				if refused < 8 {
					t.Errorf("%d bodies were refused, want all 8 at least once", refused)
				}
			},
		},
		{
			name: "names of one domain beyond fetch.max_per_day", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				var n atomic.Int64
				noise := strings.Repeat("0123456789abcdef", 64<<10) // 1 MB
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/octet-stream")
					fmt.Fprint(w, n.Add(1), noise)
				}), "*.stranger.example")
				var o crawlOptions
				for i := range 10 {
					o.seeds = append(o.seeds, c.town.url(fmt.Sprintf("n%d.stranger.example", i), "/0"))
				}
				o.fetch = `max_per_day = "20kB"`
				return o
			},
			check: func(t *testing.T, c *crawl) {
				refused := map[string]bool{}
				for _, r := range c.visits("stranger.example") {
					if r.NoSpace {
						refused[string(r.URI.Host())] = true
					}
				}
				if len(refused) < 5 {
					t.Errorf("bodies of %d names were refused, want the names of the domain to share one day", len(refused))
				}
			},
		},
		deadHub(), manyDeadHosts(),
	}
}

// deadHub is a hundred feeds of as many domains that name one hub, which accepts connections and closes them.
func deadHub() attack {
	return attack{
		name: "hundred feeds that name one dead hub", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			at := c.town.address()
			c.town.name("hub.victim.example", at)
			l := c.town.listen(at, 443)
			var asked atomic.Int64
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					asked.Add(1)
					_ = conn.Close()
				}
			}()
			c.t.Cleanup(func() {
				if n := asked.Load(); n > 8 {
					c.t.Errorf("a dead hub had %d connections in %s, want one each two seconds, with one repetition", n, short)
				}
			})
			var feeds []string
			for i := range 100 {
				host := fmt.Sprintf("www.stranger%d.example", i)
				c.town.name(host, c.town.address())
				feeds = append(feeds, fmt.Sprintf("%q", c.town.url(host, "/feed.xml")))
			}
			feed := c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/atom+xml")
				fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>%[1]s</title>`+
					`<link rel="self" href="http://%[1]s/feed.xml"/><link rel="hub" href="https://hub.victim.example/"/>`+
					`<entry><id>1</id><title>a</title><link href="http://%[1]s/a"/></entry></feed>`, r.Host)
			}))
			for i := range 100 {
				c.town.name(fmt.Sprintf("www.stranger%d.example", i), feed)
			}
			return crawlOptions{tables: "[websub]\ncallback = \"https://crawler.library.example/websub\"\nlisten = \"127.0.0.1:0\"\n" +
				"[feeds]\nuris = [" + strings.Join(feeds, ", ") + "]\n"}
		},
		check: func(t *testing.T, c *crawl) { atLeast(t, c, "/feed.xml", 50) },
	}
}

// manyDeadHosts is a page that embeds images on ten thousand hosts that refuse connections.
func manyDeadHosts() attack {
	return attack{
		name:  "images on 10000 hosts that refuse",
		bound: usage{heap: 64 << 20}, // the caches of the store fill
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			c.town.serve(s, "www.stranger.example")
			c.town.name("*.dead.example", c.town.address())
			for page := range 4 {
				s.set(fmt.Sprintf("/%d", page), embeds(func(i int) string {
					return c.town.url(fmt.Sprintf("n%d-%d.dead.example", page, i), "/a.png")
				}, 2500))
			}
			return crawlOptions{
				crawl: "new_hosts_per_page = 10000\nnew_hosts_per_day = 1000000",
				seeds: pagesOf(c, "www.stranger.example", 4),
			}
		},
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, "www.stranger.example", 3)
			if hosts := hostsIn(t, c); hosts < 10_000 {
				t.Errorf("%d hosts are known, want all 10,000 of the page", hosts)
			}
		},
	}
}
