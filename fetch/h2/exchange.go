package h2

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Request is one request.
type Request struct {
	Method, Scheme, Authority, Path string

	Fields []Field // with names in lower case, in this order
	Body   []byte  // nil = none
}

// Field is a header field of a request. A secret one is never put into the tables of the header compression.
type Field struct {
	Name, Value string
	Secret      bool
}

// Ask sends a request. sent reports whether any byte of it may have reached the server. maxHead is the maximum length
// of the head of the answer.
func (c *Conn) Ask(r Request, maxHead int64) (sent bool, err error) {
	if c.err != nil {
		return false, c.err
	}
	if c.stream >= maxStream-1 || c.goAway {
		return false, ErrRefused
	}
	c.left = overhead + 2*maxHead
	c.maxFields = min(2*maxHead, 1<<30) // counts 32 bytes more for each field
	c.dec.SetMaxStringLength(int(c.maxFields))
	if c.err = c.begin(); c.err != nil {
		return false, c.err
	}
	if c.stream == 0 {
		c.stream = 1
	} else {
		c.stream += 2
	}
	c.answer, c.data, c.ended, c.half, c.sendStream = nil, nil, false, false, c.sendFirst
	if c.err = c.send(r); c.err == nil {
		c.err = c.flush()
	}
	return true, c.err
}

// begin sends the preface of the connection, once.
func (c *Conn) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	if _, err := c.out.WriteString(http2.ClientPreface); err != nil {
		return err
	}
	err := c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: window},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(c.maxFields)},
	)
	if err != nil {
		return err
	}
	return c.framer.WriteWindowUpdate(0, window-first)
}

// send writes the frames of a request.
func (c *Conn) send(r Request) error {
	c.block.Reset()
	fields := append([]Field{
		{Name: ":method", Value: r.Method},
		{Name: ":scheme", Value: r.Scheme},
		{Name: ":authority", Value: r.Authority},
		{Name: ":path", Value: r.Path},
	}, r.Fields...)
	for _, f := range fields {
		if err := c.enc.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: f.Secret}); err != nil {
			return err
		}
	}
	block := c.block.Bytes()
	part := block[:min(len(block), frameSize)]
	err := c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: part, EndHeaders: len(part) == len(block), EndStream: len(r.Body) == 0,
	})
	for block = block[len(part):]; err == nil && len(block) > 0; block = block[len(part):] {
		part = block[:min(len(block), frameSize)]
		err = c.framer.WriteContinuation(c.stream, len(part) == len(block), part)
	}
	if err != nil {
		return err
	}
	return c.sendBody(r.Body)
}

// sendBody writes the body of a request, as fast as the windows allow. It ends early if the answer comes before.
func (c *Conn) sendBody(body []byte) error {
	for len(body) > 0 {
		n := min(int64(len(body)), frameSize, c.sendConn, c.sendStream)
		if n <= 0 {
			f, err := c.frame()
			if err != nil {
				return err
			}
			if f == nil || isInterim(f) {
				continue
			}
			c.answer, c.half = f, true
			return nil
		}
		if err := c.framer.WriteData(c.stream, n == int64(len(body)), body[:n]); err != nil {
			return err
		}
		body, c.sendConn, c.sendStream = body[n:], c.sendConn-n, c.sendStream-n
	}
	return nil
}

// Head returns the head of the answer in the form of HTTP/1.1, and how many of its fields were dropped or repaired.
func (c *Conn) Head(maxHead int64) (text []byte, repaired int, err error) {
	for {
		f, err := c.next()
		if err != nil {
			return nil, 0, err
		}
		h, ok := f.(*head)
		code := 0
		if ok {
			code = h.code()
		}
		switch {
		case ok && h.truncated:
			return nil, 0, c.fail(fmt.Errorf("%w: over %d bytes", ErrMaxHead, maxHead))
		case code == 0 || code == http.StatusSwitchingProtocols || code < 200 && h.StreamEnded():
			return nil, 0, c.fail(fmt.Errorf("%w: it does not begin with a status", ErrProtocol))
		case code < 200: // informational: another head follows
			continue
		}
		c.ended = h.StreamEnded()
		if text = h.form(code); int64(len(text)) > maxHead {
			return nil, 0, c.fail(fmt.Errorf("%w: over %d bytes", ErrMaxHead, maxHead))
		}
		return text, h.repaired, nil
	}
}

// fail ends the connection with an error.
func (c *Conn) fail(err error) error {
	c.err = err
	return err
}

// next returns the next frame of the answer.
func (c *Conn) next() (f http2.Frame, err error) {
	f, c.answer = c.answer, nil
	for f == nil {
		if f, err = c.frame(); err != nil {
			return nil, err
		}
	}
	reset, ok := f.(*http2.RSTStreamFrame)
	if !ok {
		return f, nil
	}
	c.ended = true
	switch reset.ErrCode {
	case http2.ErrCodeRefusedStream:
		return nil, ErrRefused
	case http2.ErrCodeHTTP11Required:
		return nil, fmt.Errorf(`%w: it requires HTTP/1.1 for this address; set fetch.http = "1.1" for it`, ErrReset)
	}
	return nil, fmt.Errorf("%w (%s)", ErrReset, reset.ErrCode)
}

// Read returns bytes of the body, and [io.EOF] where the server ended it.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.data) == 0 {
		if c.ended {
			if c.err == nil {
				return 0, io.EOF
			}
			return 0, c.err
		}
		f, err := c.next()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // only the server ends a body, with a flag
		}
		if err != nil {
			return 0, c.fail(err)
		}
		c.body(f)
	}
	n := copy(p, c.data)
	if c.data = c.data[n:]; len(c.data) == 0 {
		if err := c.acknowledge(); err != nil {
			return n, c.fail(err)
		}
	}
	return n, nil
}

// body takes a frame of the body: data, or the trailers behind it.
func (c *Conn) body(f http2.Frame) {
	switch f := f.(type) {
	case *http2.DataFrame:
		c.data, c.ended = f.Data(), f.StreamEnded()
	case *head:
		c.ended = f.StreamEnded()
	}
}

// Excess reports whether the server has sent data beyond what Read has returned. It does not wait for a frame of which
// nothing has arrived; the rest of one that has begun is read, until the deadline of the connection.
func (c *Conn) Excess() bool {
	for i := 0; !c.ended && c.err == nil && len(c.data) == 0 && c.Buffered() && i < finishAfter; i++ {
		if f, err := c.frame(); err == nil && f != nil {
			if _, reset := f.(*http2.RSTStreamFrame); reset {
				c.ended = true
			}
			c.body(f)
		}
	}
	return len(c.data) > 0
}

// Finish ends the exchange, with RST_STREAM if the answer is not over. whole says that its body is whole: then only
// the flag that ends it can be missing, and a server that sends it late sees no RST_STREAM, which it may count as an
// attack. Finish reports whether the connection can be used again.
func (c *Conn) Finish(whole bool) (again bool) {
	c.ended = c.ended || whole && !c.Excess()
	c.data = nil
	if c.err == nil && (!c.ended || c.half) {
		if !c.ended {
			c.stale += window
		}
		c.ended, c.half = true, false
		c.err = c.framer.WriteRSTStream(c.stream, http2.ErrCodeCancel)
	}
	if c.err == nil {
		c.err = c.flush()
	}
	return c.err == nil && !c.goAway
}
