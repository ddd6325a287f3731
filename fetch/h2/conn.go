package h2

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

var (
	// ErrProtocol means that the answer is not HTTP/2.
	ErrProtocol = errors.New("the answer is not HTTP/2")
	// ErrReset means that the server ended the exchange before its answer was whole.
	ErrReset = errors.New("the server reset the stream")
	// ErrRefused means that the server says that it did not process the request.
	ErrRefused = errors.New("the server did not process the request")
	// ErrMaxHead means that the head of an answer is too long.
	ErrMaxHead = errors.New("the response head is too long")
)

const (
	window      = 1 << 20   // bytes of data that the server may send ahead
	first       = 65535     // window of both sides before SETTINGS
	frameSize   = 16 << 10  // maximum payload of a frame, in both directions
	tableSize   = 4 << 10   // of the header compression, in both directions
	overhead    = 256 << 10 // bytes of an exchange that are not data; more for each byte of data
	perData     = 10        // bytes of overhead for each byte of data
	maxStream   = 1<<31 - 1 // last number of a stream
	finishAfter = 8         // frames that are looked at for the end of an answer whose body is whole
)

// Conn is one connection. Its methods must not be called at the same time.
type Conn struct {
	from   io.Reader // the connection, or a reader in front of it
	in     *bufio.Reader
	out    *bufio.Writer
	framer *http2.Framer
	block  bytes.Buffer // header block of a request
	enc    *hpack.Encoder
	dec    *hpack.Decoder

	maxFields int64 // of a head, as RFC 9113 counts them

	begun  bool // the preface was sent
	set    bool // the first SETTINGS of the server have come
	goAway bool // the server accepts no further stream
	err    error

	stream  uint32 // of the present or last exchange; 0 = there was none
	answer  http2.Frame
	data    []byte // received and not read yet
	ended   bool   // the server has ended the stream
	unacked int    // bytes of data for which the server has no new window
	left    int64  // bytes that may still come in this exchange without being data
	stale   int64  // bytes of data that may still come of exchanges that were ended early
	half    bool   // the answer came before the body of the request was sent

	sendConn, sendStream, sendFirst int64 // windows for the body of a request
}

// New returns a connection over k, on which nothing was sent yet.
func New(k io.ReadWriter) *Conn {
	c := &Conn{from: k, out: bufio.NewWriter(k), sendConn: first, sendFirst: first, left: overhead}
	c.in = bufio.NewReader(counted{c})
	c.framer = http2.NewFramer(c.out, c.in)
	c.framer.SetMaxReadFrameSize(frameSize)
	c.framer.SetReuseFrames()
	c.dec = hpack.NewDecoder(tableSize, nil)
	c.enc = hpack.NewEncoder(&c.block)
	return c
}

// From has further bytes read from r, which reads from the connection.
func (c *Conn) From(r io.Reader) { c.from = r }

// counted reads the bytes of a connection and counts them.
type counted struct{ c *Conn }

func (r counted) Read(p []byte) (int, error) {
	if r.c.left < 0 {
		return 0, fmt.Errorf("%w: it has too much that is neither head nor body", ErrProtocol)
	}
	n, err := r.c.from.Read(p)
	r.c.left -= int64(n)
	return n, err
}

// Waiting reports whether bytes wait to be read, or the end of the connection. The deadline for reading must be over.
func (c *Conn) Waiting(isTimeout func(error) bool) bool {
	_, err := c.in.Peek(1)
	return err == nil || !isTimeout(err)
}

// Buffered reports whether bytes were received that no frame was read from.
func (c *Conn) Buffered() bool { return c.in.Buffered() > 0 }

// Idle reads one frame between two exchanges. The connection cannot be used again after an error.
func (c *Conn) Idle() error {
	if _, err := c.frame(); err != nil {
		return err
	}
	if c.goAway {
		return ErrRefused
	}
	return c.flush()
}

// frame reads one frame, and does what it asks for. It returns the frame if it belongs to the present answer, else nil.
// An error is permanent.
func (c *Conn) frame() (http2.Frame, error) {
	if c.err != nil {
		return nil, c.err
	}
	f, err := c.take()
	c.err = err
	return f, err
}

