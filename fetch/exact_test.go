package fetch_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/fetch"
)

// answer holds the bytes that a server sends for one request, with the expected capture.
type answer struct {
	name      string
	before    string // informational responses; not part of the record
	head      string
	body      string // body as sent
	after     string // not part of the record
	closes    bool
	payload   string
	content   *string // nil = the same as the payload
	undecoded bool
	status    int // 0 means 200
	cut       bool
	kept      bool // the connection can be reused
}

func (a answer) block() string { return a.head + a.body }

// verdict holds the compared fields of a capture.
type verdict struct {
	Status                               int
	Head, Block                          string
	BlockSize, PayloadSize, ContentSize  int64
	BlockSum, PayloadSum, ContentSum     string
	Content                              string
	Complete, Stopped, Undecoded, IsLost bool
	Truncated                            fetch.Truncation
}

func (a answer) want() verdict {
	v := verdict{
		Status: a.status, Head: a.head, Block: a.block(),
		BlockSize: int64(len(a.block())), BlockSum: sum(a.block()).String(), PayloadSize: int64(len(a.payload)),
		Complete: !a.cut, Undecoded: a.undecoded, IsLost: a.cut,
	}
	if v.Status == 0 {
		v.Status = 200
	}
	if a.cut {
		v.Truncated = fetch.TruncatedDisconnect
	}
	v.Content = a.payload
	if a.content != nil {
		v.Content = *a.content
	}
	v.ContentSize = int64(len(v.Content))
	if !a.cut && v.Status != 304 {
		v.PayloadSum, v.ContentSum = sum(a.payload).String(), sum(v.Content).String()
	}
	if a.undecoded {
		v.Content, v.ContentSum, v.ContentSize = "", "", 0
	}
	return v
}

func judge(t *testing.T, c *fetch.Capture) verdict {
	t.Helper()
	content, err := contentOf(t, c)
	v := verdict{
		Status: c.Status, Head: string(c.Head), Block: block(t, c),
		BlockSize: c.BlockSize, PayloadSize: c.PayloadSize, ContentSize: c.ContentSize,
		BlockSum: c.BlockDigest.String(), PayloadSum: c.PayloadDigest.String(), ContentSum: c.ContentDigest.String(),
		Content: content, Complete: c.Complete, Stopped: c.Stopped, Truncated: c.Truncated,
	}
	switch {
	case err == io.ErrUnexpectedEOF:
		v.IsLost = true
	case errors.Is(err, fetch.ErrCoding):
		v.Undecoded = true
	case err != nil:
		t.Errorf("content of %s: %v", c.URI, err)
	}
	return v
}

func chunked(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	return b.String() + "0\r\n\r\n"
}

func withLength(fields, body string) string {
	return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
}

const plainChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

