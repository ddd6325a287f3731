package fetch_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// paced returns a dialer to a server that sends a head, then n pieces of size bytes, one each interval, and then
// waits for the client to close. With server, it uses TLS.
func paced(t *testing.T, server, client *tls.Config, size, n int, interval time.Duration) fetch.Options {
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	dial := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		if server != nil {
			theirs = tls.Server(theirs, server)
		}
		serving.Go(func() {
			defer theirs.Close()
			r := bufio.NewReader(theirs)
			if _, ok := request(r); !ok {
				return
			}
			_, err := io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
			time.Sleep(500 * time.Millisecond)
			for range n {
				if err != nil {
					return
				}
				time.Sleep(interval)
				_, err = io.WriteString(theirs, strings.Repeat("x", size))
			}
			_, _ = io.Copy(io.Discard, r)
		})
		return ours, nil
	}
	return fetch.Options{SpoolDir: t.TempDir(), TLS: client, Dial: dial}
}

func TestFetchCutsASlowBody(t *testing.T) {
	server, tlsClient := tlsConfigs(t)
	limits := fetch.Limits{MinRate: 100, Grace: 30 * time.Second, Body: 20 * time.Minute}
	for _, c := range []struct {
		name     string
		size, n  int
		interval time.Duration
		limits   fetch.Limits
		crowded  bool
		took     time.Duration
		received int64
		whole    bool
	}{
		{"a byte a second", 1, 5000, time.Second, limits, false, 30 * time.Second, 29, false},
		{"nothing at all", 1, 0, 0, limits, false, 30 * time.Second, 0, false},
		{"fast at first, then nothing", 50_000, 1, time.Second, limits, false, time.Minute, 50_000, false},
		{"just above the minimum", 110, 1000, time.Second, limits, false, 910 * time.Second, 100_000, true},
		{"a long pause in one period", 50_000, 2, 29 * time.Second, limits, false, 58 * time.Second, 100_000, true},
		{"above the minimum while others wait", 101, 1000, time.Second, limits, true, 30 * time.Second, 29 * 101, false},
		{"fast while others wait", 11_000, 10, time.Second, limits, true, 10 * time.Second, 100_000, true},
		{"any rate is allowed", 1, 5000, time.Second, fetch.Limits{Body: 20 * time.Minute}, true, 20 * time.Minute, 1199, false},
		{"a body timeout within the first period", 1, 5000, time.Second, fetch.Limits{MinRate: 100, Grace: time.Hour, Body: time.Minute}, false, time.Minute, 59, false},
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(scheme+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ours := server
					if scheme == "http" {
						ours = nil
					}
					client := newClient(t, paced(t, ours, tlsClient, c.size, c.n, c.interval))
					got := get(t, client, fetch.Request{
						URI: parse(t, scheme+"://127.0.0.1/"), Limits: c.limits, Crowded: func() bool { return c.crowded },
					})
					if took := got.Took.Truncate(time.Second); took != c.took {
						t.Errorf("it took %s, want %s", took, c.took)
					}
					if got.Status != 200 || got.Complete != c.whole || got.PayloadSize != c.received {
						t.Errorf("status %d, complete %v, %d bytes, want 200, %v, %d", got.Status, got.Complete, got.PayloadSize, c.whole, c.received)
					}
					if !c.whole && (got.Truncated != fetch.TruncatedTime || got.Misfortune == nil) {
						t.Errorf("truncated %q, misfortune %v, want it cut because of time", got.Truncated, got.Misfortune)
					}
				})
			})
		}
	}
}

// A machine that sleeps does not make a server slow: only a period whose end was noticed in time counts.
func TestFetchDoesNotBlameTheServerForItsOwnPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := paced(t, nil, nil, 50_000, 2, 10*time.Second)
		dial := o.Dial
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			k, err := dial(ctx, network, address)
			return &dozing{Conn: k}, err
		}
		got := get(t, newClient(t, o), fetch.Request{
			URI: parse(t, "http://127.0.0.1/"), Limits: fetch.Limits{MinRate: 100, Grace: 30 * time.Second},
		})
		if !got.Complete {
			t.Errorf("the body was cut: %v", got.Misfortune)
		}
	})
}

// dozing is a connection on which the third read begins ten minutes late.
type dozing struct {
	net.Conn
	reads int
}

func (d *dozing) Read(b []byte) (int, error) {
	if d.reads++; d.reads == 3 {
		time.Sleep(10 * time.Minute)
	}
	return d.Conn.Read(b)
}

func TestFetchReservesSpaceBeforeItReceives(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	withLengthOf := func(n int) string { return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", n) }
	const untilClose = "HTTP/1.1 200 OK\r\n\r\n"
	full := errors.New("the disk is full")
	for _, c := range []struct {
		name     string
		head     string
		sends    int
		space    int64
		refused  bool
		reserved int64 // at most
	}{
		{"a small page", withLengthOf(900), 900, 1000, false, 900},
		{"a large body with a length", withLengthOf(3 << 20), 3 << 20, 4 << 20, false, 3 << 20},
		{"a length for which there is no space", withLengthOf(1 << 30), 0, 4 << 20, true, 0},
		{"a length beyond the size limit counts up to the limit", withLengthOf(1 << 40), 8 << 20, 9 << 20, false, 8 << 20},
		{"a page without a length", untilClose, 100 * kib, 1 << 20, false, 256 * kib},
		{"a large body without a length", untilClose, 5 << 20, 8 << 20, false, 8 << 20},
		{"a body that grows beyond the space", untilClose, 5 << 20, 4 << 20, true, 4 << 20},
		{"no space at all", untilClose, 10, 0, true, 0},
		{"an answer without a body", "HTTP/1.1 204 No Content\r\n\r\n", 0, -1, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, fetch.Options{})
			address := serve(t, answering(c.head+strings.Repeat("x", c.sends), true))
			reserved := int64(0)
			got := get(t, client, fetch.Request{
				URI: parse(t, "http://"+address+"/"), Limits: fetch.Limits{MaxBody: 8 << 20},
				Space: reserving(func(n int64) error {
					if reserved+n > c.space {
						return full
					}
					reserved += n
					return nil
				}),
			})
			if got.Refused != c.refused || errors.Is(got.Misfortune, full) != c.refused {
				t.Fatalf("refused %v, misfortune %v; want refused %v", got.Refused, got.Misfortune, c.refused)
			}
			if reserved > c.reserved || !c.refused && reserved < got.PayloadSize {
				t.Errorf("%d bytes reserved for %d bytes, want at most %d", reserved, got.PayloadSize, c.reserved)
			}
			if !c.refused {
				if want := min(c.sends, 8<<20); got.PayloadSize != int64(want) {
					t.Errorf("%d bytes received, want %d", got.PayloadSize, want)
				}
				return
			}
			if got.Complete || got.Truncated != "" || !got.PayloadDigest.IsZero() || got.Status != 200 {
				t.Errorf("got %+v, want a head alone", got)
			}
			if b := block(t, got); b != c.head || string(got.Head) != c.head || got.BlockDigest != sum(c.head) {
				t.Errorf("block of %d bytes, want the head alone: %.200q", len(b), b)
			}
			if fetch.Idle(client) != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// reserving is a [fetch.Space] made of a function.
type reserving func(n int64) error

func (r reserving) Reserve(n int64) error { return r(n) }
