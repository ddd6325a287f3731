// Package archivetest makes small archives for tests, with arcrawl's own writer and with GNU wget, and reads archives
// strictly ([CheckDir]): every gzip member is one record, every required header is there, every digest is right, and
// every reference names a record that exists. The reader shares no code with the writer, so that both cannot have the
// same mistake.
package archivetest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Start is the time of the first visit.
var Start = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)

// Archive is a folder of WARC files that arcrawl's own writer writes, visit by visit.
type Archive struct {
	T      testing.TB
	Dir    string
	w      *warcout.Writer
	Now    time.Time
	Series string        // of the next visits
	tls    string        // the protocol over TLS that visits used, as in WARC-Protocol; empty = no TLS
	reason warcout.Field // of all visits, for their metadata
}

// New makes an empty archive.
func New(t testing.TB) *Archive {
	t.Helper()
	return withUsual(t, warcout.Usual{})
}

// NewBrief makes an empty archive in which revisits have no records of their requests.
func NewBrief(t testing.TB) *Archive {
	t.Helper()
	return withUsual(t, warcout.Usual{After: "\r\n"})
}

func withUsual(t testing.TB, usual warcout.Usual) *Archive {
	t.Helper()
	info := []warcout.Field{{Name: "software", Value: "test"}}
	l := begin(t, warcout.Options{Prefix: "test", Info: info, Usual: usual}, Start)
	t.Cleanup(func() { l.Seal() })
	return l
}

func begin(t testing.TB, o warcout.Options, now time.Time) *Archive {
	t.Helper()
	l := &Archive{T: t, Dir: t.TempDir(), Now: now, reason: warcout.Field{Name: "via", Value: "http://a.example/"}}
	var err error
	o.Dir = l.Dir
	l.w, _, err = warcout.Open(o, now)
	Must(t, err)
	return l
}

// Seal finishes the file that is being written.
func (l *Archive) Seal() {
	l.T.Helper()
	if err := l.w.Seal(l.Now); err != nil {
		l.T.Error(err)
	}
}

// Describe adds to the warcinfo record of each new file; see [warcout.Writer.Describe].
func (l *Archive) Describe(more func(series string) []warcout.Field) { l.w.Describe(more) }

func (l *Archive) write(v warcout.Visit, address string) digest.Origin {
	l.T.Helper()
	u, err := uri.Parse(address)
	Must(l.T, err)
	v.Series = l.Series
	v.URI, v.Date, v.IP = u, l.Now, netip.MustParseAddr("192.0.2.7")
	v.Request = []byte("GET " + u.RequestTarget() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n")
	v.Metadata = []warcout.Field{
		l.reason,
		{Name: "contentState", Value: "changed"},
		{Name: "contentStateReason", Value: "other content"},
	}
	if l.tls != "" {
		v.Security = &warcout.Security{Protocol: l.tls, Version: "tls/1.3", CipherSuite: "TLS_AES_128_GCM_SHA256"}
		v.Metadata = append(v.Metadata, warcout.Field{Name: "tlsCertificate", Value: "sha256:" + strings.Repeat("0a", 32)})
	}
	written, err := l.w.Write(l.Now, v)
	Must(l.T, err)
	l.Now = l.Now.Add(time.Hour)
	return written.Origin
}

// Page archives a response. The head has no empty line. The body is chunked if the head says so.
func (l *Archive) Page(address, head, body string) digest.Origin {
	l.T.Helper()
	sent := body
	if strings.Contains(head, "chunked") {
		half := len(body) / 2
		extension, trailer := "", ""
		if strings.Contains(head, "Trailer: ") {
			extension, trailer = ";x=y", "X-Trailer: 1\r\n"
		}
		sent = fmt.Sprintf("%x%s\r\n%s\r\n%x\r\n%s\r\n0\r\n%s\r\n",
			half, extension, body[:half], len(body)-half, body[half:], trailer)
	}
	block := head + "\r\n\r\n" + sent
	return l.write(warcout.Visit{Response: &warcout.Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte(body)), PayloadSize: int64(len(body)),
	}}, address)
}

