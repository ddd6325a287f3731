package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/arcrawl/arcrawl/fetch"
)

// TestDataOfAnEndedExchangeHasABound asks for a second page of a server that sends data of the first one without end.
func TestDataOfAnEndedExchangeHasABound(t *testing.T) {
	t.Parallel()
	address, c := frames2(t, func(s *server2) {
		s.asked()
		s.ok(true)
		if first := s.stream; s.asked() {
			s.flood(http2.FrameData, first, make([]byte, 10_000))
		}
	})
	r := request2(t, address)
	r.Limits = fetch.Limits{Headers: 5 * time.Second}
	get2(t, c, r, 200)
	if got := get2(t, c, r, fetch.NotHTTP); !strings.Contains(fmt.Sprint(got.Misfortune), "too much") {
		t.Errorf("the second page: %v", got.Misfortune)
	}
}

// TestTheLateEndOfAWholeBodyIsNoReset asks for two pages of a server that sends the end of a body after all its bytes.
// The late end belongs to no answer, and the server sees no reset of a stream, which many count as an attack.
func TestTheLateEndOfAWholeBodyIsNoReset(t *testing.T) {
	t.Parallel()
	resets := make(chan int, 1)
	address, c := frames2(t, func(s *server2) {
		count := 0
		for got, err := s.ReadFrame(); err == nil; got, err = s.ReadFrame() {
			switch got := got.(type) {
			case *http2.RSTStreamFrame:
				count++
			case *http2.HeadersFrame:
				if s.stream != 0 {
					s.data(true, "")
				}
				s.stream = got.StreamID
				s.head(false, ":status", "200", "content-length", "5")
				s.data(false, "hello")
			}
		}
		resets <- count
	})
	for range 3 {
		page2(t, c, address, "hello")
	}
	must(t, c.Close())
	if n := <-resets; n != 0 {
		t.Errorf("the server sees %d resets", n)
	}
}

// TestAnEarlyHintDoesNotEndAForm sends a form to a server that sends an informational head before it has room for all
// of the form.
func TestAnEarlyHintDoesNotEndAForm(t *testing.T) {
	t.Parallel()
	const size = 100_000 // more than the first window
	address, c := frames2(t, func(s *server2) {
		s.asked()
		s.head(false, ":status", "103", "link", "</a.css>")
		_ = s.WriteWindowUpdate(0, size)
		_ = s.WriteWindowUpdate(s.stream, size)
		received := 0
		for got, err := s.ReadFrame(); err == nil; got, err = s.ReadFrame() {
			if data, ok := got.(*http2.DataFrame); ok {
				if received += len(data.Data()); data.StreamEnded() {
					s.head(true, ":status", "200", "x-received", fmt.Sprint(received))
				}
			}
		}
	})
	r := request2(t, address)
	r.Form = bytes.Repeat([]byte("x"), size)
	r.Limits = fetch.Limits{Headers: 5 * time.Second}
	if got := get2(t, c, r, 200); got.Header.Get("X-Received") != fmt.Sprint(size) {
		t.Errorf("received %s", got.Header.Get("X-Received"))
	}
}

// TestAnAnswerBeforeTheFormIsSentResetsTheStream sends a form to a server that refuses it at its beginning.
func TestAnAnswerBeforeTheFormIsSentResetsTheStream(t *testing.T) {
	t.Parallel()
	reset := make(chan bool, 1)
	address, c := frames2(t, func(s *server2) {
		s.asked()
		s.head(true, ":status", "413")
		isReset := false
		for got, err := s.ReadFrame(); err == nil && !isReset; got, err = s.ReadFrame() {
			_, isReset = got.(*http2.RSTStreamFrame)
		}
		reset <- isReset
	})
	r := request2(t, address)
	r.Form = bytes.Repeat([]byte("x"), 100_000)
	get2(t, c, r, 413)
	_ = c.Close()
	if !<-reset {
		t.Error("the server still waits for the rest of the form")
	}
}

