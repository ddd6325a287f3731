package fetch_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// pageOf returns an answer that names its connection.
func pageOf(conn int) string {
	body := fmt.Sprintf("connection %d", conn)
	return withLength("", body) + body
}

func wantContent(t *testing.T, c *fetch.Capture, want string) {
	t.Helper()
	if got, err := contentOf(t, c); got != want || err != nil {
		t.Errorf("content %q, %v, want %q (status %d, %v)", got, err, want, c.Status, c.Misfortune)
	}
}

// first returns a handler that runs a function on the first connection, and answers correctly on later ones.
func first(once func(c net.Conn, r *bufio.Reader)) func(net.Conn, int) {
	return func(c net.Conn, n int) {
		if n > 1 {
			answering(pageOf(n), false)(c, n)
			return
		}
		once(c, bufio.NewReader(c))
	}
}

func TestFetchDoesNotReuseBrokenConnections(t *testing.T) {
	t.Parallel()
	server, trusting := tlsConfigs(t)
	for _, c := range []struct {
		name   string
		scheme string
		then   func(c net.Conn) // action of the server after the first visit
	}{
		{"it is closed", "http", func(c net.Conn) { c.Close() }},
		{"it is reset", "http", func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() }},
		{"unexpected bytes arrive", "http", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n") }},
		{"TLS is closed", "https", func(c net.Conn) { c.Close() }},
		{"unexpected bytes arrive over TLS", "https", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			over, done := make(chan bool), make(chan bool)
			handle := first(func(conn net.Conn, r *bufio.Reader) {
				request(r)
				io.WriteString(conn, pageOf(1))
				<-over
				c.then(conn)
				close(done)
				io.Copy(io.Discard, r)
			})
			address := serve(t, func(conn net.Conn, n int) {
				if c.scheme == "https" {
					conn = tls.Server(conn, server)
				}
				handle(conn, n)
			})
			client := newClient(t, fetch.Options{TLS: trusting})
			r := fetch.Request{URI: parse(t, c.scheme+"://"+address+"/")}
			wantContent(t, get(t, client, r), "connection 1")
			if fetch.Idle(client) != 1 {
				t.Fatal("the connection was not kept")
			}
			close(over)
			<-done
			wantContent(t, get(t, client, r), "connection 2")
		})
	}
}

// batch holds written bytes back while hold is true, so that several TLS records travel together.
type batch struct {
	net.Conn
	held bytes.Buffer
	hold bool
}

func (b *batch) Write(p []byte) (int, error) {
	if b.hold {
		return b.held.Write(p)
	}
	return b.Conn.Write(p)
}

func TestFetchRefusesARecordHiddenInTLS(t *testing.T) {
	t.Parallel()
	server, trusting := tlsConfigs(t)
	address := serve(t, func(c net.Conn, n int) {
		b := &batch{Conn: c}
		secure := tls.Server(b, server)
		first(func(c net.Conn, r *bufio.Reader) {
			request(r)
			b.hold = true
			io.WriteString(c, pageOf(1))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
			b.Conn.Write(b.held.Bytes())
			io.Copy(io.Discard, r)
		})(secure, n)
	})
	client := newClient(t, fetch.Options{TLS: trusting})
	r := fetch.Request{URI: parse(t, "https://"+address+"/")}
	wantContent(t, get(t, client, r), "connection 1")
	wantContent(t, get(t, client, r), "connection 2")
}

// The request was sent, so the server may have worked on it: the caller repeats it after the host's rest.
func TestFetchNeverRepeatsWhatItSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		second string // the answer to the second request on the first connection, before it is closed
		status int
		repeat bool
	}{
		{"nothing came", "", fetch.EmptyReply, true},
		{"something came", "HTTP/1.1 2", fetch.ConnectionLost, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int64
			handle := first(func(conn net.Conn, r *bufio.Reader) {
				request(r)
				io.WriteString(conn, pageOf(1))
				request(r)
				io.WriteString(conn, c.second)
			})
			address := serve(t, func(conn net.Conn, n int) {
				conns.Add(1)
				handle(conn, n)
			})
			client := newClient(t, fetch.Options{})
			wantContent(t, getFrom(t, client, address), "connection 1")
			got := getFrom(t, client, address)
			if got.Status != c.status || conns.Load() != 1 || got.Repeat != c.repeat {
				t.Errorf("status %d over %d connections (%v), repeat %v; want %d over 1, repeat %v",
					got.Status, conns.Load(), got.Misfortune, got.Repeat, c.status, c.repeat)
			}
			if n := bytes.Count(got.Request, []byte("GET ")); n != 1 {
				t.Errorf("the capture has %d requests, want 1", n)
			}
		})
	}
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	client := newClient(t, fetch.Options{MaxIdle: 2})
	var addresses []string
	closed := make([]chan bool, 3)
	for i := range closed {
		closed[i] = make(chan bool)
		addresses = append(addresses, serve(t, func(c net.Conn, n int) {
			answering(pageOf(n), false)(c, n)
			if n == 1 {
				close(closed[i])
			}
		}))
	}
	for _, a := range addresses {
		wantContent(t, getFrom(t, client, a), "connection 1")
	}
	<-closed[0] // the connection that was idle longest is closed
	if n := fetch.Idle(client); n != 2 {
		t.Errorf("%d idle connections, want 2", n)
	}
	wantContent(t, getFrom(t, client, addresses[2]), "connection 1")
	wantContent(t, getFrom(t, client, addresses[1]), "connection 1")
	wantContent(t, getFrom(t, client, addresses[0]), "connection 2")
	client.Close()
	<-closed[1]
	<-closed[2]
}

