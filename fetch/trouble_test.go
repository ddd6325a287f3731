package fetch_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/demosite"
)

// short holds limits that a slow server soon exceeds, and that a normal server keeps even on a busy machine.
var short = fetch.Limits{Connect: 5 * time.Second, Headers: time.Second, Body: 150 * time.Millisecond}

// dripping returns a handler that sends s at once, then a byte every few milliseconds until the client closes.
func dripping(s, drop string) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		if _, ok := request(bufio.NewReader(c)); !ok {
			return
		}
		_, err := io.WriteString(c, s)
		for tick := time.NewTicker(3 * time.Millisecond); err == nil; _, err = io.WriteString(c, drop) {
			<-tick.C
		}
	}
}

func TestFetchWithoutAResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		handle func(net.Conn, int)
		limits fetch.Limits
		status int
		head   string // beginning of what was received
		says   string
	}{
		{name: "the server closes without an answer", handle: answering("", true), status: fetch.EmptyReply, says: "without an answer"},
		{name: "a head that breaks off", handle: answering("HTTP/1.1 200 OK\r\nA: b\r\n", true), status: fetch.ConnectionLost, head: "HTTP/1.1 200 OK\r\nA: b\r\n", says: "inside the response head"},
		{name: "nothing after an informational head", handle: answering("HTTP/1.1 100 Continue\r\n\r\n", true), status: fetch.ConnectionLost, head: "HTTP/1.1 100 "},
		{name: "another protocol", handle: answering("SSH-2.0-OpenSSH_9.2\r\n", false), status: fetch.NotHTTP, head: "SSH-2.0-", says: "not HTTP"},
		{name: "HTTP/0.9", handle: answering("<html>hello", true), status: fetch.NotHTTP, head: "<html>hello"},
		{name: "an invalid status", handle: answering("HTTP/1.1 OK\r\n\r\n", false), status: fetch.NotHTTP, head: "HTTP/1.1 OK\r\n\r\n"},
		{name: "a status below 100", handle: answering("HTTP/1.1 099 Odd\r\n\r\n", false), status: fetch.NotHTTP, head: "HTTP/1.1 099"},
		{name: "an endless head", handle: answering("HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 50_000), false), status: fetch.NotHTTP, head: "HTTP/1.1 200", says: "too long"},
		{name: "endless informational heads", handle: answering(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 12_000), false), status: fetch.NotHTTP, head: "HTTP/1.1 100", says: "too long"},
		{name: "a silent server", handle: dripping("", ""), limits: short, status: fetch.TimedOut, says: "timed out"},
		{name: "a head that drips", handle: dripping("HTTP/1.1 200 OK\r\nA: ", "b"), limits: short, status: fetch.TimedOut, head: "HTTP/1.1 200 OK\r\nA: b"},
		{name: "a reset", handle: reset, status: fetch.ConnectionLost, says: "reset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int64
			address := serve(t, func(conn net.Conn, n int) { conns.Add(1); c.handle(conn, n) })
			client := newClient(t, fetch.Options{})
			got := get(t, client, fetch.Request{URI: parse(t, "http://"+address+"/"), Limits: c.limits})
			if got.Status != c.status || got.Misfortune == nil || !strings.Contains(got.Misfortune.Error(), c.says) {
				t.Errorf("status %d, misfortune %v, want %d and %q", got.Status, got.Misfortune, c.status, c.says)
			}
			if !strings.HasPrefix(string(got.Head), c.head) || (c.head == "" && len(got.Head) > 0) || len(got.Head) > 256<<10 {
				t.Errorf("received %.60q, %d bytes, want %q", got.Head, len(got.Head), c.head)
			}
			if block(t, got) != "" || got.BlockSize != 0 || !got.BlockDigest.IsZero() || got.Complete ||
				got.Header != nil || got.Truncated != "" {
				t.Errorf("want no response, got %+v", got)
			}
			if len(got.Request) == 0 || !got.IP.IsValid() {
				t.Errorf("request %q to %s, want a request and an address", got.Request, got.IP)
			}
			if _, err := got.Content(); err == nil {
				t.Error("Content returned no error")
			}
			if fetch.Idle(client) != 0 || conns.Load() != 1 {
				t.Errorf("the connection was kept, or the request repeated over another one: %d", conns.Load())
			}
		})
	}
}

// reset reads the request and resets the connection.
func reset(c net.Conn, _ int) {
	request(bufio.NewReader(c))
	_ = c.(*net.TCPConn).SetLinger(0)
}

