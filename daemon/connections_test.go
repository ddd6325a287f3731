package daemon_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// hold opens n connections from an address, "" for a socket, and sends nothing over them. They stay open until the end
// of the test.
func hold(t *testing.T, n int, network, from, to string) (open func() int) {
	t.Helper()
	d := net.Dialer{Timeout: daemontest.Patience}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	var all []net.Conn
	t.Cleanup(func() {
		for _, c := range all {
			_ = c.Close()
		}
	})
	for range n {
		c, err := d.DialContext(t.Context(), network, to)
		archivetest.Must(t, err)
		all = append(all, c)
	}
	return func() (open int) {
		for _, c := range all {
			archivetest.Must(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open++
			}
		}
		return open
	}
}

// TestIdleConnectionsAreBounded holds hundreds of connections to each listener of a daemon open.
func TestIdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t, func(_, main string) string {
		return main + "[websub]\ncallback = \"https://crawler.library.example/hub\"\nlisten = \"127.0.0.1:0\"\n"
	})
	l.Visited(t)
	l.WaitFor(t, "serving the admin API", "listening for WebSub hubs")
	address := func(pattern string) string {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(l.Text())
		if found == nil {
			t.Fatalf("the log has no %s:\n%s", pattern, l.Text())
		}
		return found[1]
	}
	for _, c := range []struct {
		listener, network, to string
		from                  []string
		most                  int // open ones, from each address of from
	}{
		{"admin.listen", "tcp", address(`"at":"http://([^/]+)/"`), []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}, 128},
		{"websub.listen", "tcp", address(`"listen":"([^"]+)"`), []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}, 128},
		{"admin.socket", "unix", filepath.Join(l.Dir, "state", "admin.sock"), []string{""}, 256},
	} {
		var open []func() int
		for _, from := range c.from {
			open = append(open, hold(t, 2*c.most, c.network, from, c.to))
		}
		asker := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, c.network, c.to)
			},
		}, Timeout: daemontest.Patience}
		answer, err := asker.Get("http://localhost/healthz")
		if err != nil {
			t.Errorf("%s: another client is not served: %v", c.listener, err)
			continue
		}
		_ = answer.Body.Close()
		var sum, most int
		for range 10 { // what is closed takes a moment to arrive
			sum, most = 0, 0
			for _, count := range open {
				n := count()
				sum, most = sum+n, max(most, n)
			}
			if sum <= 256 && most <= c.most {
				break
			}
		}
		if sum < 128 || sum > 256 || most > c.most {
			t.Errorf("%s: %d connections are open, %d from one address; want nearly 256, and %d", c.listener, sum, most, c.most)
		}
	}
}
