package hostile_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// town is a set of servers on loopback addresses, with names. All servers with names listen on one port.
type town struct {
	t    testing.TB
	port int

	mu    sync.Mutex            // guards the fields below
	names map[string]netip.Addr // by name, or "*." and the name of a parent
	next  netip.Addr            // the address that is assigned next

	open    atomic.Int64 // connections that servers have open
	lookups atomic.Int64 // connections of the DNS server
	held    atomic.Int64 // connections to the daemon that strangers hold
}

// newTown returns a town without servers, in which every name resolves through its own DNS.
func newTown(t testing.TB) *town {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	tw := &town{t: t, port: port, names: map[string]netip.Addr{}, next: netip.MustParseAddr("127.0.1.1")}
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: tw.dialDNS}
	t.Cleanup(func() { net.DefaultResolver = before })
	return tw
}

// address returns a loopback address that no server has yet.
func (tw *town) address() netip.Addr {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	tw.next = tw.next.Next()
	return tw.next
}

// name makes a name resolve to an address. "*.news.example" stands for all names below news.example.
func (tw *town) name(name string, to netip.Addr) {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	tw.names[name] = to
}

// url returns the address of a page on a named host.
func (tw *town) url(host, path string) string {
	return fmt.Sprintf("http://%s:%d%s", host, tw.port, path)
}

// listen listens on a port of an address, until the end of the test.
func (tw *town) listen(at netip.Addr, port int) net.Listener {
	tw.t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(at, uint16(port)).String())
	must(tw.t, err)
	tw.t.Cleanup(func() { _ = l.Close() })
	return &countedListener{Listener: l, open: &tw.open}
}

// withoutRobots answers all requests but those for robots.txt, which there is none of.
func withoutRobots(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	})
}

// serve serves names with a handler of net/http, on an address of their own.
func (tw *town) serve(h http.Handler, names ...string) netip.Addr {
	tw.t.Helper()
	at := tw.address()
	tw.serveAt(h, at, tw.port)
	for _, n := range names {
		tw.name(n, at)
	}
	return at
}

// serveAt serves a port of an address with a handler of net/http.
func (tw *town) serveAt(h http.Handler, at netip.Addr, port int) {
	tw.t.Helper()
	s := &http.Server{
		Handler: h, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
	l := tw.listen(at, port)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	tw.t.Cleanup(func() { _ = s.Close(); serving.Wait() })
}

// speak serves names with a function that writes raw bytes. Every connection has one exchange.
func (tw *town) speak(answer func(c net.Conn, r *http.Request), names ...string) netip.Addr {
	tw.t.Helper()
	at := tw.address()
	l := tw.listen(at, tw.port)
	for _, n := range names {
		tw.name(n, at)
	}
	var serving sync.WaitGroup
	tw.t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					answer(c, r)
				}
			})
		}
	})
	return at
}

// hole makes names resolve to an address that never answers a connection: its queue is full and nobody accepts.
func (tw *town) hole(names ...string) netip.Addr {
	tw.t.Helper()
	at := tw.address()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(tw.t, err)
	tw.t.Cleanup(func() { _ = syscall.Close(fd) })
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: tw.port, Addr: at.As4()}); err == nil {
		err = syscall.Listen(fd, 0)
	}
	must(tw.t, err)
	for range 2 {
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(at, uint16(tw.port)).String(), 200*time.Millisecond)
		if err == nil {
			tw.t.Cleanup(func() { _ = c.Close() })
		}
	}
	for _, n := range names {
		tw.name(n, at)
	}
	return at
}

// lookup returns the address of a name.
func (tw *town) lookup(name string) (netip.Addr, bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	tw.mu.Lock()
	defer tw.mu.Unlock()
	if at, ok := tw.names[name]; ok {
		return at, true
	}
	for {
		_, parent, ok := strings.Cut(name, ".")
		if !ok {
			return netip.Addr{}, false
		}
		if at, ok := tw.names["*."+parent]; ok {
			return at, true
		}
		name = parent
	}
}

// dialDNS connects the resolver to the town's DNS server, which answers over a pipe as if by TCP.
func (tw *town) dialDNS(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	tw.lookups.Add(1)
	go func() {
		defer tw.lookups.Add(-1)
		defer theirs.Close()
		for {
			var size [2]byte
			if _, err := io.ReadFull(theirs, size[:]); err != nil {
				return
			}
			question := make([]byte, int(size[0])<<8|int(size[1]))
			if _, err := io.ReadFull(theirs, question); err != nil {
				return
			}
			answer, err := tw.resolve(question)
			if err != nil {
				return
			}
			if _, err := theirs.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
				return
			}
		}
	}()
	return lookup{ours}, nil
}

// lookup is the crawler's end of a connection to the DNS server. Closed, it leaves nothing in memory.
type lookup struct{ net.Conn }

func (l lookup) Close() error {
	_ = l.SetDeadline(time.Time{}) // or its timers keep the pipe for as long as an answer may take
	return l.Conn.Close()
}

// resolve answers a DNS message.
func (tw *town) resolve(question []byte) ([]byte, error) {
	var p dnsmessage.Parser
	h, err := p.Start(question)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: h.ID, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	at, ok := tw.lookup(q.Name.String())
	switch {
	case !ok:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1},
			Body:   &dnsmessage.AResource{A: at.As4()},
		}}
	}
	return m.Pack()
}

// countedListener counts the connections that are open.
type countedListener struct {
	net.Listener
	open *atomic.Int64
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &countedConn{Conn: c, open: l.open}, nil
}

type countedConn struct {
	net.Conn
	open     *atomic.Int64
	closed   sync.Once
	requests atomic.Int64 // for handlers that count them
}

// connectionKey is the key of the connection in the context of a request.
type connectionKey struct{}

func (c *countedConn) Close() error {
	c.closed.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}
