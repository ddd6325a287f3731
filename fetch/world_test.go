package fetch_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loopback is the network of the servers in these tests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// serve runs handle for each connection to a listener on loopback; n counts the connections from 1. All connections and
// goroutines end with the test.
func serve(t testing.TB, handle func(c net.Conn, n int)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	all.Go(func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				handle(c, n)
			})
		}
	})
	return l.Addr().String()
}

// request reads one request head. ok is false if the client has closed the connection.
func request(r *bufio.Reader) (raw []byte, ok bool) {
	for {
		line, err := r.ReadBytes('\n')
		raw = append(raw, line...)
		if err != nil {
			return raw, false
		}
		if string(line) == "\r\n" {
			return raw, true
		}
	}
}

// answering returns a handler that sends the same answer to each request. If closing is set, it
// closes the connection after the first answer.
func answering(answer string, closing bool) func(net.Conn, int) {
	raw := []byte(answer)
	return func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		for {
			if _, ok := request(r); !ok {
				return
			}
			if _, err := c.Write(raw); err != nil || closing {
				return
			}
		}
	}
}

// inPieces writes s in random pieces.
func inPieces(w io.Writer, s string, rng *rand.Rand) error {
	for len(s) > 0 {
		n := min(len(s), 1+rng.IntN(1+rng.IntN(len(s))))
		if _, err := io.WriteString(w, s[:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// newClient returns a client that may connect to loopback and must leave no spool files behind.
func newClient(t testing.TB, o fetch.Options) *fetch.Client {
	t.Helper()
	if o.Dial == nil {
		o.Dial = fetch.Guard(loopback)
	}
	if o.SpoolDir == "" {
		o.SpoolDir = t.TempDir()
	}
	c := fetch.New(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(o.SpoolDir); err == nil && len(left) > 0 {
			t.Errorf("spool files left behind: %v", left)
		}
	})
	return c
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	must(t, err)
	return u
}

// get makes an exchange that must not return an error.
func get(t testing.TB, c *fetch.Client, r fetch.Request) *fetch.Capture {
	t.Helper()
	got, err := c.Fetch(context.Background(), r)
	if err != nil {
		t.Fatalf("Fetch(%s): %v", r.URI, err)
	}
	t.Cleanup(func() {
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	})
	return got
}

func getFrom(t testing.TB, c *fetch.Client, address string) *fetch.Capture {
	t.Helper()
	return get(t, c, fetch.Request{URI: parse(t, "http://"+address+"/")})
}

func block(t testing.TB, c *fetch.Capture) string {
	t.Helper()
	b, err := io.ReadAll(c.Block())
	if err != nil {
		t.Fatalf("read block: %v", err)
	}
	return string(b)
}

func contentOf(t testing.TB, c *fetch.Capture) (string, error) {
	t.Helper()
	r, err := c.Content()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return string(b), err
}

// sum computes a digest without the packages under test.
func sum(s string) digest.Digest { return sha1.Sum([]byte(s)) }

// tlsConfigs returns the configurations of both ends of a TLS connection to 127.0.0.1.
func tlsConfigs(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	client = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"http/1.1"}}, client
}

func encode(t testing.TB, s string, coder func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := coder(&b)
	must(t, err)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return b.String()
}

func gzipped(t testing.TB, s string) string {
	return encode(t, s, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func zlibbed(t testing.TB, s string) string {
	return encode(t, s, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
}

func deflated(t testing.TB, s string) string {
	return encode(t, s, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 5) })
}

func brotlied(t testing.TB, s string) string {
	return encode(t, s, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil })
}

func zstded(t testing.TB, s string) string {
	return encode(t, s, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	})
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
