package warcout

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

var (
	start  = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)
	server = netip.MustParseAddr("192.0.2.7")
)

// page returns a response with a body that the record holds unchanged.
func page(body string) *Response {
	block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return &Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte(body)), PayloadSize: int64(len(body)),
	}
}

// visit returns an ordinary visit with three records.
func visit(address string, r *Response) Visit {
	u, err := uri.Parse(address)
	if err != nil {
		panic(err)
	}
	return Visit{
		URI: u, Date: start, IP: server, Response: r,
		Request:  []byte("GET " + u.RequestTarget() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n"),
		Metadata: []Field{{"hopsFromSeed", "L"}, {"fetchTimeMs", "12"}},
	}
}

// opened is a Writer on a folder, with the repairs that its opening made.
func opened(t testing.TB, o Options) (*Writer, []Repair) {
	t.Helper()
	w, repairs, err := Open(o, start)
	must(t, err)
	t.Cleanup(func() { _ = w.Close(start) })
	return w, repairs
}

// written writes visits to a new folder, closes the writer and returns the records in the folder.
func written(t testing.TB, o Options, visits ...Visit) ([]Written, []kept) {
	t.Helper()
	o.Dir = t.TempDir()
	w, _ := opened(t, o)
	var out []Written
	for _, v := range visits {
		one := mustWrite(t, w, start, v)
		out = append(out, one)
	}
	must(t, w.Close(start))
	return out, readDir(t, o.Dir)
}

// responseOf returns a Response with exactly the given bytes.
func responseOf(block []byte, payload []byte) *Response {
	return &Response{
		Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of(block),
		PayloadDigest: digest.Of(payload), PayloadSize: int64(len(payload)),
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
