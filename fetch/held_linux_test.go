package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// tight listens on loopback. Its kernel takes a few kB of a connection that nobody reads; the kernel of the other side
// holds the rest.
func tight(t *testing.T) net.Listener {
	t.Helper()
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		ctrlErr := raw.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1)
		})
		must(t, ctrlErr)
		return err
	}}
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// heldSize is the length of a request that no tight listener takes at once.
const heldSize = 12_000

// heldRequest returns a request of heldSize bytes and a few more.
func heldRequest(t *testing.T, address string, http fetch.HTTP, headers time.Duration) fetch.Request {
	long := strings.Repeat("~", heldSize) // HTTP/2 does not make it shorter
	return fetch.Request{
		URI: parse(t, address), HTTP: http, Header: []fetch.Field{{Name: "X-Long", Value: long}},
		Limits: fetch.Limits{Headers: headers},
	}
}

// heldEnv holds the address of the server that a process asks until it is killed.
const heldEnv = "ARCRAWL_FETCH_TEST_HELD"

// Our kernel holds a request whose bytes do not leave: the uplink is cut, or the server does not read. When nobody
// waits for the answer any more, it must not send them later, within the rest of the host.
func TestARequestThatTheKernelHoldsIsNotSentLater(t *testing.T) {
	if address := os.Getenv(heldEnv); address != "" {
		_, _ = newClient(t, fetch.Options{}).Fetch(t.Context(), heldRequest(t, address, "", time.Minute))
		return
	}
	t.Parallel()
	server, trust := tlsConfigs(t)
	server2 := server.Clone()
	server2.NextProtos = []string{"h2"}
	limit := func(version fetch.HTTP) func(*testing.T, string, time.Duration) error {
		return func(t *testing.T, address string, after time.Duration) error {
			c := newClient(t, fetch.Options{TLS: trust})
			if got := get(t, c, heldRequest(t, address, version, after)); got.Status != fetch.TimedOut {
				return fmt.Errorf("status %d (%w), want %d", got.Status, got.Misfortune, fetch.TimedOut)
			}
			return nil
		}
	}
	for _, c := range []struct {
		name, scheme string
		secure       *tls.Config
		abandon      func(t *testing.T, address string, after time.Duration) error
	}{
		{name: "the time is over", scheme: "http", abandon: limit("")},
		{name: "the time is over, with TLS", scheme: "https", secure: server, abandon: limit("")},
		{name: "the time is over, over HTTP/2", scheme: "https", secure: server2, abandon: limit(fetch.HTTP2)},
		{name: "the crawl stops", scheme: "http", abandon: func(t *testing.T, address string, after time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			if _, err := newClient(t, fetch.Options{}).Fetch(ctx, heldRequest(t, address, "", time.Minute)); err == nil {
				return errors.New("Fetch returned no error")
			}
			return nil
		}},
		{name: "the process is killed", scheme: "http", abandon: func(t *testing.T, address string, after time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), 6*after)
			defer cancel()
			child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestARequestThatTheKernelHoldsIsNotSentLater$")
			child.Env = append(os.Environ(), heldEnv+"="+address)
			if out, err := child.CombinedOutput(); ctx.Err() == nil {
				return fmt.Errorf("the process ended by itself: %w\n%s", err, out)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, err := 0, error(nil)
			for after := 300 * time.Millisecond; n == 0 && after < time.Minute; after *= 4 { // a busy machine sends late
				l, done, arrived := tight(t), make(chan struct{}), make(chan int, 1)
				go func() { arrived <- readLater(l, c.secure, done) }()
				err = c.abandon(t, c.scheme+"://"+l.Addr().String()+"/", after)
				close(done)
				must(t, l.Close())
				n = <-arrived
			}
			if n == 0 || n >= heldSize || err != nil {
				t.Errorf("%d bytes arrived, want some and fewer than the request has: %d; %v", n, heldSize, err)
			}
		})
	}
}

// readLater accepts one connection and reads nothing of the request until done. It returns how many bytes of it came.
func readLater(l net.Listener, secure *tls.Config, done <-chan struct{}) int {
	c, err := l.Accept()
	if err != nil {
		return 0
	}
	defer c.Close()
	if secure != nil && tls.Server(c, secure).Handshake() != nil {
		return 0
	}
	<-done
	var got bytes.Buffer
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.Copy(&got, c) // until the end or the reset
	return got.Len()
}

// lingering records what the socket is to do when it is closed.
type lingering struct {
	*net.TCPConn
	seconds int // as of the last call of SetLinger
	atClose chan int
}

func (l *lingering) SetLinger(sec int) error {
	l.seconds = sec
	return l.TCPConn.SetLinger(sec)
}

func (l *lingering) Close() error {
	select {
	case l.atClose <- l.seconds:
	default:
	}
	return l.TCPConn.Close()
}

// An exchange with an answer ends its connection as ever: what is left, as the end of a TLS connection, is still sent.
func TestAnAnsweredConnectionIsNotReset(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"closed after the answer":     "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"kept, and closed at the end": withLength("", "ok") + "ok",
		"cut by the filter":           withLength("ETag: \"a\"\r\n", "ok"),
		"a body that breaks off":      withLength("", "long") + "lo",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atClose := make(chan int, 1)
			address := serve(t, answering(answer, strings.Contains(name, "breaks off")))
			client := newClient(t, fetch.Options{Dial: func(ctx context.Context, _, to string) (net.Conn, error) {
				var d net.Dialer
				k, err := d.DialContext(ctx, "tcp", to)
				if err != nil {
					return nil, err
				}
				return &lingering{TCPConn: k.(*net.TCPConn), atClose: atClose}, nil
			}})
			get(t, client, fetch.Request{
				URI: parse(t, "http://"+address+"/"), Stop: func(h fetch.Head) bool { return h.Header.Get("ETag") != "" },
			})
			must(t, client.Close())
			if seconds := <-atClose; seconds != -1 {
				t.Errorf("linger is %d when the connection is closed, want -1", seconds)
			}
		})
	}
}
