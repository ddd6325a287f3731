package fetch_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// canned is a connection to a server that has already sent everything.
type canned struct {
	io.Reader
	left int // maximum number of bytes of each read; 0 = no limit
}

func (c *canned) Read(p []byte) (int, error) {
	if c.left > 0 && len(p) > c.left {
		p = p[:c.left]
	}
	return c.Reader.Read(p)
}

func (*canned) Write(p []byte) (int, error)      { return len(p), nil }
func (*canned) Close() error                     { return nil }
func (*canned) LocalAddr() net.Addr              { return nil }
func (*canned) RemoteAddr() net.Addr             { return nil }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

// FuzzResponse sends arbitrary bytes as an answer. Nothing may panic. The record must be a run of exactly these bytes,
// from the first byte unless informational heads come before.
func FuzzResponse(f *testing.F) {
	for _, a := range append(framings(), broken()...) {
		f.Add([]byte(a.before+a.head+a.body[:min(len(a.body), 300)]+a.after[:min(len(a.after), 50)]), uint8(len(a.name)))
	}
	for _, z := range []string{gzipped(f, "hello"), zlibbed(f, "hello"), deflated(f, "hello"), brotlied(f, "hello"), zstded(f, "hello")} {
		for _, coding := range []string{"gzip", "deflate", "br", "zstd", "gzip, br"} {
			f.Add([]byte(withLength("Content-Encoding: "+coding+"\r\n", z)+z), uint8(0))
		}
	}
	u := parse(f, "http://news.example/")
	f.Fuzz(func(t *testing.T, sent []byte, step uint8) {
		client := fetch.New(fetch.Options{MaxIdle: -1, Dial: func(context.Context, string, string) (net.Conn, error) {
			return &canned{Reader: bytes.NewReader(sent), left: int(step)}, nil
		}})
		defer client.Close()
		c, err := client.Fetch(t.Context(), fetch.Request{URI: u, Limits: fetch.Limits{MaxContent: 1 << 20}})
		if err != nil {
			t.Fatalf("Fetch: %v", err)
		}
		defer c.Close()
		kept := block(t, c)
		at := strings.Index(string(sent), kept)
		before := strings.Fields(string(sent[:max(at, 0)]))
		if at < 0 || at > 0 && (len(before) < 2 || !strings.HasPrefix(before[1], "1")) {
			t.Fatalf("block %q is not part of the answer %q", kept, sent)
		}
		if c.Status < 0 {
			if kept != "" || c.Complete || c.Misfortune == nil {
				t.Fatalf("status %d with a response: %+v", c.Status, c)
			}
			return
		}
		if c.BlockSize != int64(len(kept)) || c.BlockDigest != sum(kept) || !strings.HasPrefix(kept, string(c.Head)) {
			t.Fatalf("block of %d bytes, digest %s, does not fit %q", c.BlockSize, c.BlockDigest, kept)
		}
		if c.Complete == (c.Truncated != "") || c.PayloadDigest.IsZero() == (c.Complete && c.Status != 304) {
			t.Fatalf("complete %v, truncated %q, payload digest %s", c.Complete, c.Truncated, c.PayloadDigest)
		}
		content, err := contentOf(t, c)
		if c.Complete && c.Status != 304 && (err == nil) != !c.ContentDigest.IsZero() {
			t.Fatalf("content digest %s, content %q, %v", c.ContentDigest, content, err)
		}
		if !c.ContentDigest.IsZero() && (c.ContentDigest != sum(content) || c.ContentSize != int64(len(content))) {
			t.Fatalf("content digest %s, %d bytes, does not fit %q", c.ContentDigest, c.ContentSize, content)
		}
	})
}
