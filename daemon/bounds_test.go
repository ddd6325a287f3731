package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// endOf is the server's end of a connection from an address.
type endOf struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (e *endOf) RemoteAddr() net.Addr { return e.from }
func (e *endOf) Close() error         { e.closed = true; return nil }

// TestWhichConnectionsAreClosed opens connections to a listener that may have four, two of each address.
func TestWhichConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	a, b, c := tcp("127.0.0.2"), tcp("127.0.0.3"), tcp("127.0.0.4")
	socket := net.Addr(&net.UnixAddr{Net: "unix"})
	type change struct {
		n     int // of the connection
		state http.ConnState
	}
	active := func(n int) change { return change{n, http.StateActive} }
	idle := func(n int) change { return change{n, http.StateIdle} }
	end := func(n int) change { return change{n, http.StateClosed} }
	for _, row := range []struct {
		name   string
		first  []net.Addr
		then   []change
		next   []net.Addr
		closed []int
		counts [3]int64
	}{
		{"within the bounds", []net.Addr{a, a, b, b}, nil, nil, nil, [3]int64{0, 0, 0}},
		{"the third of an address", []net.Addr{a, a}, nil, []net.Addr{a, b}, []int{2}, [3]int64{1, 0, 0}},
		{"the third of an address that uses one", []net.Addr{a, a}, []change{active(0)}, []net.Addr{a}, []int{2}, [3]int64{1, 0, 0}},
		{"one has ended", []net.Addr{a, a}, []change{end(0)}, []net.Addr{a}, nil, [3]int64{0, 0, 0}},
		{
			"a refused one ends",
			[]net.Addr{a, a, a},
			[]change{active(2), end(2)},
			[]net.Addr{a},
			[]int{2, 3},
			[3]int64{2, 0, 0},
		},
		{
			"one network of IPv6",
			[]net.Addr{tcp("2001:db8::1"), tcp("2001:db8::2")},
			nil,
			[]net.Addr{tcp("2001:db8::3"), tcp("2001:db8:1::1")},
			[]int{2},
			[3]int64{1, 0, 0},
		},
		{"the fifth takes the place of the first", []net.Addr{a, a, b, b}, nil, []net.Addr{c, c}, []int{0, 1}, [3]int64{0, 2, 0}},
		{
			"of one that waits",
			[]net.Addr{a, a, b, b},
			[]change{active(0), active(1), idle(1)},
			[]net.Addr{c, c},
			[]int{2, 3},
			[3]int64{0, 2, 0},
		},
		{
			"and waits longest",
			[]net.Addr{a, a, b, b},
			[]change{active(0), idle(0), active(2), active(3), idle(3)},
			[]net.Addr{c, c},
			[]int{0, 1},
			[3]int64{0, 2, 0},
		},
		{
			"all are served",
			[]net.Addr{a, a, b, b},
			[]change{active(0), active(1), active(2), active(3)},
			[]net.Addr{c},
			[]int{4},
			[3]int64{0, 1, 0},
		},
		{"a socket has no address", []net.Addr{socket, socket, socket, socket}, nil, []net.Addr{socket}, []int{0}, [3]int64{0, 1, 0}},
	} {
		var refused refusals
		open := &connections{most: 4, refused: &refused, log: zerolog.Nop(), now: time.Now, count: map[string]int{}}
		var all []*endOf
		connect := func(list []net.Addr) {
			for _, from := range list {
				all = append(all, &endOf{from: from})
				open.changed(all[len(all)-1], http.StateNew)
			}
		}
		connect(row.first)
		for _, then := range row.then {
			open.changed(all[then.n], then.state)
		}
		connect(row.next)
		var closed []int
		for i, e := range all {
			if e.closed {
				closed = append(closed, i)
			}
		}
		if !slices.Equal(closed, row.closed) || refused.Counts() != row.counts {
			t.Errorf("%s: %v were closed, counted as %v; want %v, %v", row.name, closed, refused.Counts(), row.closed, row.counts)
		}
		for _, e := range all {
			open.changed(e, http.StateClosed)
		}
		if len(open.open)+len(open.count) > 0 {
			t.Errorf("%s: when all have ended, %v and %v are left", row.name, open.open, open.count)
		}
	}
}

// TestConnectionsLeaveFilesForTheCrawl bounds listeners by what the crawl leaves.
func TestConnectionsLeaveFilesForTheCrawl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files           uint64
		workers, tables int
		want            int
	}{
		{0, 50, 0, 256}, {65536, 50, 1000, 256}, {1024, 50, 0, 107}, {1024, 50, 800, 16}, {100, 50, 0, 16},
	} {
		if got := (limits{files: c.files}).connections(c.workers, c.tables); got != c.want {
			t.Errorf("%+v: %d connections", c, got)
		}
	}
}

// TestFailedHandshakesAreCountedAndLoggedOnceAMinute sends what is no TLS to a listener with TLS.
func TestFailedHandshakesAreCountedAndLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(http.NotFoundHandler())
	site.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	var log bytes.Buffer
	start := time.Now()
	var passed atomic.Int64
	now := func() time.Time { return start.Add(time.Duration(passed.Load())) }
	d := &Daemon{o: Options{Now: now}, log: zerolog.New(&log), connections: 4}
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	wait := d.serveBounded(server, tls.NewListener(l, site.TLS), func(err error) { t.Error(err) })
	fail := func(n int) {
		t.Helper()
		for range n {
			c, err := net.Dial("tcp", l.Addr().String())
			archivetest.Must(t, err)
			_, err = io.WriteString(c, "no TLS at all\r\n\r\n")
			archivetest.Must(t, err)
			_, _ = io.Copy(io.Discard, c) // until the server has closed it
			_ = c.Close()
		}
	}
	fail(20)
	passed.Store(int64(sayRefusalsEvery))
	fail(20)
	archivetest.Must(t, server.Shutdown(context.Background()))
	wait()
	if got := d.refused.Counts(); got != ([3]int64{0, 0, 40}) {
		t.Errorf("counted are %v, want 40 failed handshakes", got)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("want two lines:\n%s", log.String())
	}
	for i, n := range []int{1, 20} {
		if want := fmt.Sprintf(`"connections":%d,`, n); !strings.Contains(lines[i], want) || !strings.Contains(lines[i], "TLS") {
			t.Errorf("line %d is %s, want %s in it", i+1, lines[i], want)
		}
	}
}