// Resource archives a resource record, such as the picture of a rendered page.
func (l *Archive) Resource(address, contentType string, content []byte) digest.Origin {
	l.T.Helper()
	written, err := l.w.WriteResource(l.Now, warcout.Resource{
		Series: l.Series, URI: address, Date: l.Now, ContentType: contentType, Content: content,
	})
	Must(l.T, err)
	return written.Origin
}

// Revisit archives a visit that found the payload of an origin. The head has no empty line.
func (l *Archive) Revisit(address, head string, o digest.Origin) digest.Origin {
	l.T.Helper()
	r := &warcout.Revisit{Profile: warcout.IdenticalPayload, Head: []byte(head + "\r\n\r\n"), Origin: o}
	return l.write(warcout.Visit{Revisit: r}, address)
}

// NotModified archives a visit with the response 304.
func (l *Archive) NotModified(address string, o digest.Origin) digest.Origin {
	l.T.Helper()
	head := []byte("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
	r := &warcout.Revisit{Profile: warcout.NotModified, Head: head, Origin: o}
	return l.write(warcout.Visit{Revisit: r}, address)
}

// Heads of responses, without their empty line.
const (
	HTMLHead    = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8"
	ChunkedHead = HTMLHead + "\r\nTransfer-Encoding: chunked"
)

// Small returns an archive of one file with each kind of record.
func Small(t testing.TB) *Archive {
	t.Helper()
	l := New(t)
	first := l.Page("http://www.a.example/", HTMLHead, "<p>hello</p>\n<p>one</p>\n")
	l.Page("http://www.a.example/chunked", ChunkedHead+"\r\nTrailer: X-Trailer", "<p>in two pieces</p>")
	l.Revisit("http://www.a.example/", HTMLHead+"\r\nX-Visit: second", first)
	l.NotModified("http://www.a.example/", first)
	l.Page("http://www.a.example/", HTMLHead, "<p>hello</p>\n<p>two</p>\n")
	l.Revisit("https://b.example:8080/copy?b=2&a=1", HTMLHead+"\r\nX-Copy: yes", first)
	l.Seal()
	return l
}

// Files returns the paths of the finished WARC files.
func (l *Archive) Files() []string {
	l.T.Helper()
	files, err := filepath.Glob(filepath.Join(l.Dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		l.T.Fatalf("no file in %s: %v", l.Dir, err)
	}
	return files
}

// Plain returns a record as text. The fields are whole lines.
func Plain(fields []string, block string) string {
	head := "WARC/1.1\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	if !strings.Contains(head, "\r\nContent-Length:") {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(block))
	}
	return head + "\r\n" + block + "\r\n\r\n"
}

// Zipped returns each text as a gzip member.
func Zipped(t testing.TB, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // to make one takes a megabyte
	for _, text := range texts {
		z.Reset(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		Must(t, z.Close())
	}
	return b.Bytes()
}

// Fields returns the header lines that every record must have, and more.
func Fields(kind, id string, more ...string) []string {
	required := []string{"WARC-Type: " + kind, "WARC-Record-ID: <urn:x:" + id + ">", "WARC-Date: 2026-11-21T09:00:00Z"}
	return append(required, more...)
}

// Info is a warcinfo record.
var Info = Plain(Fields("warcinfo", "info", "Content-Type: application/warc-fields"), "software: x\r\n")

// Response returns a record with the digests of its block and payload.
func Response(id, target, head, body string, more ...string) string {
	block := head + "\r\n\r\n" + body
	return Plain(Fields("response", id, append([]string{
		"WARC-Target-URI: " + target, "Content-Type: application/http;msgtype=response",
		"WARC-Block-Digest: " + digest.Of([]byte(block)).String(),
		"WARC-Payload-Digest: " + digest.Of([]byte(body)).String(),
	}, more...)...), block)
}

// Save writes a file to a new folder and returns its path.
func Save(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Must(t, os.WriteFile(path, content, 0o644))
	return path
}

// Read returns the content of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	Must(t, err)
	return string(b)
}

// Three returns an archive of three files, and their names. The second needs the first; the third needs both others.
func Three(t testing.TB) (l *Archive, names []string) {
	t.Helper()
	l = New(t)
	first := l.Page("http://www.a.example/", HTMLHead, "<p>one</p>")
	l.Page("http://b.example/", HTMLHead, "<p>alone</p>")
	l.Seal()
	l.Revisit("http://www.a.example/", HTMLHead+"\r\nX-Visit: second", first)
	second := l.Page("http://b.example/two", ChunkedHead, "<p>two, in chunks</p>")
	l.Revisit("http://b.example/two", ChunkedHead+"\r\nX-Visit: second", second)
	l.Seal()
	l.NotModified("http://www.a.example/", first)
	l.Revisit("https://c.example/two", ChunkedHead+"\r\nX-Visit: third", second)
	l.Revisit("https://c.example/two", ChunkedHead+"\r\nX-Visit: fourth", second)
	l.Seal()
	for _, path := range l.Files() {
		names = append(names, filepath.Base(path))
	}
	return l, names
}

// Wget crawls a small site with GNU wget. one.warc.gz has a page, its image and a chunked page; two.warc.gz has
// revisits of the image and the chunked page; plain.warc has the image again, without compression. The test is skipped
// if wget is not installed.
func Wget(t testing.TB) (dir, site string) {
	t.Helper()
	program, err := exec.LookPath("wget")
	if err != nil {
		missing := t.Skipf
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			missing = t.Fatalf
		}
		missing("GNU wget is not installed: %v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<html><img src="/picture.gif"></html>`) // wget reports what goes wrong
		case "/picture.gif":
			w.Header().Set("Content-Type", "image/gif")
			_, _ = io.WriteString(w, "GIF89a, more or less")
		case "/chunked":
			w.Header().Set("Content-Type", "text/plain")
			for i := range 3 {
				fmt.Fprintf(w, "piece %d\n", i)
				w.(http.Flusher).Flush()
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	dir = t.TempDir()
	for _, line := range []string{
		"--warc-file=one --warc-cdx --page-requisites @/ @/chunked",
		"--warc-file=two --warc-dedup=one.cdx @/picture.gif @/chunked",
		"--warc-file=plain --no-warc-compression @/picture.gif",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "@", server.URL))
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--quiet", "--no-proxy"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("wget %s: %v\n%s", line, err, out)
		}
	}
	return dir, server.URL
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Unzipped returns the content of a gzip file.
func Unzipped(t testing.TB, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	Must(t, err)
	defer f.Close() //nolint:errcheck // nothing was written
	z, err := gzip.NewReader(f)
	Must(t, err)
	text, err := io.ReadAll(z)
	Must(t, err)
	return text
}

// TwoFiles returns a folder of two WARC files. The first has two versions of a page, and the second has a revisit of
// the first version.
func TwoFiles(t testing.TB) (dir string, files []string) {
	t.Helper()
	const page, head = "http://www.a.example/", "HTTP/1.1 200 OK\r\nContent-Type: text/html"
	l := begin(t, warcout.Options{}, Start.Truncate(time.Second))
	l.reason = warcout.Field{Name: "visitReason", Value: "^text/: unchanged: 1h"}
	first := l.Page(page, head, "<p>one</p>\n<p>same</p>\n")
	l.Page(page, head, "<p>two</p>\n<p>same</p>\n")
	l.Seal()
	l.Revisit(page, head, first)
	Must(t, l.w.Close(l.Now))
	return l.Dir, l.Files()
}

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