func TestFetchWithoutAConnection(t *testing.T) {
	t.Parallel()
	gone, err := demosite.FreeAddress()
	must(t, err)
	plain := serve(t, answering(withLength("", ""), true))
	for _, c := range []struct {
		name, uri string
		dial      func(context.Context, string, string) (net.Conn, error)
		http      fetch.HTTP
		status    int
		is        error
	}{
		{name: "no listener", uri: "http://" + gone + "/", status: fetch.ConnectFailed, is: syscall.ECONNREFUSED},
		{name: "a server without TLS", uri: "https://" + plain + "/", status: fetch.ConnectFailed},
		{name: "a name that does not exist", uri: "http://news.example/", dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "news.example", IsNotFound: true}}
		}, status: fetch.DNSFailed},
		{name: "a dialer that never returns", uri: "http://news.example/", dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, status: fetch.ConnectFailed, is: context.DeadlineExceeded},
		{name: "loopback without permission", uri: "http://" + plain + "/", dial: fetch.Guard(nil), status: fetch.ConnectFailed, is: fetch.ErrForbiddenAddress},
		{
			name: "loopback without permission over HTTP/2", uri: "https://" + plain + "/", dial: fetch.Guard(nil),
			http: fetch.HTTP2, status: fetch.ConnectFailed, is: fetch.ErrForbiddenAddress,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := get(t, newClient(t, fetch.Options{Dial: c.dial}), fetch.Request{
				URI: parse(t, c.uri), HTTP: c.http, Limits: fetch.Limits{Connect: 300 * time.Millisecond},
			})
			if got.Status != c.status || got.Misfortune == nil || (c.is != nil && !errors.Is(got.Misfortune, c.is)) {
				t.Errorf("status %d, misfortune %v, want %d and %v", got.Status, got.Misfortune, c.status, c.is)
			}
			if got.Request != nil || got.IP.IsValid() || block(t, got) != "" {
				t.Errorf("request %q to %s, want no request", got.Request, got.IP)
			}
		})
	}
}

func TestFetchKeepsTheBodyUntilTheTimeout(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"chunked": plainChunked + "ffff\r\n", "with a length": "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", "endless": "HTTP/1.1 200 OK\r\n\r\n",
	} {
		limits := short
		limits.Headers = 5 * time.Second
		got := get(t, newClient(t, fetch.Options{}), fetch.Request{URI: parse(t, "http://"+serve(t, dripping(head, "x"))+"/"), Limits: limits})
		if got.Status != 200 || got.Truncated != fetch.TruncatedTime || got.Complete || got.Misfortune == nil {
			t.Errorf("%s: status %d, truncated %q, complete %v, misfortune %v", name, got.Status, got.Truncated, got.Complete, got.Misfortune)
		}
		body := strings.TrimPrefix(block(t, got), head)
		if got.PayloadSize == 0 || strings.Trim(body, "x") != "" || int64(len(body)) < got.PayloadSize {
			t.Errorf("%s: kept %q, %d bytes of payload", name, body, got.PayloadSize)
		}
		if got.BlockDigest != sum(block(t, got)) || !got.PayloadDigest.IsZero() || !got.ContentDigest.IsZero() {
			t.Errorf("%s: digests %s, %s, %s", name, got.BlockDigest, got.PayloadDigest, got.ContentDigest)
		}
		if content, err := contentOf(t, got); err != io.ErrUnexpectedEOF || strings.Trim(content, "x") != "" || content == "" {
			t.Errorf("%s: content %q, %v", name, content, err)
		}
	}
}

