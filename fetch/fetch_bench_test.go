package fetch_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// BenchmarkVisit measures an exchange over an idle loopback connection, including record and digests, for a page of
// 15 KB. The metric x-net/http is its duration as a multiple of what net/http takes to read the same page undecoded.
func BenchmarkVisit(b *testing.B) {
	page := strings.Repeat("<p>The quick brown fox jumps over the lazy dog.</p>\n", 295)
	z := gzipped(b, page)
	for _, c := range []struct{ name, answer string }{
		{"plain", withLength("Content-Type: text/html\r\nETag: \"a\"\r\n", page) + page},
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(page[:8000], page[8000:])},
		{"gzip", withLength("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", z) + z},
	} {
		b.Run(c.name, func(b *testing.B) {
			u := "http://" + serve(b, answering(c.answer, false)) + "/"
			client := fetch.New(fetch.Options{Dial: fetch.Guard(loopback)})
			defer client.Close()
			r := fetch.Request{URI: parse(b, u), Header: []fetch.Field{{"User-Agent", "arcrawl"}, {"Accept-Encoding", "gzip"}}}
			ours := func() {
				got, err := client.Fetch(context.Background(), r)
				if err != nil || !got.Complete || got.ContentSize != int64(len(page)) {
					b.Fatalf("Fetch: %v, %+v", err, got)
				}
				got.Close()
			}
			b.SetBytes(int64(len(c.answer)))
			b.ReportAllocs()
			for b.Loop() {
				ours()
			}
			b.StopTimer()
			b.ReportMetric(ratio(ours, netHTTP(b, u), b.N), "x-net/http")
		})
	}
}

// ratio returns the time of a as a multiple of the time of b. It runs them alternately, so that other load on the
// machine affects both.
func ratio(a, b func(), times int) float64 {
	var took [2]time.Duration
	b()
	for range times {
		for i, f := range []func(){a, b} {
			start := time.Now()
			f()
			took[i] += time.Since(start)
		}
	}
	return float64(took[0]) / float64(took[1])
}

// netHTTP returns a function that makes one exchange with net/http.
func netHTTP(b *testing.B, u string) func() {
	b.Helper()
	transport := &http.Transport{DisableCompression: true}
	b.Cleanup(transport.CloseIdleConnections)
	return func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, u, nil)
		must(b, err)
		res, err := transport.RoundTrip(r)
		must(b, err)
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
	}
}