func (c *Conn) take() (http2.Frame, error) {
	if c.in.Buffered() == 0 {
		if err := c.flush(); err != nil {
			return nil, err
		}
	}
	f, err := c.framer.ReadFrame()
	if err != nil {
		return nil, c.explain(err)
	}
	settings, ok := f.(*http2.SettingsFrame)
	if !c.set && (!ok || settings.IsAck()) {
		return nil, fmt.Errorf("%w: it does not begin with SETTINGS", ErrProtocol)
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return nil, c.settle(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return nil, c.framer.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		return nil, c.widen(f)
	case *http2.GoAwayFrame:
		if c.goAway = true; f.LastStreamID < c.stream && !c.ended {
			return nil, fmt.Errorf("%w: it closes the connection (%s)", ErrRefused, f.ErrCode)
		}
	case *http2.PushPromiseFrame:
		return nil, fmt.Errorf("%w: it pushes, which was refused", ErrProtocol)
	case *http2.HeadersFrame:
		h, err := c.head(f)
		if err != nil {
			return nil, err
		}
		return c.ofStream(h)
	case *http2.DataFrame, *http2.RSTStreamFrame:
		return c.ofStream(f)
	}
	return nil, nil
}

// ofStream returns a frame if it belongs to the present answer. Others may be left of an exchange that was ended.
func (c *Conn) ofStream(f http2.Frame) (http2.Frame, error) {
	id := f.Header().StreamID
	if id > c.stream || id%2 == 0 {
		return nil, fmt.Errorf("%w: stream %d was not asked for", ErrProtocol, id)
	}
	old := id < c.stream || c.ended
	if data, ok := f.(*http2.DataFrame); ok {
		c.unacked += int(data.Length)
		n := int64(len(data.Data()))
		if old {
			n = min(n, c.stale)
			c.stale -= n
		}
		c.left += perData * n
	}
	if old {
		return nil, c.acknowledge()
	}
	return f, nil
}

// explain returns an error of the framer as one of this package, and an error of the connection as it is.
func (c *Conn) explain(err error) error {
	stream, connection := http2.StreamError{}, http2.ConnectionError(0)
	if errors.Is(err, ErrProtocol) ||
		!errors.As(err, &stream) && !errors.As(err, &connection) && !errors.Is(err, http2.ErrFrameTooLarge) {
		return err
	}
	if detail := c.framer.ErrorDetail(); detail != nil {
		err = detail
	}
	return fmt.Errorf("%w: %w", ErrProtocol, err)
}

// settle applies the settings of the server.
func (c *Conn) settle(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	c.set = true
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		switch s.ID {
		case http2.SettingInitialWindowSize:
			c.sendStream += int64(s.Val) - c.sendFirst
			c.sendFirst = int64(s.Val)
		case http2.SettingHeaderTableSize:
			c.enc.SetMaxDynamicTableSize(min(s.Val, tableSize))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.framer.WriteSettingsAck()
}

// widen makes a window for the body of a request larger.
func (c *Conn) widen(f *http2.WindowUpdateFrame) error {
	to := &c.sendConn
	if f.StreamID == c.stream && c.stream != 0 {
		to = &c.sendStream
	} else if f.StreamID != 0 {
		return nil
	}
	if *to += int64(f.Increment); *to > maxStream {
		return fmt.Errorf("%w: its window is too large", ErrProtocol)
	}
	return nil
}

// acknowledge lets the server send more data when a part of the window was used.
func (c *Conn) acknowledge() error {
	if c.unacked < window/4 {
		return nil
	}
	n := uint32(c.unacked)
	c.unacked = 0
	if err := c.framer.WriteWindowUpdate(0, n); err != nil || c.ended {
		return err
	}
	return c.framer.WriteWindowUpdate(c.stream, n)
}

// flush sends what was written.
func (c *Conn) flush() error {
	if c.out.Buffered() == 0 {
		return nil
	}
	return c.out.Flush()
}

// isInterim reports whether a frame is an informational head, which another head follows.
func isInterim(f http2.Frame) bool {
	h, ok := f.(*head)
	return ok && !h.StreamEnded() && h.code()/100 == 1
}
