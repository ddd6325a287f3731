package fetch_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
)

// site2 starts a site that knows HTTP/2, and returns its address and a client that accepts its certificate.
func site2(t *testing.T, handle http.HandlerFunc) (address string, c *fetch.Client) {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	trust := &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	return s.URL, newClient(t, fetch.Options{TLS: trust})
}

// server2 is a connection of a server that speaks HTTP/2.
type server2 struct {
	*http2.Framer
	t      *testing.T
	conn   net.Conn
	n      int    // number of the connection, from 1
	stream uint32 // of the last request
}

// frames2 runs handle for each connection over HTTP/2, after the preface and the first SETTINGS of both sides.
func frames2(t *testing.T, handle func(s *server2)) (address string, c *fetch.Client) {
	t.Helper()
	server, client := tlsConfigs(t)
	refuse := server.Clone()
	refuse.NextProtos = []string{"other"}
	server.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if len(h.SupportedProtos) == 1 && h.SupportedProtos[0] == "http/1.1" {
			return refuse, nil
		}
		return nil, nil
	}
	at := serve(t, func(c net.Conn, n int) { begin2(t, c, n, server, "h2", handle) })
	return "https://" + at + "/", newClient(t, fetch.Options{TLS: client})
}

// begin2 begins a connection with HTTP/2, whatever TLS agrees on, and runs handle.
func begin2(t *testing.T, c net.Conn, n int, config *tls.Config, protocol string, handle func(s *server2)) {
	config = config.Clone()
	config.NextProtos = []string{protocol}
	secure := tls.Server(c, config)
	defer secure.Close()
	s := &server2{Framer: http2.NewFramer(secure, secure), t: t, conn: secure, n: n}
	if secure.Handshake() != nil {
		return
	}
	if _, err := io.ReadFull(secure, make([]byte, len(http2.ClientPreface))); err == nil && s.WriteSettings() == nil {
		handle(s)
	}
}

// each2 answers every request of a connection in the same way.
func each2(answer func(s *server2)) func(s *server2) {
	return func(s *server2) {
		for s.asked() {
			answer(s)
		}
	}
}

// asked reads frames up to the next request. It reports whether there is one before the client closes the connection.
func (s *server2) asked() bool {
	for {
		got, err := s.ReadFrame()
		if err != nil {
			return false
		}
		if h, ok := got.(*http2.HeadersFrame); ok {
			s.stream = h.StreamID
			return true
		}
	}
}

// head writes the head of an answer: pairs of names and values.
func (s *server2) head(end bool, pairs ...string) {
	err := s.WriteHeaders(http2.HeadersFrameParam{
		StreamID: s.stream, BlockFragment: block2(s.t, pairs...), EndHeaders: true, EndStream: end,
	})
	if err != nil && !isClosed(err) {
		s.t.Error(err)
	}
}

// ok writes the head of a page.
func (s *server2) ok(end bool) { s.head(end, ":status", "200") }

// data writes a part of a body.
func (s *server2) data(end bool, text string) { _ = s.WriteData(s.stream, end, []byte(text)) }

// batch runs write, and sends all that it writes at once. It reports whether the connection is open.
func (s *server2) batch(write func(s *server2)) bool {
	var together bytes.Buffer
	write(&server2{Framer: http2.NewFramer(&together, nil), t: s.t, stream: s.stream})
	_, err := s.conn.Write(together.Bytes())
	return err == nil
}

func block2(t *testing.T, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		if err := enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}); err != nil {
			t.Error(err)
		}
	}
	return b.Bytes()
}

