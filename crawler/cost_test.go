package crawler_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestWhatAVisitCosts compares the cost of a visit with bounds that do not depend on the speed of the machine:
// objects and bytes allocated, calls that read and write, bytes written. Objects and bytes hardly differ from run to
// run, so their bounds are 3 % above the measured values. The bounds of calls are 7 % above. Lower them when visits
// become cheaper. Many small additions once made a visit 5 % dearer, and a bound of a tenth did not show it.
func TestWhatAVisitCosts(t *testing.T) {
	slow.Unraced(t, "the race detector allocates too")
	site := startQuietSite(t)
	w := newWorld(t, t.TempDir(), fmt.Sprintf(`[politeness]
delay_factor = 0.0
min_delay = "0s"
max_delay = "0s"
[midfetch]
proof = 0
precision = 0.0
audit_share = 0.0
audit_every = 0
[seeds]
uris = ["http://%s/"]
`, site))
	parts, shut := w.openWith(dialLoopback)
	defer shut()
	parts.IndexCapture = func(crawler.Captured) error { return nil } // what the world keeps is no cost of a visit
	c := crawler.New(parts)
	const visits = 300
	addPages(t, parts.Frontier, "http://"+site, visits+21)
	ahead := time.Second // offset of the clock, so that every rest is over
	walk := func(n int) {
		for range n {
			claim, ok, err := parts.Frontier.Claim(time.Now().Add(ahead))
			if err != nil || !ok {
				t.Fatal("nothing to claim", err)
			}
			must(t, c.Walk(context.Background(), claim))
		}
	}
	w.reports = make([]crawler.Report, 0, 3*visits)
	walk(22) // robots.txt, and everything that is allocated once
	check(t, "a first visit of 15 KB with 20 links", visits, costOf(t, func() { walk(visits) }),
		bounds{objects: 412, bytes: 30_600, calls: 9.6, written: 17_600})
	ahead = 400 * 24 * time.Hour // all pages are due again
	walk(22)
	check(t, "a revisit that is answered 304", visits, costOf(t, func() { walk(visits - 1) }),
		bounds{objects: 184, bytes: 14_500, calls: 8.4, written: 2_580})
}

// bounds holds the maximum cost of one visit.
type bounds struct {
	objects, bytes float64 // allocated
	calls          float64 // reads and writes of files and sockets, including the server's
	written        float64 // bytes, including the server's
}

func check(t *testing.T, what string, visits float64, got, maximum bounds) {
	t.Helper()
	for _, m := range []struct {
		name         string
		got, maximum float64
	}{
		{"objects allocated", got.objects, maximum.objects},
		{"bytes allocated", got.bytes, maximum.bytes},
		{"reads and writes", got.calls, maximum.calls},
		{"bytes written", got.written, maximum.written},
	} {
		each := m.got / visits
		t.Logf("%s: %.1f %s, at most %.1f", what, each, m.name, m.maximum)
		if each > m.maximum {
			t.Errorf("%s takes %.1f %s, more than %.1f", what, each, m.name, m.maximum)
		}
	}
}

// costOf runs a function and returns what it cost the whole process.
func costOf(t *testing.T, do func()) bounds {
	t.Helper()
	var before, after runtime.MemStats
	callsBefore, writtenBefore := processIO(t)
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	calls, written := processIO(t)
	return bounds{
		objects: float64(after.Mallocs - before.Mallocs), bytes: float64(after.TotalAlloc - before.TotalAlloc),
		calls: calls - callsBefore, written: written - writtenBefore,
	}
}

// processIO returns the number of reads and writes of the process, and the bytes written. It returns zeros if the
// system does not count them.
func processIO(t *testing.T) (calls, written float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Logf("reads and writes are not counted here: %v", err)
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var n float64
		for _, name := range []string{"syscr", "syscw"} {
			if _, err := fmt.Sscanf(line, name+": %f", &n); err == nil {
				calls += n
			}
		}
		if _, err := fmt.Sscanf(line, "wchar: %f", &n); err == nil {
			written = n
		}
	}
	return calls, written
}

// startQuietSite serves pages of 15 KB with 20 links, all different, and allocates almost nothing.
func startQuietSite(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveQuietly(conn)
		}
	}()
	return l.Addr().String()
}

func serveQuietly(conn net.Conn) {
	defer conn.Close()
	const size = 15_000
	var links bytes.Buffer
	for n := range 20 {
		fmt.Fprintf(&links, "<a href=/%d>", n)
	}
	words := bytes.Repeat([]byte("<p class=text>one word and another, "), size/36+1)
	in := bufio.NewReader(conn)
	var out bytes.Buffer
	for {
		var path []byte
		known := false
		for first := true; ; first = false {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if first {
				path = append(path[:0], bytes.Fields(line)[1]...)
			}
			known = known || bytes.HasPrefix(line, []byte("If-None-Match"))
			if len(line) == 2 {
				break
			}
		}
		out.Reset()
		switch {
		case string(path) == "/robots.txt":
			out.WriteString("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		case known:
			out.WriteString("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
		default:
			out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\nContent-Length: 15000\r\n\r\n")
			body := out.Len()
			out.Write(path)
			out.Write(links.Bytes())
			out.Write(words[:size-(out.Len()-body)])
		}
		if _, err := io.Copy(conn, bytes.NewReader(out.Bytes())); err != nil {
			return
		}
	}
}