func TestFetchCutsTheBodyAtMaxBody(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("0123456789", 10_000)
	for _, c := range []struct {
		name, answer string
		limit        int
		closing, cut bool
	}{
		{"a length over the limit", withLength("", page) + page, 70_001, false, true},
		{"a length at the limit", withLength("", page) + page, len(page), false, false},
		{"chunks over the limit", plainChunked + chunked(page), len(page), false, true},
		{"chunks at the limit", plainChunked + chunked(page), len(chunked(page)), false, false},
		{"one byte less", plainChunked + chunked(page), len(chunked(page)) - 1, false, true},
		{"until the end, over the limit", "HTTP/1.1 200 OK\r\n\r\n" + page, len(page) - 1, true, true},
		{"until the end, at the limit", "HTTP/1.1 200 OK\r\n\r\n" + page, len(page), true, false},
		{"a limit inside what came with the head", "HTTP/1.1 200 OK\r\n\r\n" + page, 5, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, answering(c.answer, c.closing))
			got := get(t, newClient(t, fetch.Options{}), fetch.Request{URI: parse(t, "http://"+address+"/"), Limits: fetch.Limits{MaxBody: int64(c.limit)}})
			want := c.answer[:len(got.Head)+c.limit]
			if kept := block(t, got); kept != want || got.BlockDigest != sum(want) {
				t.Errorf("kept %d bytes, want the first %d", len(kept), len(want))
			}
			if cut := got.Truncated == fetch.TruncatedLength; cut != c.cut || got.Complete == c.cut {
				t.Errorf("truncated %q, complete %v, want cut %v", got.Truncated, got.Complete, c.cut)
			}
			payload, err := got.Payload()
			must(t, err)
			defer payload.Close()
			kept, err := io.ReadAll(payload)
			if c.cut != errors.Is(err, io.ErrUnexpectedEOF) || c.cut && got.PrefixDigest != sum(string(kept)) ||
				!c.cut && !got.PrefixDigest.IsZero() {
				t.Errorf("the prefix has the digest %s, the kept payload has %s (%v)", got.PrefixDigest, sum(string(kept)), err)
			}
		})
	}
}

func TestFetchRecordsDecompressionBombsUndecoded(t *testing.T) {
	t.Parallel()
	bomb := gzipped(t, strings.Repeat("\x00", 3<<20))
	for name, c := range map[string]struct{ coding, body string }{
		"gzip":                      {"gzip", bomb},
		"gzip in gzip":              {"gzip, gzip", gzipped(t, bomb)},
		"brotli":                    {"br", brotlied(t, strings.Repeat("\x00", 3<<20))},
		"zstandard":                 {"zstd", zstded(t, strings.Repeat("\x00", 3<<20))},
		"many empty members inside": {"gzip, gzip", gzipped(t, strings.Repeat(gzipped(t, ""), 20_000))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := withLength("Content-Encoding: "+c.coding+"\r\n", c.body) + c.body
			address := serve(t, answering(answer, false))
			got := get(t, newClient(t, fetch.Options{}), fetch.Request{URI: parse(t, "http://"+address+"/"), Limits: fetch.Limits{MaxContent: 100 << 10}})
			if block(t, got) != answer || !got.Complete || got.PayloadDigest != sum(c.body) {
				t.Errorf("record of %d bytes, want all %d", got.BlockSize, len(answer))
			}
			if !got.ContentDigest.IsZero() || !errors.Is(got.Misfortune, fetch.ErrMaxContent) {
				t.Errorf("content digest %s, misfortune %v", got.ContentDigest, got.Misfortune)
			}
			if content, err := contentOf(t, got); !errors.Is(err, fetch.ErrMaxContent) || len(content) > 100<<10 {
				t.Errorf("content of %d bytes, %v", len(content), err)
			}
		})
	}
}

func TestCancelEndsEveryStepAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scheme, answer string
		dial                 bool
	}{
		{name: "while dialling", scheme: "http", dial: true},
		{name: "during the TLS handshake", scheme: "https"},
		{name: "before the head", scheme: "http"},
		{name: "inside the head", scheme: "http", answer: "HTTP/1.1 200 OK\r\n"},
		{name: "inside the body", scheme: "http", answer: plainChunked + "ffffff\r\n" + strings.Repeat("x", 300_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			gone := make(chan error, 1)
			address := serve(t, func(conn net.Conn, _ int) {
				r := bufio.NewReader(conn)
				if c.scheme == "http" {
					request(r)
				}
				io.WriteString(conn, c.answer)
				cancel()
				_, err := io.Copy(io.Discard, r)
				gone <- err
			})
			o := fetch.Options{SpoolMemory: 1000}
			if c.dial {
				o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					cancel()
					<-ctx.Done()
					gone <- nil
					return nil, ctx.Err()
				}
			}
			got, err := newClient(t, o).Fetch(ctx, fetch.Request{URI: parse(t, c.scheme+"://"+address+"/")})
			if got != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("Fetch = %v, %v, want no capture and the context's error", got, err)
			}
			<-gone // the server saw the connection end
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newClient(t, fetch.Options{}).Fetch(ctx, fetch.Request{URI: parse(t, "http://127.0.0.1:1/")}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is already done: %v", err)
	}
}