func isClosed(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func request2(t *testing.T, address string) fetch.Request {
	t.Helper()
	return fetch.Request{URI: parse(t, address), HTTP: fetch.HTTP2}
}

// get2 makes an exchange, which must end with a status.
func get2(t *testing.T, c *fetch.Client, r fetch.Request, status int) *fetch.Capture {
	t.Helper()
	got := get(t, c, r)
	if got.Status != status || got.Repeat {
		t.Errorf("status %d, repeat %t, %v; want %d", got.Status, got.Repeat, got.Misfortune, status)
	}
	return got
}

// page2 gets a page, which must have the given content.
func page2(t *testing.T, c *fetch.Client, address, want string) {
	t.Helper()
	got := get2(t, c, request2(t, address), 200)
	if text, err := contentOf(t, got); text != want || err != nil || !got.Complete || !got.HTTP2 {
		t.Errorf("%d bytes, %.40q, %v, complete %t, %v", len(text), text, err, got.Complete, got.Misfortune)
	}
}

// TestAnAnswerOverHTTP2HasTheFormOfHTTP1 requests pages over one connection: the order of the fields, repeated fields,
// a status without a reason, and a coded body stay; nothing is added.
func TestAnAnswerOverHTTP2HasTheFormOfHTTP1(t *testing.T) {
	t.Parallel()
	page := gzipped(t, strings.Repeat("news ", 100_000))
	address, c := frames2(t, func(s *server2) {
		s.asked()
		s.head(false, ":status", "103", "link", "</a.css>")
		s.head(false, ":status", "299", "set-cookie", "b=2", "x-first", "1", "set-cookie", "a=1",
			"content-encoding", "gzip", "transfer-encoding", "chunked", "a-last", "z")
		for left := page; left != ""; {
			n := min(len(left), 300)
			s.data(false, left[:n])
			left = left[n:]
		}
		s.head(true, "x-trailer", "1")
		s.asked()
		s.head(true, ":status", "404")
		s.asked()
	})
	r := request2(t, address)
	r.Header = []fetch.Field{{Name: "User-Agent", Value: "test"}}
	r.Secrets = []fetch.Field{{Name: "Cookie", Value: "s3cret"}}
	got := get(t, c, r)
	head := "HTTP/1.1 299 \r\nset-cookie: b=2\r\nx-first: 1\r\nset-cookie: a=1\r\n" +
		"content-encoding: gzip\r\na-last: z\r\n\r\n"
	host := strings.TrimSuffix(strings.TrimPrefix(address, "https://"), "/")
	ask := "GET / HTTP/1.1\r\nHost: " + host + "\r\nuser-agent: test\r\ncookie: [redacted]\r\n\r\n"
	if string(got.Head) != head || string(got.Request) != ask || block(t, got) != head+page || got.Repaired != 1 {
		t.Errorf("head %q, request %q, %d bytes, repaired %d", got.Head, got.Request, got.BlockSize, got.Repaired)
	}
	text, err := contentOf(t, got)
	digests := got.PayloadDigest == sum(page) && got.BlockDigest == sum(head+page)
	if !got.HTTP2 || !got.Complete || err != nil || len(text) != 500_000 || !digests {
		t.Errorf("HTTP/2 %t, complete %t, %v, content of %d bytes, digests %t",
			got.HTTP2, got.Complete, err, len(text), digests)
	}
	if got = get(t, c, r); got.Status != 404 || string(got.Head) != "HTTP/1.1 404 Not Found\r\n\r\n" || !got.Complete ||
		got.PayloadSize != 0 || got.PayloadDigest != digest.Digest(sum("")) {
		t.Errorf("over the same connection: %d %q %+v", got.Status, got.Head, got.Misfortune)
	}
}

// TestHTTP2IsUsedAsTheSettingSays requests a page of servers that know both versions or one of them.
func TestHTTP2IsUsedAsTheSettingSays(t *testing.T) {
	t.Parallel()
	both, c := site2(t, func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Proto) })
	only2, c2 := frames2(t, each2(func(s *server2) { s.ok(true) }))
	server, trust := tlsConfigs(t)
	only1 := serve(t, func(k net.Conn, n int) {
		answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false)(tls.Server(k, server), n)
	})
	c1 := newClient(t, fetch.Options{TLS: trust})
	for _, a := range []struct {
		name    string
		client  *fetch.Client
		address string
		set     fetch.HTTP
		status  int
		is2     bool
	}{
		{"both, by default", c, both, "", 200, false},
		{"both, auto", c, both, fetch.AutoHTTP, 200, false},
		{"both, 1.1", c, both, fetch.OnlyHTTP1, 200, false},
		{"both, 2", c, both, fetch.HTTP2, 200, true},
		{"both, auto after 2", c, both, fetch.AutoHTTP, 200, false},
		{"only HTTP/2, by default", c2, only2, "", 200, true},
		{"only HTTP/2, again", c2, only2, "", 200, true},
		{"only HTTP/2, 2", c2, only2, fetch.HTTP2, 200, true},
		{"only HTTP/2, 1.1", c2, only2, fetch.OnlyHTTP1, fetch.ConnectFailed, false},
		{"only HTTP/1.1, 2", c1, "https://" + only1 + "/", fetch.HTTP2, 200, false},
	} {
		got := get(t, a.client, fetch.Request{URI: parse(t, a.address), HTTP: a.set})
		if got.Status != a.status || got.HTTP2 != a.is2 {
			t.Errorf("%s: status %d, HTTP/2 %t, %v", a.name, got.Status, got.HTTP2, got.Misfortune)
		}
	}
}

