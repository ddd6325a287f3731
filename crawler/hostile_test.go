package crawler_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// manners is the behavior of a raw server after it has sent its answer.
type manners uint8

const (
	hangUp  manners = iota // closes the connection
	silence                // sends nothing until the client is gone
	drip                   // sends a byte every few milliseconds until the client is gone
	flood                  // sends as fast as it can until the client is gone
	reset                  // resets the connection
)

// rawSite listens on a loopback address. It has no robots.txt and sends the given answer for everything else.
func rawSite(t *testing.T, network, address, answer string, after manners) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatalf("listen on %s: %v", address, err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { l.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serveRaw(c, answer, after) })
		}
	})
	return l.Addr().String()
}

func serveRaw(c net.Conn, answer string, after manners) {
	defer c.Close()
	r := bufio.NewReader(c)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	if req.URL.Path == "/robots.txt" {
		_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	_, err = io.WriteString(c, answer)
	switch after {
	case silence:
		_, _ = io.Copy(io.Discard, r)
	case drip:
		for tick := time.NewTicker(3 * time.Millisecond); err == nil; _, err = io.WriteString(c, "x") {
			<-tick.C
		}
	case flood:
		for much := strings.Repeat("x", 32<<10); err == nil; _, err = io.WriteString(c, much) {
		}
	case reset:
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

// impatient is a configuration with short timeouts.
const impatient = `[politeness]
min_delay = "0s"
max_delay = "0s"
[retry]
first = "7m"
[[wait]]
mime = ".*"
rule = "classic"
initial = "3h"
[fetch]
allow_networks = ["127.0.0.0/8", "::1/128"]
connect_timeout = "5s"
header_timeout = "1500ms"
body_timeout = "1500ms"
max_head = "16KiB"
max_body = "64KiB"
max_content = "256KiB"
`

// visitOnce crawls until a URI with the given suffix was visited. It returns the report and the line in crawl.log.
func visitOnce(t *testing.T, w *world, dial dialer, suffix string) (crawler.Report, crawllog.Entry) {
	t.Helper()
	parts, shut := w.openWith(dial)
	w.crawlUntil(parts, func(r crawler.Report) bool { return strings.HasSuffix(r.URI.String(), suffix) })
	shut()
	for _, e := range w.logLines() {
		if strings.HasSuffix(e.URI, suffix) {
			return w.visits(suffix)[0], e
		}
	}
	t.Fatalf("no URI that ends in %q was visited", suffix)
	return crawler.Report{}, crawllog.Entry{}
}

func gzipped(b []byte) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.String()
}

// recordsIn reads the records that a crawl wrote to dir. It does not check them, because answers that net/http cannot
// read are archived too.
func recordsIn(t *testing.T, dir string) []archivetest.CheckedRecord {
	t.Helper()
	var all []archivetest.CheckedRecord
	for _, file := range finishedFiles(t, dir) {
		records, err := archivetest.CheckFile(file)
		must(t, err)
		all = append(all, records...)
	}
	return all
}

const good = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// A server on a real listener misbehaves. The test checks the archive, the log and the next due time of its page.
func TestMisbehavingServerIsRecordedAndScheduled(t *testing.T) {
	t.Parallel()
	bomb := gzipped(make([]byte, 8<<20))
	const retry, learned = 7 * time.Minute, 3 * time.Hour
	for _, row := range []struct {
		name      string
		answer    string
		after     manners
		status    int
		kept      aspects.Keeping
		truncated string // WARC-Truncated of the record
		note      string // one of the annotations
		wait      time.Duration
	}{
		{"no head in time", "", silence, -4, aspects.KeptNothing, "", "err=", retry},
		{"a head that drips", "HTTP/1.1 200 OK\r\nX: ", drip, -4, aspects.KeptHead, "", "err=", retry},
		{"a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 10_000), hangUp, -5, aspects.KeptHead, "", "err=", retry},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", silence, -5, aspects.KeptHead, "", "err=", retry},
		{"an empty reply", "", hangUp, -404, aspects.KeptNothing, "", "err=", retry},
		{"a reset without an answer", "", reset, -3, aspects.KeptNothing, "", "err=", retry},
		{"a head that breaks off", good, hangUp, -3, aspects.KeptHead, "", "err=", retry},
		{"a control byte in a header value", good + "Server: x\x01y\r\nContent-Length: 2\r\n\r\nhi", hangUp, 200, aspects.KeptResponse, "", "head:1", learned},
		{"garbage among the header fields", good + "\x01\x02 rubbish\r\nContent-Length: 2\r\n\r\nhi", hangUp, 200, aspects.KeptResponse, "", "", learned},
		{"two lengths that contradict each other", good + "Content-Length: 2\r\nContent-Length: 7\r\n\r\nhi", hangUp, 200, aspects.KeptResponse, "", "", learned},
		{"a length that promises too much", good + "Content-Length: 99\r\n\r\nhi", hangUp, 200, aspects.KeptResponse, "disconnect", "err=", retry},
		{"a length that promises too little", good + "Content-Length: 2\r\n\r\nhi there", hangUp, 200, aspects.KeptResponse, "", "", learned},
		{"a broken chunk", good + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n", hangUp, 200, aspects.KeptResponse, "disconnect", "err=", retry},
		{"chunks without the last", good + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", hangUp, 200, aspects.KeptResponse, "disconnect", "err=", retry},
		{"a body that stops coming", good + "Content-Length: 99\r\n\r\nhi", silence, 200, aspects.KeptResponse, "time", "timeTrunc", retry},
		{"a body that drips", good + "\r\n", drip, 200, aspects.KeptResponse, "time", "timeTrunc", retry},
		{"a body without end", good + "\r\n", flood, 200, aspects.KeptResponse, "length", "lenTrunc", 72 * time.Hour},
		{"a decompression bomb", good + "Content-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(len(bomb)) + "\r\n\r\n" + bomb, hangUp, 200, aspects.KeptResponse, "", "err=", learned},
		{"a body that is not gzip", good + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain", hangUp, 200, aspects.KeptResponse, "", "err=", learned},
		{"a 304 that nobody asked for", "HTTP/1.1 304 Not Modified\r\n\r\n", hangUp, 304, aspects.KeptResponse, "", "", retry},
		{"a server error", "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno", hangUp, 500, aspects.KeptResponse, "", "", retry},
		{"a refusal", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", hangUp, 403, aspects.KeptResponse, "", "", retry},
		{"a challenge", "HTTP/1.1 403 Forbidden\r\nCf-Mitigated: challenge\r\nContent-Length: 2\r\n\r\nno", hangUp, 403, aspects.KeptResponse, "", "challenge:cloudflare", retry},
		{"a page that is gone", "HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\nno", hangUp, 410, aspects.KeptResponse, "", "", time.Hour},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			address := rawSite(t, "tcp", "127.0.0.1:0", row.answer, row.after)
			w := newWorld(t, t.TempDir(), impatient+fmt.Sprintf("[seeds]\nuris = [\"http://%s/page\"]\n", address))
			r, line := visitOnce(t, w, dialLoopback, "/page")
			if r.Status != row.status || line.Status != row.status || r.Kept != row.kept {
				t.Errorf("status %d, in the log %d, kept %s; want %d and %s", r.Status, line.Status, r.Kept, row.status, row.kept)
			}
			if r.Wait.Interval != row.wait || r.Due.IsZero() {
				t.Errorf("waits %s (%s) until %s, want %s", r.Wait.Interval, r.Wait.Reason, r.Due, row.wait)
			}
			if notes := strings.Join(line.Annotations, " "); !strings.Contains(" "+notes, " "+row.note) || row.note == "" && strings.Contains(notes, "err=") {
				t.Errorf("annotations %q, want %q among them", notes, row.note)
			}
			truncated, found := "", false
			for _, rec := range recordsIn(t, w.dir) {
				if strings.HasSuffix(rec.Target(), "/page") && rec.Type() == "response" {
					truncated, found = rec.Header.Get("WARC-Truncated"), true
				}
			}
			if truncated != row.truncated || found != (row.kept == aspects.KeptResponse) {
				t.Errorf("a response record: %t, truncated by %q; want %q", found, truncated, row.truncated)
			}
		})
	}
}

// refusingPort returns the address of a port that refuses connections. A socket holds it, so that no other test listens
// there meanwhile.
func refusingPort(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	must(t, err)
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

// The first request to a host is for its robots.txt, so this is the visit that fails.
func TestUnreachableHostHasAStatus(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	_, tlsPort, _ := net.SplitHostPort(secure.Listener.Addr().String())
	plain := rawSite(t, "tcp", "127.0.0.1:0", good+"Content-Length: 0\r\n\r\n", hangUp)
	_, plainPort, _ := net.SplitHostPort(plain)
	refusing := refusingPort(t)
	stuck := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	unknown := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}
	}
	for _, row := range []struct {
		name, seed string
		dial       dialer
		status     int
		says       string
	}{
		{"a name that does not resolve", "http://nowhere.example/", unknown, fetch.DNSFailed, "no_such_host"},
		{"a port that nobody listens on", "http://" + refusing + "/", dialLoopback, fetch.ConnectFailed, "refused"},
		{"a connection that is never made", "http://stuck.example/", stuck, fetch.ConnectFailed, "deadline"},
		{"a certificate of nobody", "https://127.0.0.1:" + tlsPort + "/", dialLoopback, fetch.ConnectFailed, "certificate"},
		{"no TLS behind https", "https://127.0.0.1:" + plainPort + "/", dialLoopback, fetch.ConnectFailed, "TLS"},
		{"a private address", "http://127.0.0.1:" + plainPort + "/", fetch.Guard(nil), fetch.ConnectFailed, "not_public"},
		{"a name of a private address", "http://localhost:" + plainPort + "/", fetch.Guard(nil), fetch.ConnectFailed, "not_public"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			toml := impatient
			if row.says == "deadline" { // all others have the time that a busy machine needs
				toml = strings.Replace(toml, `connect_timeout = "5s"`, `connect_timeout = "400ms"`, 1)
			}
			w := newWorld(t, t.TempDir(), toml+fmt.Sprintf("[seeds]\nuris = [%q]\n", row.seed))
			r, line := visitOnce(t, w, row.dial, "/robots.txt")
			if r.Status != row.status || line.Status != row.status || r.Kept != aspects.KeptNothing || !r.Failed {
				t.Errorf("status %d, in the log %d, kept %s, failed %t; want %d and nothing kept", r.Status, line.Status, r.Kept, r.Failed, row.status)
			}
			if notes := strings.Join(line.Annotations, " "); !strings.Contains(notes, row.says) {
				t.Errorf("annotations %q, want %q among them", notes, row.says)
			}
			if r.Wait.Interval <= 0 || r.Wait.Interval > time.Hour {
				t.Errorf("the host is requested again after %s", r.Wait.Interval)
			}
		})
	}
}

// The name of this site resolves to an address that the guard allows for robots.txt, and to a private address for the
// page.
func TestReboundNameIsRefused(t *testing.T) {
	t.Parallel()
	address := rawSite(t, "tcp", "127.0.0.1:0", good+"Content-Length: 6\r\n\r\nsecret", hangUp)
	dials := 0
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		if dials++; dials == 1 {
			return dialLoopback(ctx, network, address)
		}
		return fetch.Guard(nil)(ctx, network, address)
	}
	w := newWorld(t, t.TempDir(), impatient+"[seeds]\nuris = [\"http://rebound.example/page\"]\n")
	r, line := visitOnce(t, w, dial, "/page")
	if r.Status != fetch.ConnectFailed || r.Kept != aspects.KeptNothing || !strings.Contains(strings.Join(line.Annotations, " "), "not_public") {
		t.Errorf("status %d, kept %s, annotations %q", r.Status, r.Kept, line.Annotations)
	}
	for _, rec := range testcrawl.CheckArchive(t, w.dir) {
		if bytes.Contains(rec.Block, []byte("secret")) {
			t.Error("a page of the private network is in the archive")
		}
	}
}

func TestIPv6AndInternationalNamesAreVisited(t *testing.T) {
	t.Parallel()
	page := good + "Content-Length: 2\r\n\r\nhi"
	v4 := rawSite(t, "tcp", "127.0.0.1:0", page, hangUp)
	toAll := func(ctx context.Context, network, _ string) (net.Conn, error) { return dialLoopback(ctx, network, v4) }
	rows := []struct {
		name, seed, logged string
		dial               dialer
	}{{"an international name", "http://bücher.example/straße", "http://xn--bcher-kva.example/stra%C3%9Fe", toAll}}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		l.Close()
		six := rawSite(t, "tcp6", "[::1]:0", page, hangUp)
		rows = append(rows, struct {
			name, seed, logged string
			dial               dialer
		}{"an IPv6 address", "http://" + six + "/page", "http://" + six + "/page", dialLoopback})
	} else {
		t.Logf("this machine has no IPv6: %v", err)
	}
	for _, row := range rows {
		w := newWorld(t, t.TempDir(), impatient+fmt.Sprintf("[seeds]\nuris = [%q]\n", row.seed))
		r, line := visitOnce(t, w, row.dial, row.logged)
		if r.Status != 200 || r.Kept != aspects.KeptResponse || line.URI != row.logged {
			t.Errorf("%s: status %d, kept %s, logged as %s", row.name, r.Status, r.Kept, line.URI)
		}
		testcrawl.CheckArchive(t, w.dir)
	}
}