// TestAServerThatNoLongerKnowsHTTP2IsReached asks a server that first refuses HTTP/1.1, and then HTTP/2.
func TestAServerThatNoLongerKnowsHTTP2IsReached(t *testing.T) {
	t.Parallel()
	server, client := tlsConfigs(t)
	address := serve(t, func(c net.Conn, n int) {
		switch n {
		case 1:
			begin2(t, c, n, server, "other", func(*server2) {})
		case 2:
			begin2(t, c, n, server, "h2", func(s *server2) {
				s.asked()
				_ = s.WriteGoAway(s.stream, http2.ErrCodeNo, nil)
				s.ok(true)
				s.asked() // until the client closes the connection
			})
		default:
			answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true)(tls.Server(c, server), n)
		}
	})
	c := newClient(t, fetch.Options{TLS: client})
	r := fetch.Request{URI: parse(t, "https://"+address+"/")}
	for _, is2 := range []bool{true, false, false} {
		if got := get2(t, c, r, 200); got.HTTP2 != is2 {
			t.Errorf("HTTP/2 %t, want %t", got.HTTP2, is2)
		}
	}
}

// TestFieldsThatHTTP2ForbidsAreRepaired gets a page whose head has invalid bytes. As over HTTP/1.1 it is archived,
// and the number of such fields is evidence. No field can end a line or change where the body ends.
func TestFieldsThatHTTP2ForbidsAreRepaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value, want string
	}{
		{"x", "a\r\ntransfer-encoding: chunked", "x: a  transfer-encoding: chunked\r\n"},
		{"x", "a\x00b", "x: a b\r\n"},
		{"x", "a\x7f", "x: a \r\n"},
		{"X-Y", "a", "X-Y: a\r\n"},
		{"Transfer-Encoding", "chunked", ""},
		{"x y", "a", ""},
		{"", "a", ""},
		{"x\r\ny", "a", ""},
		{":path", "/", ""},
		{":status", "404", ""},
	} {
		address, client := frames2(t, each2(func(s *server2) {
			s.head(false, ":status", "200", "a", "1", c.name, c.value, "latin", "\xe9\t\xe8")
			s.data(true, "news")
		}))
		for range 2 {
			got := get(t, client, request2(t, address))
			text, err := contentOf(t, got)
			head := "HTTP/1.1 200 OK\r\na: 1\r\n" + c.want + "latin: \xe9\t\xe8\r\n\r\n"
			if string(got.Head) != head || got.Repaired != 1 || text != "news" || err != nil || !got.Complete {
				t.Errorf("%q: %q: status %d, head %q, repaired %d, content %q, %v, %v",
					c.name, c.value, got.Status, got.Head, got.Repaired, text, err, got.Misfortune)
			}
		}
	}
}

// TestAnIdleConnectionIsLeftWhenTheVisitEnds lets a server send a part of a frame while its connection is idle. A visit
// that is ended meanwhile does not wait for the rest, which would take seconds. A busy machine gets three tries.
func TestAnIdleConnectionIsLeftWhenTheVisitEnds(t *testing.T) {
	t.Parallel()
	const rest = 5 * time.Second // that a visit waits for frames
	took := rest
	for try := 0; try < 3 && took >= rest; try++ {
		sent := make(chan bool, 9)
		address, c := frames2(t, func(s *server2) {
			s.asked()
			s.ok(true)
			_, _ = s.conn.Write([]byte{0, 0, 8})
			sent <- true
			_, _ = io.Copy(io.Discard, s.conn)
		})
		get2(t, c, request2(t, address), 200)
		<-sent
		ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		got, err := c.Fetch(ctx, request2(t, address))
		took = time.Since(began)
		end()
		if err == nil {
			t.Errorf("the visit got status %d", got.Status)
		}
	}
	if took >= rest {
		t.Errorf("the visit ended after %s", took)
	}
}

// TestDataAfterTheEndOfAStreamIsIgnored receives pages whose streams continue after their end. None of it becomes part
// of a page, of the same stream or of the next one.
func TestDataAfterTheEndOfAStreamIsIgnored(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(s *server2){
		"data":         func(s *server2) { s.data(false, "more") },
		"data and end": func(s *server2) { s.data(true, "more") },
		"a head":       func(s *server2) { s.head(true, ":status", "500") },
		"a reset":      func(s *server2) { _ = s.WriteRSTStream(s.stream, http2.ErrCodeInternal) },
		"a window":     func(s *server2) { _ = s.WriteWindowUpdate(s.stream, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, c := frames2(t, each2(func(s *server2) {
				s.batch(func(s *server2) {
					s.ok(false)
					s.data(true, "news")
					late(s)
				})
			}))
			for range 4 {
				page2(t, c, address, "news")
			}
		})
	}
}