func framings() []answer {
	page := strings.Repeat("The quick brown fox. ", 700)
	return []answer{
		{name: "a body with its length", head: withLength("", page), body: page, payload: page, kept: true},
		{name: "an empty body", head: withLength("", ""), kept: true},
		{
			name: "order, case, repetition and white space of fields are kept", payload: "hi", kept: true, body: "hi",
			head: "HTTP/1.1 200   Fine\r\nx-b: 1\r\nSET-Cookie: a\r\nX-A:2\r\nset-cookie:  b  \r\ncontent-LENGTH: 2\r\n\r\n",
		},
		{name: "chunks", head: plainChunked, body: chunked("Hello, ", page, "!"), payload: "Hello, " + page + "!", kept: true},
		{
			name: "chunks with extensions and trailers", payload: "Hello", kept: true,
			head: "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: Chunked\r\n\r\n",
			body: "5;name=\"va lue\";x\r\nHello\r\n000;last\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n",
		},
		{name: "chunks of one byte", head: plainChunked, body: chunked(strings.Split(page[:300], "")...), payload: page[:300], kept: true},
		{
			name: "chunks win over a length", payload: "Hello", kept: true, body: chunked("Hello"),
			head: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
		},
		{name: "a body that ends with the connection", head: "HTTP/1.1 200 OK\r\n\r\n", body: page, payload: page, closes: true},
		{name: "HTTP/1.0", head: "HTTP/1.0 200 OK\r\nServer: old\r\n\r\n", body: page, payload: page, closes: true},
		{name: "HTTP/1.0 that keeps the connection", head: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok", kept: true},
		{name: "HTTP/1.0 with a length", head: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok"},
		{name: "a server that closes", head: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok"},
		{name: "bare line feeds in the head", head: "HTTP/1.1 200 OK\nContent-Length: 2\nX: y\n\n", body: "ok", payload: "ok", kept: true},
		{name: "a 304 with the length of the body that it does not send", head: "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 500\r\n\r\n", status: 304, kept: true},
		{name: "a 204", head: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, kept: true},
		{name: "a redirect is an answer like any other", head: "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 4\r\n\r\n", body: "over", payload: "over", status: 301, kept: true},
		{name: "a status without reason", head: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", status: 404, kept: true},
		{name: "100 Continue first", before: "HTTP/1.1 100 Continue\r\n\r\n", head: withLength("", "ok"), body: "ok", payload: "ok", kept: true},
		{
			name: "103 Early Hints twice first", before: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\nLink: </b>\n\n",
			head: withLength("", "ok"), body: "ok", payload: "ok", kept: true,
		},
		{name: "101 is final and nothing follows it", head: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", status: 101},
		{name: "junk after a body", head: withLength("", page), body: page, payload: page, after: "\r\n\r\n<!-- served by -->"},
		{name: "much junk after chunks", head: plainChunked, body: chunked(page), payload: page, after: strings.Repeat("junk ", 20_000)},
		{name: "a body after a 204", head: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, after: "surprise"},
		{name: "another response at once", head: withLength("", "ok"), body: "ok", payload: "ok", after: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"},
	}
}

func broken() []answer {
	page := strings.Repeat("The quick brown fox. ", 700)
	return []answer{
		{name: "a body shorter than announced", head: "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n", body: page, payload: page, closes: true, cut: true},
		{name: "chunks that end in the middle", head: plainChunked, body: "40\r\nHello", payload: "Hello", closes: true, cut: true},
		{name: "chunks without the last one", head: plainChunked, body: "5\r\nHello\r\n", payload: "Hello", closes: true, cut: true},
		{name: "an invalid chunk length", head: plainChunked, body: "5\r\nHello\r\nzz\r\n", payload: "Hello", closes: true, cut: true},
		{name: "no body although one was announced", head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", closes: true, cut: true},
		{name: "a line in the head that is not a field", head: "HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok", after: "more"},
		{name: "a folded first line and a bad name", head: "HTTP/1.1 200 OK\r\n folded\r\nb@d name: x\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok"},
		{name: "contradictory lengths", head: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\n", body: "until the end", payload: "until the end", closes: true},
		{name: "an invalid length", head: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", body: "until the end", payload: "until the end", closes: true},
		{name: "an unknown transfer coding", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", body: "until the end", payload: "until the end", closes: true},
		{name: "a sloppy status line", head: "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", body: "ok", payload: "ok"},
	}
}

func coded(t *testing.T) []answer {
	page := strings.Repeat("The quick brown fox. ", 700)
	none := ""
	one := func(name, coding, payload string, content *string) answer {
		return answer{
			name: name, head: withLength("Content-Encoding: "+coding+"\r\n", payload),
			body: payload, payload: payload, content: content, kept: true,
		}
	}
	out := []answer{
		one("gzip", "gzip", gzipped(t, page), &page),
		one("gzip by its old name", "X-GZip", gzipped(t, page), &page),
		one("gzip in two members", "gzip", gzipped(t, page[:99])+gzipped(t, page[99:]), &page),
		one("gzip with other bytes after it", "gzip", gzipped(t, page)+"\x00\x00junk", &page),
		one("deflate with a zlib wrapper", "deflate", zlibbed(t, page), &page),
		one("deflate without a wrapper", "deflate", deflated(t, page), &page),
		one("brotli", "br", brotlied(t, page), &page),
		one("zstandard", "zstd", zstded(t, page), &page),
		one("brotli, then gzip", "br, gzip", gzipped(t, brotlied(t, page)), &page),
		one("two fields of codings, and identity", "deflate\r\nContent-Encoding: identity, zstd", zstded(t, zlibbed(t, page)), &page),
		one("gzip of an empty page", "gzip", gzipped(t, ""), &none),
		one("gzip announced for an empty body", "gzip", "", nil),
	}
	z := gzipped(t, page)
	out = append(out, answer{
		name: "gzip in chunks", head: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
		body: chunked(z[:7], z[7:50], z[50:]), payload: z, content: &page, kept: true,
	})
	for name, a := range map[string]answer{
		"gzip that is plain text":             one("", "gzip", page, nil),
		"brotli that is plain text":           one("", "br", page, nil),
		"zstandard that is text":              one("", "zstd", page, nil),
		"an unknown coding":                   one("", "lzma", page, nil),
		"five codings":                        one("", "br,br,br,br,br", page, nil),
		"an unknown coding under a known one": one("", "sdch, gzip", gzipped(t, page), nil),
	} {
		a.name, a.undecoded = name, true
		out = append(out, a)
	}
	return out
}

// stage serves the answer with the number in the path, in random pieces. requests returns the requests received.
func stage(t *testing.T, answers []answer, seed uint64) (address string, requests func() []string) {
	var mu sync.Mutex
	var got []string
	address = serve(t, func(c net.Conn, n int) {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		r := bufio.NewReader(c)
		for {
			raw, ok := request(r)
			if !ok {
				return
			}
			mu.Lock()
			got = append(got, string(raw))
			mu.Unlock()
			i, _ := strconv.Atoi(strings.TrimPrefix(strings.Fields(string(raw))[1], "/"))
			a := answers[i]
			// The bytes after the response are sent together with its last byte, so that the client receives them at
			// once.
			all := a.before + a.block()
			last := len(all) - 1
			if inPieces(c, all[:last], rng) != nil {
				return
			}
			if _, err := io.WriteString(c, all[last:]+a.after); err != nil || a.closes {
				return
			}
		}
	})
	return address, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

func TestCaptureHoldsExactlyWhatTheServerSent(t *testing.T) {
	t.Parallel()
	answers := append(append(framings(), broken()...), coded(t)...)
	for name, memory := range map[string]int64{"in memory": 0, "in a file": -1, "in both": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			address, requests := stage(t, answers, seed)
			client := newClient(t, fetch.Options{SpoolMemory: memory})
			for round := range 8 {
				for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(answers)) {
					a := answers[i]
					if got, want := judgeOne(t, client, address, i), a.want(); !cmp.Equal(got, want) {
						t.Errorf("%s (round %d, seed %d): (-want +got)\n%s", a.name, round, seed, cmp.Diff(want, got))
					}
					if n := fetch.Usable(client); (n == 1) != a.kept {
						t.Errorf("%s: %d reusable connections, want kept %v", a.name, n, a.kept)
					}
				}
			}
			if got, want := len(requests()), 8*len(answers); got != want {
				t.Errorf("the server received %d requests, want %d: some were repeated", got, want)
			}
		})
	}
}

func judgeOne(t *testing.T, client *fetch.Client, address string, i int) verdict {
	t.Helper()
	c := get(t, client, fetch.Request{
		URI:    parse(t, fmt.Sprintf("http://%s/%d", address, i)),
		Limits: fetch.Limits{Connect: 20 * time.Second, Headers: 20 * time.Second, Body: 20 * time.Second},
	})
	defer c.Close()
	return judge(t, c)
}

func TestCaptureHoldsTheExactRequest(t *testing.T) {
	t.Parallel()
	address, requests := stage(t, []answer{{head: withLength("", "ok"), body: "ok"}}, 1)
	for _, c := range []struct {
		name       string
		maxIdle    int
		connection string
	}{
		{"a client that keeps connections", 0, "keep-alive"},
		{"a client that does not", -1, "close"},
	} {
		got := get(t, newClient(t, fetch.Options{MaxIdle: c.maxIdle}), fetch.Request{
			URI:    parse(t, "http://"+address+"/0?a=b"),
			Header: []fetch.Field{{"user-agent", "arcrawl"}, {"Accept", "*/*"}, {"X-A", ""}, {"Accept", "text/html"}},
		})
		want := "GET /0?a=b HTTP/1.1\r\nHost: " + address + "\r\nuser-agent: arcrawl\r\nAccept: */*\r\nX-A: \r\nAccept: text/html\r\n" +
			"Connection: " + c.connection + "\r\n\r\n"
		all := requests()
		if seen := all[len(all)-1]; string(got.Request) != want || seen != want {
			t.Errorf("%s: request in the capture %q, at the server %q, want %q", c.name, got.Request, seen, want)
		}
		if got.IP.String() != "127.0.0.1" || got.Started.IsZero() || got.Took <= 0 {
			t.Errorf("%s: IP %s, started %s, took %s", c.name, got.IP, got.Started, got.Took)
		}
	}
}

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
