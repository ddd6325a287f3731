package crawler_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestWhatAVisitCosts compares the cost of a visit with bounds that do not depend on the speed of the machine:
// objects and bytes allocated, calls that read and write, bytes written. Objects and bytes hardly differ from run to
// run, so their bounds are 3 % above the measured values. The bounds of calls are 7 % above. Lower them when visits
// become cheaper. Many small additions once made a visit 5 % dearer, and a bound of a tenth did not show it.
func TestWhatAVisitCosts(t *testing.T) {
	slow.Unraced(t, "the race detector allocates too")
	site := startQuietSite(t)
	for _, c := range []struct {
		pages                   string // the folder decides how the site answers
		first, again            string
		firstBounds, nextBounds bounds
	}{
		{
			"", "a first visit of 15 KB with 20 links", "a revisit that is answered 304",
			bounds{objects: 270, bytes: 23_900, calls: 9.6, written: 17_600},
			bounds{objects: 184, bytes: 14_500, calls: 8.4, written: 1_800},
		},
		{
			"/same", "", "a revisit that finds the same content",
			bounds{},
			bounds{objects: 244, bytes: 17_600, calls: 9.5, written: 17_300},
		},
		{
			"/whole", "", "a revisit that ends after the head",
			bounds{},
			bounds{objects: 244, bytes: 17_900, calls: 9.8, written: 17_500},
		},
		{
			"/busy", "a visit that is answered 503", "",
			// 11,080 bytes, or 390 more if a buffer of the process grows meanwhile.
			bounds{objects: 166, bytes: 11_800, calls: 8.5, written: 2_030},
			bounds{},
		},
		{
			"/kept-out", "a URI that robots.txt forbids", "",
			bounds{objects: 135, bytes: 6_770, calls: 1.1, written: 225},
			bounds{},
		},
	} {
		const visits = 300
		p := newPriced(t, site, c.pages, "", visits+22)
		if cost := costOf(t, func() { p.walk(visits) }); c.first != "" {
			check(t, c.first, visits, cost, c.firstBounds)
		}
		p.ahead += 400 * 24 * time.Hour // all pages are due again
		p.walk(22)
		if cost := costOf(t, func() { p.walk(visits - 1) }); c.again != "" {
			check(t, c.again, visits, cost, c.nextBounds)
		}
		p.shut()
	}
}

// atFullSpeed is a configuration without rests, in which a server's headers are believed at once.
func atFullSpeed(site string) string {
	return fmt.Sprintf(`[politeness]
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
`, site)
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
func costOf(t testing.TB, do func()) bounds {
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
func processIO(t testing.TB) (calls, written float64) {
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

// startQuietSite serves pages of 15 KB with 20 links, all different, and allocates almost nothing. The folder of a page
// decides how it is answered.
func startQuietSite(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	site := sync.Pool{New: func() any { return newQuietSite() }}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				q := site.Get().(*quietSite)
				q.in.Reset(conn)
				q.serve(conn)
				site.Put(q)
			}()
		}
	}()
	return l.Addr().String()
}

// quietSite answers the requests of one connection after the other.
type quietSite struct {
	links, words []byte
	in           *bufio.Reader
	path         []byte
	out          bytes.Buffer
}

func newQuietSite() *quietSite {
	var links bytes.Buffer
	for n := range 20 {
		fmt.Fprintf(&links, "<a href=/%d>", n)
	}
	text := "<p class=text>one word and another, "
	return &quietSite{
		links: links.Bytes(), words: bytes.Repeat([]byte(text), quietSize/len(text)+1), in: bufio.NewReader(nil),
	}
}

// quietSize is the size of a page.
const quietSize = 15_000

// serve answers the requests of a connection.
func (q *quietSite) serve(conn net.Conn) {
	defer conn.Close()
	for {
		known := false
		for first := true; ; first = false {
			line, err := q.in.ReadSlice('\n')
			if err != nil {
				return
			}
			if first {
				q.path = append(q.path[:0], bytes.Fields(line)[1]...)
			}
			known = known || bytes.HasPrefix(line, []byte("If-None-Match"))
			if len(line) == 2 {
				break
			}
		}
		q.answer(known)
		if _, err := conn.Write(q.out.Bytes()); err != nil {
			return
		}
	}
}

// answer writes the answer to a request. known says that it is conditional.
func (q *quietSite) answer(known bool) {
	in := func(folder string) bool { return bytes.HasPrefix(q.path, []byte(folder)) }
	q.out.Reset()
	switch {
	case string(q.path) == "/robots.txt":
		q.out.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 35\r\n\r\nUser-agent: *\nDisallow: /kept-out/\n")
	case in("/busy/"):
		q.out.WriteString("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	case known && !in("/whole/"):
		q.out.WriteString("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
	default:
		q.out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15000\r\n")
		if !in("/same/") {
			q.out.WriteString("ETag: \"1\"\r\n")
		}
		q.out.WriteString("\r\n")
		body := q.out.Len()
		q.out.Write(q.path)
		q.out.Write(q.links)
		q.out.Write(q.words[:quietSize-(q.out.Len()-body)])
	}
}
