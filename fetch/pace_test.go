package fetch_test

import (
	"bufio"
	"context"
	"crypto/tls"
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