func TestConcurrentFetches(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("The quick brown fox. ", 1000)
	z := gzipped(t, page)
	address := serve(t, answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked(z[:100], z[100:]), false))
	client := newClient(t, fetch.Options{SpoolMemory: 1000})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				got, err := client.Fetch(t.Context(), fetch.Request{URI: parse(t, "http://"+address+"/")})
				if err != nil {
					t.Error(err)
					return
				}
				if got.PayloadDigest != sum(z) || got.ContentDigest != sum(page) || got.BlockDigest != sum(block(t, got)) {
					t.Errorf("digests %s, %s: %v", got.PayloadDigest, got.ContentDigest, got.Misfortune)
				}
				wantContent(t, got, page)
				got.Close()
			}
		})
	}
	all.Wait()
	if n := fetch.Idle(client); n != 1 {
		t.Errorf("%d idle connections to one address, want 1", n)
	}
}

// TestFetchNeedsLittleMemoryForABigBody runs alone, because it counts all allocations.
func TestFetchNeedsLittleMemoryForABigBody(t *testing.T) {
	const size = 20 << 20
	part := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	address := serve(t, func(c net.Conn, _ int) {
		request(bufio.NewReader(c))
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		for range size / len(part) {
			c.Write(part)
		}
	})
	dir := t.TempDir()
	client := newClient(t, fetch.Options{SpoolDir: dir, SpoolMemory: 64 << 10})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := getFrom(t, client, address)
	n, err := io.Copy(io.Discard, got.Block())
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("%d bytes allocated for a body of %d bytes, want at most 2 MiB", used, size)
	}
	whole := sum(strings.Repeat(string(part), size/len(part)))
	if !got.Complete || got.PayloadSize != size || n != got.BlockSize || err != nil || got.PayloadDigest != whole {
		t.Errorf("complete %v, %d bytes, block of %d bytes, %v", got.Complete, got.PayloadSize, n, err)
	}
	if m := fetch.InMemory(got); m != 64<<10 {
		t.Errorf("%d bytes in memory, want %d", m, 64<<10)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("spool folder: %v, %v; want no file with a name", names, err)
	}
	seeker := got.Block()
	if _, err := seeker.Seek(-16, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if tail, err := io.ReadAll(seeker); string(tail) != "0123456789abcdef" || err != nil {
		t.Errorf("the block ends with %q, %v", tail, err)
	}
}

func TestStopEndsTheDownload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer   string
		asked, stopped bool
		length         int64
	}{
		{"a body with a length", withLength("ETag: \"a\"\r\n", "hello") + "hello", true, true, 5},
		{"a chunked body", plainChunked + chunked("hello"), true, true, -1},
		{"a 304 has nothing to stop", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, false, 0},
		{"an empty body has nothing to stop", withLength("", ""), false, false, 0},
		{"a 204 has nothing to stop", "HTTP/1.1 204 No Content\r\n\r\n", false, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, answering("HTTP/1.1 103 Early Hints\r\n\r\n"+c.answer, false))
			client := newClient(t, fetch.Options{})
			var seen []fetch.Head
			got := get(t, client, fetch.Request{URI: parse(t, "http://"+address+"/"), Stop: func(h fetch.Head) bool {
				seen = append(seen, h)
				return true
			}})
			if (len(seen) == 1) != c.asked || got.Stopped != c.stopped || got.Complete == c.stopped ||
				got.Truncated != "" || got.Misfortune != nil {
				t.Errorf("Stop called %d times, stopped %v, complete %v, truncated %q", len(seen), got.Stopped, got.Complete, got.Truncated)
			}
			if (fetch.Idle(client) == 0) != c.stopped {
				t.Errorf("%d idle connections after stopped=%v", fetch.Idle(client), got.Stopped)
			}
			if !c.asked {
				return
			}
			if seen[0].ContentLength != c.length || seen[0].Status != 200 || seen[0].Header == nil {
				t.Errorf("Stop called with %+v", seen[0])
			}
			b := block(t, got)
			if b != string(got.Head) || got.BlockSize != int64(len(b)) || got.BlockDigest != sum(b) ||
				!got.PayloadDigest.IsZero() {
				t.Errorf("block %q, %d bytes, payload digest %s", b, got.BlockSize, got.PayloadDigest)
			}
			if _, err := contentOf(t, got); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("content ends with %v, want io.ErrUnexpectedEOF", err)
			}
		})
	}
}

