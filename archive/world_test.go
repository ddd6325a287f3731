package archive

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)

// library is a folder that is written by arcrawl's own writer, visit by visit.
type library struct {
	t   testing.TB
	dir string
	w   *warcout.Writer
	now time.Time
}

func newLibrary(t testing.TB) *library {
	t.Helper()
	l := &library{t: t, dir: t.TempDir(), now: start}
	w, _, err := warcout.Open(warcout.Options{Dir: l.dir, Prefix: "test", Info: []warcout.Field{{Name: "software", Value: "test"}}}, start)
	if err != nil {
		t.Fatal(err)
	}
	l.w = w
	t.Cleanup(func() { l.seal() })
	return l
}

// seal ends the file that is being written.
func (l *library) seal() {
	l.t.Helper()
	if err := l.w.Seal(l.now); err != nil {
		l.t.Error(err)
	}
}

func (l *library) write(v warcout.Visit, address string) digest.Origin {
	l.t.Helper()
	u, err := uri.Parse(address)
	if err != nil {
		l.t.Fatal(err)
	}
	v.URI, v.Date, v.IP = u, l.now, netip.MustParseAddr("192.0.2.7")
	v.Request = []byte("GET " + u.RequestTarget() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n")
	v.Metadata = []warcout.Field{{Name: "via", Value: "http://a.example/"}, {Name: "contentState", Value: "changed"}, {Name: "contentStateReason", Value: "other content"}}
	written, err := l.w.Write(l.now, v)
	if err != nil {
		l.t.Fatal(err)
	}
	l.now = l.now.Add(time.Hour)
	return written.Origin
}

// page archives a response; the head is without its empty line. The body is sent in chunks when the head says so.
func (l *library) page(address, head, body string) digest.Origin {
	l.t.Helper()
	sent := body
	if strings.Contains(head, "chunked") {
		half := len(body) / 2
		extension, trailer := "", ""
		if strings.Contains(head, "Trailer: ") {
			extension, trailer = ";x=y", "X-Trailer: 1\r\n"
		}
		sent = fmt.Sprintf("%x%s\r\n%s\r\n%x\r\n%s\r\n0\r\n%s\r\n", half, extension, body[:half], len(body)-half, body[half:], trailer)
	}
	block := head + "\r\n\r\n" + sent
	return l.write(warcout.Visit{Response: &warcout.Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte(body)), PayloadSize: int64(len(body)),
	}}, address)
}

func (l *library) revisit(address, head string, o digest.Origin) digest.Origin {
	l.t.Helper()
	return l.write(warcout.Visit{Revisit: &warcout.Revisit{Profile: warcout.IdenticalPayload, Head: []byte(head + "\r\n\r\n"), Origin: o}}, address)
}

func (l *library) notModified(address string, o digest.Origin) digest.Origin {
	l.t.Helper()
	head := []byte("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
	return l.write(warcout.Visit{Revisit: &warcout.Revisit{Profile: warcout.NotModified, Head: head, Origin: o}}, address)
}

const (
	htmlHead    = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8"
	chunkedHead = htmlHead + "\r\nTransfer-Encoding: chunked"
)

// small is a library of one file in which everything occurs.
func small(t testing.TB) *library {
	t.Helper()
	l := newLibrary(t)
	first := l.page("http://www.a.example/", htmlHead, "<p>hello</p>\n<p>one</p>\n")
	l.page("http://www.a.example/chunked", chunkedHead+"\r\nTrailer: X-Trailer", "<p>in two pieces</p>")
	l.revisit("http://www.a.example/", htmlHead+"\r\nX-Visit: second", first)
	l.notModified("http://www.a.example/", first)
	l.page("http://www.a.example/", htmlHead, "<p>hello</p>\n<p>two</p>\n")
	l.revisit("https://b.example:8080/copy?b=2&a=1", htmlHead+"\r\nX-Copy: yes", first)
	l.seal()
	return l
}

func (l *library) files() []string {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(l.dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		l.t.Fatalf("no file in %s: %v", l.dir, err)
	}
	return files
}

// plain is a record as text; the fields are whole lines.
func plain(fields []string, block string) string {
	head := "WARC/1.1\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	if !strings.Contains(head, "\r\nContent-Length:") {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(block))
	}
	return head + "\r\n" + block + "\r\n\r\n"
}

// zipped is each text as a gzip member.
func zipped(t testing.TB, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func fields(kind, id string, more ...string) []string {
	return append([]string{"WARC-Type: " + kind, "WARC-Record-ID: <urn:x:" + id + ">", "WARC-Date: 2026-11-21T09:00:00Z"}, more...)
}

var info = plain(fields("warcinfo", "info", "Content-Type: application/warc-fields"), "software: x\r\n")

// response is a record with the digests of its block and payload.
func response(id, target, head, body string, more ...string) string {
	block := head + "\r\n\r\n" + body
	return plain(fields("response", id, append([]string{
		"WARC-Target-URI: " + target, "Content-Type: application/http;msgtype=response",
		"WARC-Block-Digest: " + digest.Of([]byte(block)).String(), "WARC-Payload-Digest: " + digest.Of([]byte(body)).String(),
	}, more...)...), block)
}

func save(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// verified gives the findings as "offset severity kind".
func verified(t testing.TB, o VerifyOptions, paths ...string) ([]Finding, Verified) {
	t.Helper()
	var all []Finding
	sum, err := Verify(context.Background(), paths, o, func(f Finding) error {
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, sum
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeAll(path string, content []byte) error { return os.WriteFile(path, content, 0o644) }
