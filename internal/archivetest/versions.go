package archivetest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/warcout"
)

// Versions is the number of versions of each page in [Versioned], and VisitsOfVersions the number of visits of a page
// and its copy.
const (
	Versions         = 5
	VisitsOfVersions = 4*Versions + 2
)

// Versioned returns an archive of two files with pages of five versions. Between the versions are revisits of both
// profiles, returns to earlier versions, and revisits under other URIs. There is a page for each content coding and for
// chunks, one whose captures all lie in one second, and one whose responses are truncated. The responses came over TLS,
// those in gzip and br over HTTP/2. Between the versions are look-ups, configurations and what is kept of rendered
// pages.
func Versioned(t testing.TB) *Archive {
	t.Helper()
	l := New(t)
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd", "chunked"} {
		l.tls = "http/1.1"
		if coding == "gzip" || coding == "br" {
			l.tls = "h2"
		}
		l.versions("https://www.a.example/page-"+coding, coding, time.Hour)
	}
	l.tls = "http/1.1"
	l.Now = l.Now.Truncate(time.Second).Add(10_250 * time.Microsecond)
	l.versions("http://www.a.example/moment", "", 47_300*time.Microsecond)
	l.Now = l.Now.Truncate(time.Hour).Add(time.Hour)
	for i := range Versions {
		l.truncated("http://www.a.example/cut", fmt.Sprintf("<p>cut version %d</p>", i))
	}
	l.Seal()
	return l
}

// versions archives five versions of a page with revisits between them, one visit after each step.
func (l *Archive) versions(address, coding string, step time.Duration) {
	l.T.Helper()
	head := HTMLHead
	switch coding {
	case "":
	case "chunked":
		head = ChunkedHead
	default:
		head += "\r\nContent-Encoding: " + coding
	}
	visit := func(do func() digest.Origin) digest.Origin {
		at := l.Now
		o := do()
		l.Now = at.Add(step)
		return o
	}
	var all []digest.Origin
	for i := range Versions {
		l.aboutTheCrawl(i)
		body := Coded(l.T, coding, fmt.Sprintf("<!doctype html><title>Page %[1]s, version %[2]d</title><p>%[1]s %[2]d</p>", address, i))
		version := visit(func() digest.Origin { return l.Page(address, head, body) })
		all = append(all, version)
		visit(func() digest.Origin { return l.Revisit(address, head+"\r\nX-Again: yes", version) })
		visit(func() digest.Origin { return l.NotModified(address, version) })
		if i == Versions/2 {
			l.Seal() // later revisits refer to the file before
			visit(func() digest.Origin { return l.Revisit(address, head, all[0]) })
		}
		visit(func() digest.Origin { return l.Revisit(address+"/copy", head, version) })
	}
	visit(func() digest.Origin { return l.Revisit(address, head, all[1]) })
}

// aboutTheCrawl archives the records that are about no page: a look-up, the configuration, and what is kept of
// a rendered page.
func (l *Archive) aboutTheCrawl(version int) {
	l.T.Helper()
	now := warcout.Lookup{Host: "www.a.example", Date: l.Now, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")}}
	_, err := l.w.WriteLookup(l.Now, now)
	Must(l.T, err)
	for _, name := range []string{"urn:arcrawl:configuration:arcrawl.toml", "urn:view:https://www.a.example/page-"} {
		_, err := l.w.WriteResource(l.Now, warcout.Resource{
			URI: name, Date: l.Now, ContentType: "text/plain", Content: fmt.Appendf(nil, "version %d of %s", version, name),
		})
		Must(l.T, err)
	}
}

// truncated archives a response of which only a part was received.
func (l *Archive) truncated(address, body string) {
	l.T.Helper()
	block := fmt.Sprintf("%s\r\nContent-Length: %d\r\n\r\n%s", HTMLHead, 2*len(body), body)
	l.write(warcout.Visit{Response: &warcout.Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)), Truncated: "length",
	}}, address)
}

// Coded returns a text in a content coding. A coding that is empty, or one of transfer, changes nothing.
func Coded(t testing.TB, coding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		Must(t, err)
		w = z
	default:
		return text
	}
	_, err := io.WriteString(w, text)
	Must(t, err)
	Must(t, w.Close())
	return b.String()
}