// TestAServerThatAnswersHTTP1WithFramesIsAskedAgain requests a page of a server that does not look at what TLS offers.
// The first request is repeated later, over HTTP/2, and all others use it at once.
func TestAServerThatAnswersHTTP1WithFramesIsAskedAgain(t *testing.T) {
	t.Parallel()
	server, client := tlsConfigs(t)
	server.NextProtos = nil
	address := serve(t, func(c net.Conn, n int) {
		if n > 1 {
			begin2(t, c, n, server, "h2", each2(func(s *server2) { s.ok(true) }))
			return
		}
		secure := tls.Server(c, server)
		if http2.NewFramer(secure, nil).WriteSettings() == nil {
			_, _ = io.Copy(io.Discard, secure)
		}
	})
	c := newClient(t, fetch.Options{TLS: client})
	r := fetch.Request{URI: parse(t, "https://"+address+"/")}
	if got := get(t, c, r); !got.Repeat {
		t.Errorf("at first: repeat %t, status %d, %v", got.Repeat, got.Status, got.Misfortune)
	}
	for range 2 {
		if got := get2(t, c, r, 200); !got.HTTP2 {
			t.Error("then: not over HTTP/2")
		}
	}
}

// TestAMidfetchAbortResetsTheStream ends a download by its headers. The server learns of it, and the connection is used
// for the next request, with all that was still on its way.
func TestAMidfetchAbortResetsTheStream(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	from := map[string]bool{}
	ended := make(chan error, 1)
	address, c := site2(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr] = true
		mu.Unlock()
		if r.URL.Path == "/next" {
			_, _ = fmt.Fprint(w, "next")
			return
		}
		_, _ = w.Write(make([]byte, 300_000))
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-time.After(time.Minute):
			ended <- errors.New("the stream is not reset")
		}
	})
	r := request2(t, address+"/film")
	r.Stop = func(h fetch.Head) bool { return true }
	if got := get(t, c, r); !got.Stopped || got.Status != 200 || got.BlockSize != int64(len(got.Head)) {
		t.Errorf("stopped %t, status %d, %d bytes", got.Stopped, got.Status, got.BlockSize)
	}
	if err := <-ended; err == nil || err.Error() != "context canceled" {
		t.Errorf("the server sees: %v", err)
	}
	for range 2 {
		page2(t, c, address+"/next", "next")
	}
	if mu.Lock(); len(from) != 1 {
		t.Errorf("%d connections were made", len(from))
	}
	mu.Unlock()
}

