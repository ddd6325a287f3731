package hostile_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

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
	{"media type", func(s string) { mediatype.Of(s); mediatype.Charset(s) }, []shape{
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
