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
	address, c := frames2(t, func(f *http2.Framer, k net.Conn, _ int) {
		stream := asked2(f)
		head2(t, f, stream, true, ":status", "200")
		if asked2(f) != 0 {
			flood(k, http2.FrameData, stream, make([]byte, 10_000))
		}
	})
	r := request2(t, address)
	r.Limits = fetch.Limits{Headers: 5 * time.Second}
	if got := get(t, c, r); got.Status != 200 {
		t.Fatalf("the first page: status %d, %v", got.Status, got.Misfortune)
	}
	got := get(t, c, r)
	if got.Status != fetch.NotHTTP || !strings.Contains(fmt.Sprint(got.Misfortune), "too much") {
		t.Errorf("the second page: status %d, %v", got.Status, got.Misfortune)
	}
}

// TestTheLateEndOfAWholeBodyIsNoReset asks for two pages of a server that sends the end of a body after all its bytes.
// The late end belongs to no answer, and the server sees no reset of a stream, which many count as an attack.
func TestTheLateEndOfAWholeBodyIsNoReset(t *testing.T) {
	t.Parallel()
	resets := make(chan int, 1)
	address, c := frames2(t, func(f *http2.Framer, _ net.Conn, _ int) {
		count, last := 0, uint32(0)
		for {
			got, err := f.ReadFrame()
			if err != nil {
				break
			}
			switch got := got.(type) {
			case *http2.RSTStreamFrame:
				count++
			case *http2.HeadersFrame:
				if last != 0 {
					_ = f.WriteData(last, true, nil)
				}
				last = got.StreamID
				head2(t, f, last, false, ":status", "200", "content-length", "5")
				_ = f.WriteData(last, false, []byte("hello"))
			}
		}
		resets <- count
	})
	for range 3 {
		got := get(t, c, request2(t, address))
		if text, err := contentOf(t, got); text != "hello" || err != nil || !got.Complete {
			t.Errorf("got %q, complete %t, %v", text, got.Complete, err)
		}
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
	address, c := frames2(t, func(f *http2.Framer, _ net.Conn, _ int) {
		stream := asked2(f)
		head2(t, f, stream, false, ":status", "103", "link", "</a.css>")
		_ = f.WriteWindowUpdate(0, size)
		_ = f.WriteWindowUpdate(stream, size)
		received := 0
		for {
			got, err := f.ReadFrame()
			if err != nil {
				return
			}
			if data, ok := got.(*http2.DataFrame); ok {
				if received += len(data.Data()); data.StreamEnded() {
					break
				}
			}
		}
		head2(t, f, stream, true, ":status", "200", "x-received", fmt.Sprint(received))
	})
	r := request2(t, address)
	r.Form = bytes.Repeat([]byte("x"), size)
	r.Limits = fetch.Limits{Headers: 5 * time.Second}
	if got := get(t, c, r); got.Status != 200 || got.Header.Get("X-Received") != fmt.Sprint(size) {
		t.Errorf("status %d, received %s, %v", got.Status, got.Header.Get("X-Received"), got.Misfortune)
	}
}

// TestAnAnswerBeforeTheFormIsSentResetsTheStream sends a form to a server that refuses it at its beginning.
func TestAnAnswerBeforeTheFormIsSentResetsTheStream(t *testing.T) {
	t.Parallel()
	reset := make(chan bool, 1)
	address, c := frames2(t, func(f *http2.Framer, _ net.Conn, _ int) {
		head2(t, f, asked2(f), true, ":status", "413")
		for {
			got, err := f.ReadFrame()
			if err != nil {
				reset <- false
				return
			}
			if _, ok := got.(*http2.RSTStreamFrame); ok {
				reset <- true
				return
			}
		}
	})
	r := request2(t, address)
	r.Form = bytes.Repeat([]byte("x"), 100_000)
	if got := get(t, c, r); got.Status != 413 {
		t.Errorf("status %d, %v", got.Status, got.Misfortune)
	}
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
		config := server.Clone()
		switch n {
		case 1:
			config.NextProtos = []string{"other"}
		case 2:
			config.NextProtos = []string{"h2"}
		}
		secure := tls.Server(c, config)
		defer secure.Close()
		if secure.Handshake() != nil {
			return
		}
		if n > 2 {
			_, _ = secure.Read(make([]byte, 4096))
			_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		_, _ = io.ReadFull(secure, make([]byte, len(http2.ClientPreface)))
		f := http2.NewFramer(secure, secure)
		_ = f.WriteSettings()
		stream := asked2(f)
		_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
		head2(t, f, stream, true, ":status", "200")
		asked2(f) // until the client closes the connection
	})
	c := newClient(t, fetch.Options{TLS: client})
	r := fetch.Request{URI: parse(t, "https://"+address+"/")}
	if got := get(t, c, r); got.Status != 200 || !got.HTTP2 {
		t.Fatalf("at first: status %d, HTTP/2 %t, %v", got.Status, got.HTTP2, got.Misfortune)
	}
	for range 2 {
		if got := get(t, c, r); got.Status != 200 || got.HTTP2 {
			t.Errorf("then: status %d, HTTP/2 %t, %v", got.Status, got.HTTP2, got.Misfortune)
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
		address, client := frames2(t, func(f *http2.Framer, _ net.Conn, _ int) {
			for stream := asked2(f); stream != 0; stream = asked2(f) {
				head2(t, f, stream, false, ":status", "200", "a", "1", c.name, c.value, "latin", "\xe9\t\xe8")
				_ = f.WriteData(stream, true, []byte("news"))
			}
		})
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
		address, c := frames2(t, func(f *http2.Framer, k net.Conn, _ int) {
			stream := asked2(f)
			head2(t, f, stream, true, ":status", "200")
			_, _ = k.Write([]byte{0, 0, 8})
			sent <- true
			_, _ = io.Copy(io.Discard, k)
		})
		if got := get(t, c, request2(t, address)); got.Status != 200 {
			t.Fatalf("at first: status %d, %v", got.Status, got.Misfortune)
		}
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
	for name, late := range map[string]func(f *http2.Framer, stream uint32){
		"data":         func(f *http2.Framer, stream uint32) { _ = f.WriteData(stream, false, []byte("more")) },
		"data and end": func(f *http2.Framer, stream uint32) { _ = f.WriteData(stream, true, []byte("more")) },
		"a head":       func(f *http2.Framer, stream uint32) { head2(t, f, stream, true, ":status", "500") },
		"a reset":      func(f *http2.Framer, stream uint32) { _ = f.WriteRSTStream(stream, http2.ErrCodeInternal) },
		"a window":     func(f *http2.Framer, stream uint32) { _ = f.WriteWindowUpdate(stream, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, c := frames2(t, func(in *http2.Framer, k net.Conn, _ int) {
				for {
					var together bytes.Buffer
					f := http2.NewFramer(&together, nil)
					stream := asked2(in)
					if stream == 0 {
						return
					}
					head2(t, f, stream, false, ":status", "200")
					_ = f.WriteData(stream, true, []byte("news"))
					late(f, stream)
					if _, err := k.Write(together.Bytes()); err != nil {
						return
					}
				}
			})
			for range 4 {
				got := get(t, c, request2(t, address))
				if text, err := contentOf(t, got); text != "news" || err != nil || got.Status != 200 || !got.Complete {
					t.Errorf("status %d, %q, %v, complete %t, %v", got.Status, text, err, got.Complete, got.Misfortune)
				}
			}
		})
	}
}