// TestABodyAtItsLimitResetsTheStream cuts a body at its maximum, and uses the connection again.
func TestABodyAtItsLimitResetsTheStream(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	address, c := frames2(t, func(s *server2) {
		connections.Add(1)
		each2(func(s *server2) {
			s.ok(false)
			for range 10 {
				s.data(false, strings.Repeat("x", 10_000))
			}
		})(s)
	})
	for range 2 {
		r := request2(t, address)
		r.Limits.MaxBody = 50_000
		got := get(t, c, r)
		if got.Truncated != fetch.TruncatedLength || got.PayloadSize != 50_000 {
			t.Errorf("truncated %q after %d bytes: %v", got.Truncated, got.PayloadSize, got.Misfortune)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestGOAWAYMeansTryAgain lets a server close a connection at each moment that matters.
func TestGOAWAYMeansTryAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		second func(s *server2) // answers the second request over the first connection
		repeat bool
		status int
		want   string
	}{
		{"GOAWAY before the request was processed", func(s *server2) {
			_ = s.WriteGoAway(s.stream-2, http2.ErrCodeNo, nil)
		}, true, 0, ""},
		{"a stream that is refused", func(s *server2) {
			_ = s.WriteRSTStream(s.stream, http2.ErrCodeRefusedStream)
		}, true, 0, ""},
		{"GOAWAY after the request was accepted", func(s *server2) {
			_ = s.WriteGoAway(s.stream, http2.ErrCodeNo, nil)
			s.ok(true)
		}, false, 200, ""},
		{"a connection that ends", func(*server2) {}, true, 0, ""},
		{"a stream that needs HTTP/1.1", func(s *server2) {
			_ = s.WriteRSTStream(s.stream, http2.ErrCodeHTTP11Required)
		}, false, fetch.ConnectionLost, `set fetch.http = "1.1"`},
	} {
		address, c := frames2(t, func(s *server2) {
			for i := 1; s.asked(); i++ {
				if s.n == 1 && i == 2 {
					row.second(s)
					return
				}
				s.ok(true)
			}
		})
		get2(t, c, request2(t, address), 200)
		got := get(t, c, request2(t, address))
		if got.Repeat != row.repeat || !row.repeat && got.Status != row.status ||
			!strings.Contains(fmt.Sprint(got.Misfortune), row.want) {
			t.Errorf("%s: repeat %t, status %d, %v", row.name, got.Repeat, got.Status, got.Misfortune)
		}
		get2(t, c, request2(t, address), 200)
	}
}

// TestAnIdleConnectionThatWasClosedIsNotUsed lets a server close a connection while it is idle. Another one is made
// before anything is sent.
func TestAnIdleConnectionThatWasClosedIsNotUsed(t *testing.T) {
	t.Parallel()
	closed := make(chan bool, 2)
	address, c := frames2(t, func(s *server2) {
		s.asked()
		s.ok(true)
		_ = s.WritePing(false, [8]byte{1})
		if s.n == 1 {
			_ = s.WriteGoAway(s.stream, http2.ErrCodeNo, nil)
			closed <- true
			return
		}
		s.asked()
	})
	get2(t, c, request2(t, address), 200)
	<-closed
	time.Sleep(20 * time.Millisecond) // for the system, which passes the end on
	get2(t, c, request2(t, address), 200)
}

// TestFaultyHTTP2 lets servers break the protocol, flood and stall. Each exchange ends in time, with a status that says
// what happened.
func TestFaultyHTTP2(t *testing.T) {
	t.Parallel()
	endless := func(kind http2.FrameType, stream uint32, payload []byte) func(s *server2) {
		return func(s *server2) { s.flood(kind, s.stream*stream, payload) }
	}
	head := func(pairs ...string) func(s *server2) { return func(s *server2) { s.head(true, pairs...) } }
	for _, row := range []struct {
		name      string
		answer    func(s *server2)
		status    int
		truncated fetch.Truncation
		want      string // in the misfortune
	}{
		{"a head of HTTP/1.1", func(s *server2) {
			_, _ = io.WriteString(s.conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}, fetch.NotHTTP, "", "not HTTP"},
		{"no status", head("a", "b"), fetch.NotHTTP, "", "status"},
		{"a status of two digits", head(":status", "20"), fetch.NotHTTP, "", "status"},
		{"switching protocols", head(":status", "101"), fetch.NotHTTP, "", "status"},
		{"a pushed page", func(s *server2) {
			_ = s.WritePushPromise(http2.PushPromiseParam{
				StreamID: s.stream, PromiseID: 2, BlockFragment: block2(s.t, ":path", "/"), EndHeaders: true,
			})
		}, fetch.NotHTTP, "", "pushes"},
		{"a stream that was not asked for", func(s *server2) { s.stream += 2; s.ok(true) }, fetch.NotHTTP, "", "not asked for"},
		{"data before the head", func(s *server2) { s.data(true, "news") }, fetch.NotHTTP, "", "status"},
		{"a head that is too long", head(":status", "200", "x", strings.Repeat("y", 12_000)), fetch.NotHTTP, "", "too long"},
		{
			"a small block that becomes a long head",
			head(append([]string{":status", "200"}, slices.Repeat([]string{"x", strings.Repeat("y", 3000)}, 4000)...)...),
			fetch.NotHTTP, "", "",
		},
		{"endless CONTINUATION", func(s *server2) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.stream, BlockFragment: block2(s.t, ":status", "200")})
			s.flood(http2.FrameContinuation, s.stream, nil)
		}, fetch.NotHTTP, "", "too much"},
		{"endless SETTINGS", endless(http2.FrameSettings, 0, nil), fetch.NotHTTP, "", "too much"},
		{"endless PING", endless(http2.FramePing, 0, make([]byte, 8)), fetch.NotHTTP, "", "too much"},
		{"endless heads", endless(http2.FrameHeaders, 1, block2(t, ":status", "103")), fetch.NotHTTP, "", "too much"},
		{"endless frames of an unknown kind", endless(0xee, 0, make([]byte, 10_000)), fetch.NotHTTP, "", "too much"},
		{"a frame that is too long", func(s *server2) {
			_, _ = s.conn.Write(frame2(http2.FrameHeaders, s.stream, make([]byte, 100_000)))
		}, fetch.NotHTTP, "", "too large"},
		{"windows that overflow", func(s *server2) { _ = s.WriteWindowUpdate(0, 1<<31-1) }, fetch.NotHTTP, "", "window"},
		{"a stream that is reset", func(s *server2) {
			_ = s.WriteRSTStream(s.stream, http2.ErrCodeInternal)
		}, fetch.ConnectionLost, "", "INTERNAL_ERROR"},
		{"no answer", func(s *server2) { _, _ = io.Copy(io.Discard, s.conn) }, fetch.TimedOut, "", "timed out"},
		{"empty data without end", func(s *server2) {
			s.ok(false)
			s.flood(http2.FrameData, s.stream, nil)
		}, 200, fetch.TruncatedDisconnect, "too much"},
		{"PING instead of the body", func(s *server2) {
			s.ok(false)
			s.flood(http2.FramePing, 0, make([]byte, 8))
		}, 200, fetch.TruncatedDisconnect, "too much"},
		{"a body that is reset", func(s *server2) {
			s.ok(false)
			s.data(false, "new")
			_ = s.WriteRSTStream(s.stream, http2.ErrCodeInternal)
		}, 200, fetch.TruncatedDisconnect, "INTERNAL_ERROR"},
		{"a body that is shorter than announced", func(s *server2) {
			s.head(false, ":status", "200", "content-length", "10")
			s.data(true, "new")
		}, 200, fetch.TruncatedDisconnect, "EOF"},
		{"a body that is longer than announced", func(s *server2) {
			s.head(false, ":status", "200", "content-length", "3")
			s.data(true, "news")
		}, 200, fetch.TruncatedDisconnect, "longer than its Content-Length of 3 bytes"},
		{"a body where none is announced", func(s *server2) {
			s.batch(func(s *server2) {
				s.head(false, ":status", "200", "content-length", "0")
				s.data(true, "news")
			})
		}, 200, fetch.TruncatedDisconnect, "longer than its Content-Length of 0 bytes"},
		{"a body that ends with the connection", func(s *server2) {
			s.ok(false)
			s.data(false, "new")
		}, 200, fetch.TruncatedDisconnect, ""},
		{"a body that stalls", func(s *server2) {
			s.ok(false)
			s.data(false, "new")
			_, _ = io.Copy(io.Discard, s.conn)
		}, 200, fetch.TruncatedTime, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			address, c := frames2(t, func(s *server2) {
				if s.asked() {
					row.answer(s)
				}
			})
			r := request2(t, address)
			r.Limits = fetch.Limits{Headers: time.Minute, Body: time.Minute, MaxHead: 10_000}
			if strings.Contains(row.name, "stall") || strings.Contains(row.name, "no answer") {
				r.Limits.Headers, r.Limits.Body = 200*time.Millisecond, 200*time.Millisecond
			}
			got := get(t, c, r)
			if got.Status != row.status || got.Truncated != row.truncated ||
				!strings.Contains(fmt.Sprint(got.Misfortune), row.want) || got.Misfortune == nil {
				t.Errorf("status %d, truncated %q, %v; want %d, %q, %q",
					got.Status, got.Truncated, got.Misfortune, row.status, row.truncated, row.want)
			}
		})
	}
}