func TestFetchReturnsOurOwnFaultsAsErrors(t *testing.T) {
	t.Parallel()
	address := serve(t, answering(withLength("", strings.Repeat("x", 5000))+strings.Repeat("x", 5000), false))
	u := parse(t, "http://"+address+"/")
	t.Run("requests that are not allowed", func(t *testing.T) {
		t.Parallel()
		client := newClient(t, fetch.Options{})
		for _, f := range []fetch.Field{
			{"X", "a\r\nEvil: b"},
			{"X", "a\nb"},
			{"X", "a\x00"},
			{"X:", "a"},
			{"", "a"},
			{"X\r\nY", "a"},
			{"host", "other.example"},
			{"Connection", "close"},
			{"Content-Length", "3"},
			{"transfer-encoding", "chunked"},
		} {
			if got, err := client.Fetch(t.Context(), fetch.Request{URI: u, Header: []fetch.Field{f}}); err == nil || got != nil {
				t.Errorf("Fetch with %q: %v, want an error", f, got)
			}
		}
		if _, err := client.Fetch(t.Context(), fetch.Request{}); err == nil {
			t.Error("Fetch without a URI returned no error")
		}
	})
	t.Run("a spool folder that cannot be written", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o600))
		client := newClient(t, fetch.Options{SpoolDir: filepath.Join(file, "spool"), SpoolMemory: 1000})
		if got, err := client.Fetch(t.Context(), fetch.Request{URI: u}); !errors.Is(err, syscall.ENOTDIR) || got != nil {
			t.Errorf("Fetch = %v, %v, want %v", got, err, syscall.ENOTDIR)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		t.Parallel()
		full := filepath.Join(t.TempDir(), "full")
		must(t, os.Symlink("/dev/full", full))
		client := newClient(t, fetch.Options{SpoolMemory: 1000})
		fetch.SpoolInto(client, func(string, string) (*os.File, error) { return os.OpenFile(full, os.O_RDWR, 0) })
		if got, err := client.Fetch(t.Context(), fetch.Request{URI: u}); !errors.Is(err, syscall.ENOSPC) || got != nil {
			t.Errorf("Fetch = %v, %v, want %v", got, err, syscall.ENOSPC)
		}
	})
}

func TestFetchFailsAfterClose(t *testing.T) {
	t.Parallel()
	address := serve(t, answering(withLength("", "hello")+"hello", false))
	client := newClient(t, fetch.Options{})
	before := getFrom(t, client, address)
	client.Close()
	if _, err := client.Fetch(t.Context(), fetch.Request{URI: parse(t, "http://"+address+"/")}); !errors.Is(err, fetch.ErrClosed) {
		t.Errorf("Fetch: %v, want %v", err, fetch.ErrClosed)
	}
	wantContent(t, before, "hello")
}

func TestReadersFailAfterCaptureClose(t *testing.T) {
	t.Parallel()
	client := newClient(t, fetch.Options{})
	got := getFrom(t, client, serve(t, answering(withLength("", "hello")+"hello", false)))
	reader, err := got.Content()
	must(t, err)
	early := got.Block()
	for range 2 {
		must(t, got.Close())
	}
	if _, err := io.ReadAll(early); !errors.Is(err, fetch.ErrClosed) {
		t.Errorf("reading the block: %v, want ErrClosed", err)
	}
	if _, err := io.ReadAll(reader); !errors.Is(err, fetch.ErrClosed) {
		t.Errorf("reading the content: %v, want ErrClosed", err)
	}
	if _, err := got.Content(); !errors.Is(err, fetch.ErrClosed) {
		t.Errorf("Content: %v, want ErrClosed", err)
	}
	for range 2 {
		if err := reader.Close(); err != nil {
			t.Errorf("closing the content reader: %v", err)
		}
	}
}

func TestIdleConnectionsExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
		dialled := 0
		client := fetch.New(fetch.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			dialled++
			ours, theirs := net.Pipe()
			go func() {
				answering(page, false)(theirs, dialled)
				theirs.Close()
			}()
			return ours, nil
		}})
		defer client.Close()
		for _, step := range []struct {
			after time.Duration
			dials int
		}{{0, 1}, {59 * time.Second, 1}, {59 * time.Second, 1}, {time.Minute, 2}} {
			time.Sleep(step.after) // virtual time
			got := get(t, client, fetch.Request{URI: parse(t, "http://news.example/")})
			if content, err := contentOf(t, got); content != "hello" || err != nil || got.IP.IsValid() {
				t.Errorf("content %q, %v, from %s; misfortune %v", content, err, got.IP, got.Misfortune)
			}
			if dialled != step.dials {
				t.Errorf("after %s: %d connections, want %d", step.after, dialled, step.dials)
			}
		}
	})
}