// TestFetchWithoutFreeFiles: idle connections are closed to free a file for a new one. If there are
// none, Fetch returns an error instead of a failed visit, because the fault is not the host's.
func TestFetchWithoutFreeFiles(t *testing.T) {
	t.Parallel()
	first, second := serve(t, answering(pageOf(1), false)), serve(t, answering(pageOf(1), false))
	var client *fetch.Client
	files := 1 // number of files for connections
	dial := fetch.Guard(loopback)
	client = newClient(t, fetch.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if fetch.Idle(client) >= files {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
		}
		return dial(ctx, network, address)
	}})
	wantContent(t, getFrom(t, client, first), "connection 1")
	wantContent(t, getFrom(t, client, second), "connection 1")
	files = 0
	capture, err := client.Fetch(t.Context(), fetch.Request{URI: parse(t, "http://"+first+"/")})
	if capture != nil || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ulimit") {
		t.Errorf("Fetch() = %v, %v; want an error of ours with advice", capture, err)
	}
}

// TestAFormIsSentAndNotShown posts a form.
func TestAFormIsSentAndNotShown(t *testing.T) {
	t.Parallel()
	const form = "user=maria&pass=s3cret"
	sent := make(chan string, 1)
	address := serve(t, func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		head, _ := request(r)
		body := make([]byte, len(form))
		_, _ = io.ReadFull(r, body)
		sent <- string(head) + string(body)
		_, _ = io.WriteString(c, withLength("", "ok")+"ok")
	})
	r := fetch.Request{URI: parse(t, "http://"+address+"/in"), Form: []byte(form)}
	got := get(t, newClient(t, fetch.Options{MaxIdle: -1}), r)
	want := "POST /in HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
		"Content-Length: 22\r\nConnection: close\r\n\r\n"
	if all := <-sent; got.Status != 200 || all != want+form || string(got.Request) != want+fetch.Redacted {
		t.Errorf("status %d; sent %q, shown %q", got.Status, all, got.Request)
	}
}

// BenchmarkVisit measures an exchange over an idle loopback connection, including record and digests, for a page of
// 15 KB. The metric x-net/http is its duration as a multiple of what net/http takes to read the same page undecoded.
func BenchmarkVisit(b *testing.B) {
	page := strings.Repeat("<p>The quick brown fox jumps over the lazy dog.</p>\n", 295)
	z := gzipped(b, page)
	for _, c := range []struct{ name, answer string }{
		{"plain", withLength("Content-Type: text/html\r\nETag: \"a\"\r\n", page) + page},
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(page[:8000], page[8000:])},
		{"gzip", withLength("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", z) + z},
	} {
		b.Run(c.name, func(b *testing.B) {
			u := "http://" + serve(b, answering(c.answer, false)) + "/"
			client := fetch.New(fetch.Options{Dial: fetch.Guard(loopback)})
			defer client.Close()
			r := fetch.Request{URI: parse(b, u), Header: []fetch.Field{{"User-Agent", "arcrawl"}, {"Accept-Encoding", "gzip"}}}
			ours := func() {
				got, err := client.Fetch(context.Background(), r)
				if err != nil || !got.Complete || got.ContentSize != int64(len(page)) {
					b.Fatalf("Fetch: %v, %+v", err, got)
				}
				got.Close()
			}
			b.SetBytes(int64(len(c.answer)))
			b.ReportAllocs()
			for b.Loop() {
				ours()
			}
			b.StopTimer()
			b.ReportMetric(ratio(ours, netHTTP(b, u), b.N), "x-net/http")
		})
	}
}

// ratio returns the time of a as a multiple of the time of b. It runs them alternately, so that other load on the
// machine affects both.
func ratio(a, b func(), times int) float64 {
	var took [2]time.Duration
	b()
	for range times {
		for i, f := range []func(){a, b} {
			start := time.Now()
			f()
			took[i] += time.Since(start)
		}
	}
	return float64(took[0]) / float64(took[1])
}

// netHTTP returns a function that makes one exchange with net/http.
func netHTTP(b *testing.B, u string) func() {
	b.Helper()
	transport := &http.Transport{DisableCompression: true}
	b.Cleanup(transport.CloseIdleConnections)
	return func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, u, nil)
		must(b, err)
		res, err := transport.RoundTrip(r)
		must(b, err)
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
	}
}