// frame2 returns a frame with the flag that its head ends.
func frame2(kind http2.FrameType, stream uint32, payload []byte) []byte {
	flags := byte(http2.FlagHeadersEndHeaders)
	if kind != http2.FrameHeaders {
		flags = 0
	}
	n := len(payload)
	b := []byte{byte(n >> 16), byte(n >> 8), byte(n), byte(kind), flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// flood sends the same frame until the client closes the connection.
func (s *server2) flood(kind http2.FrameType, stream uint32, payload []byte) {
	many := bytes.Repeat(frame2(kind, stream, payload), 1+10_000/(9+len(payload)))
	go func() { _, _ = io.Copy(io.Discard, s.conn) }()
	for {
		if _, err := s.conn.Write(many); err != nil {
			return
		}
	}
}

// TestABodyOverHTTP2ComesInTime receives a body whose frames take longer than a period of the pace, and cuts one that
// is too slow.
func TestABodyOverHTTP2ComesInTime(t *testing.T) {
	t.Parallel()
	address, c := frames2(t, each2(func(s *server2) {
		s.ok(false)
		part := frame2(http2.FrameData, s.stream, bytes.Repeat([]byte("x"), 1000))
		for pos := 0; pos < len(part); pos += 200 {
			if _, err := s.conn.Write(part[pos:min(pos+200, len(part))]); err != nil {
				return
			}
			time.Sleep(150 * time.Millisecond)
		}
		s.data(true, "")
	}))
	r := request2(t, address)
	r.Limits.Grace, r.Limits.MinRate = 500*time.Millisecond, 1
	if got := get(t, c, r); !got.Complete || got.PayloadSize != 1000 {
		t.Errorf("a slow frame: complete %t, %d bytes, %v", got.Complete, got.PayloadSize, got.Misfortune)
	}
	r.Limits.MinRate = 50_000
	if got := get(t, c, r); got.Truncated != fetch.TruncatedTime || !strings.Contains(got.Misfortune.Error(), "slower") {
		t.Errorf("a body that is too slow: complete %t, %q, %v", got.Complete, got.Truncated, got.Misfortune)
	}
}

// TestAFormOverHTTP2 sends a form that is longer than the first window of the server.
func TestAFormOverHTTP2(t *testing.T) {
	t.Parallel()
	address, c := site2(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %d %v %s", r.Method, len(got), err, r.Header.Get("Content-Type"))
	})
	r := request2(t, address+"/session")
	r.Form = bytes.Repeat([]byte("pa55word"), 400_000)
	got := get(t, c, r)
	text, err := contentOf(t, got)
	if text != "POST 3200000 <nil> application/x-www-form-urlencoded" || err != nil {
		t.Errorf("the site got %s, %v", text, err)
	}
	if bytes.Contains(got.Request, []byte("pa55word")) || !bytes.Contains(got.Request, []byte("\r\n\r\n[redacted]")) {
		t.Errorf("the archive gets %.300q", got.Request)
	}
}

// TestALargeBodyOverHTTP2 receives a body of many windows, spooled to disk.
func TestALargeBodyOverHTTP2(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("0123456789abcdef", 1<<18)
	address, c := site2(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, want) })
	for range 3 {
		page2(t, c, address, want)
	}
}
