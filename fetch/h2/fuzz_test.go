package h2

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// sent is a server that has already sent everything. It counts what it is sent.
type sent struct {
	*bytes.Reader
	got int
}

func (s *sent) Write(p []byte) (int, error) { s.got += len(p); return len(p), nil }

// frames returns what a server sends with a framer, after its settings.
func frames(f *testing.F, write func(*http2.Framer, func(pairs ...string) []byte)) []byte {
	f.Helper()
	var out, block bytes.Buffer
	framer, enc := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7}); err != nil {
		f.Fatal(err)
	}
	write(framer, func(pairs ...string) []byte {
		block.Reset()
		for i := 0; i+1 < len(pairs); i += 2 {
			if err := enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}); err != nil {
				f.Fatal(err)
			}
		}
		return bytes.Clone(block.Bytes())
	})
	return out.Bytes()
}

// answers are beginnings of what servers send.
func answers(f *testing.F) (all [][]byte) {
	head := func(w *http2.Framer, stream uint32, end bool, block []byte) {
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndHeaders: true, EndStream: end})
	}
	for _, write := range []func(*http2.Framer, func(...string) []byte){
		func(w *http2.Framer, fields func(...string) []byte) {
			head(w, 1, false, fields(":status", "103", "link", "</a.css>"))
			head(w, 1, false, fields(":status", "200", "set-cookie", "a=1", "connection", "close", "content-type", "text/html"))
			_ = w.WriteData(1, false, []byte("<p>news"))
			_ = w.WritePing(false, [8]byte{1})
			_ = w.WriteWindowUpdate(0, 1<<20)
			_ = w.WriteWindowUpdate(1, 1<<20)
			_ = w.WriteData(1, true, []byte("</p>"))
			head(w, 3, false, fields(":status", "404", "set-cookie", "a=1"))
			head(w, 3, true, fields("x-trailer", "1"))
		},
		func(w *http2.Framer, fields func(...string) []byte) {
			block := fields(":status", "200", "x", strings.Repeat("y", 300))
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:9]})
			_ = w.WriteContinuation(1, false, block[9:20])
			_ = w.WriteContinuation(1, true, block[20:])
			_ = w.WriteRSTStream(1, http2.ErrCodeRefusedStream)
			_ = w.WriteGoAway(1, http2.ErrCodeNo, []byte("bye"))
		},
		func(w *http2.Framer, fields func(...string) []byte) {
			head(w, 1, true, fields(":status", "200"))
			_ = w.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}, http2.Setting{ID: 0xff, Val: 1})
			_ = w.WriteSettingsAck()
			_ = w.WriteRawFrame(0x10, 0xff, 3, []byte("u=1"))
			_ = w.WritePushPromise(http2.PushPromiseParam{StreamID: 3, PromiseID: 2, EndHeaders: true, BlockFragment: fields(":path", "/")})
		},
		func(*http2.Framer, func(...string) []byte) {},
	} {
		all = append(all, frames(f, write))
	}
	return append(all, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), nil)
}

// FuzzFrames sends arbitrary bytes as the frames of a server, and makes two requests, one with a body. Nothing may
// panic or run without end, each head must be lines that HTTP/1.1 allows, and a body is never longer than what was
// sent.
func FuzzFrames(f *testing.F) {
	for i, a := range answers(f) {
		f.Add(a, uint16(300*i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, answer []byte, body uint16, whole bool) {
		const maxHead = 4 << 10
		server := &sent{Reader: bytes.NewReader(answer)}
		c := New(server)
		r := Request{Method: "GET", Scheme: "https", Authority: "news.example", Path: "/", Body: make([]byte, body)}
		for range 2 {
			if _, err := c.Ask(r, maxHead); err != nil {
				break
			}
			head, _, err := c.Head(maxHead)
			if err != nil {
				break
			}
			text, ends := strings.CutSuffix(string(head), "\r\n\r\n")
			for n, line := range strings.Split(text, "\r\n") {
				name, _, found := strings.Cut(line, ":")
				ok := found && httpguts.ValidHeaderFieldName(name)
				if n == 0 {
					ok = strings.HasPrefix(line, "HTTP/1.1 ")
				}
				if !ok || !ends || strings.ContainsAny(line, "\r\n\x00") || len(head) > maxHead {
					t.Fatalf("the head is %q", head)
				}
			}
			if n, _ := io.Copy(io.Discard, io.LimitReader(c, 1<<20)); n > int64(len(answer)) {
				t.Fatalf("a body of %d bytes from %d", n, len(answer))
			}
			if !c.Finish(whole) {
				break
			}
			r.Body = nil
		}
		if server.got > 1<<17+4*len(answer) {
			t.Fatalf("%d bytes were sent to a server that sent %d", server.got, len(answer))
		}
	})
}
