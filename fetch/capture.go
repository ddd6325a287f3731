package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Capture is the record of one exchange: the request, the response, and how it went. The caller owns and closes it. Its
// readers may be used at the same time, but not while or after it is closed.
type Capture struct {
	URI     uri.URI
	Started time.Time     // before connecting; UTC
	Took    time.Duration // from Started to the last byte
	IP      netip.Addr    // of the server; zero without a connection, or if the connection has no address

	Security *Security             // of the connection; nil without TLS
	HTTP2    bool                  // the exchange was over HTTP/2; Request, Head and the block have the form of HTTP/1.1
	Lookup   []netip.Addr          // what the host name resolved to, also without a connection; nil without a look-up
	TTLs     map[netip.Addr]uint32 // seconds for which DNS servers say that these addresses are valid; nil = not known

	Request []byte // the bytes sent, exact except for secret fields; nil if nothing was sent

	Status int         // HTTP status, or a negative code; see the package comment
	Header http.Header // the parsed head; nil without a response
	Head   []byte      // the exact head with its blank line; without a response, all bytes received

	Repaired    int    // lines of the head that are not valid HTTP and were repaired before it was parsed
	BlockSize   int64  // raw bytes of head and body
	PayloadSize int64  // bytes of the body without transfer coding, as far as received
	ContentSize int64  // bytes of the body without content coding, as far as decoded
	Framing     string // of the body, see [digest.Framing]
	OddFraming  bool   // readers of archives disagree about what the payload is

	BlockDigest   digest.Digest // zero without a response
	PayloadDigest digest.Digest // zero unless Complete, and for a 304
	PrefixDigest  digest.Digest // of the payload as far as received, if Truncated because of its length; otherwise zero
	SHA256        digest.SHA256 // of the payload, as far as received; zero without one
	PartDigest    digest.Digest // of the payload as far as received, if Truncated, but not by invalid chunks; or zero
	ContentDigest digest.Digest // zero if PayloadDigest is, and if the content coding could not be undone

	Complete   bool       // the body was read to its proper end
	Truncated  Truncation // why the body is not Complete, unless Stopped
	Stopped    bool       // Request.Stop ended the download; the block is the head alone
	Repeat     bool       // the server did not process the request: ask again, after the host's rest
	Refused    bool       // Request.Space refused the body; the block is the head alone
	Misfortune error      // what went wrong, or why a Complete body has no ContentDigest; nil if all went well

	client    *Client
	spool     *spool
	whole     whole
	maxDecode int64
	undecoded error // why there is no content
}

// IsHTML reports whether the header says that the content is HTML or XHTML.
func (c *Capture) IsHTML() bool { return digest.IsHTML(c.Header.Get("Content-Type")) }

// Block returns a reader of the exact bytes of the response: head and body as received. It is empty without a response.
func (c *Capture) Block() io.ReadSeeker {
	return io.NewSectionReader(c.spool, 0, c.BlockSize)
}

// InMemory reports whether no byte of the response is on disk.
func (c *Capture) InMemory() bool { return c.spool.file == nil }

// Content returns a reader of the body without transfer and content coding. It fails with [ErrCoding] if the content
// coding is unknown or broken. After MaxContent bytes the reader returns [ErrMaxContent] if there are more. Where a
// body that is not Complete ends, it returns [io.ErrUnexpectedEOF]; the bytes before are good. The reader must be
// closed.
//
// A small content that is whole is decoded only once. Its reader has a method Bytes that returns it without a copy.
// These bytes must not be changed, and must not be used after the capture is closed.
func (c *Capture) Content() (io.ReadCloser, error) {
	if !c.spool.closed && c.Status >= 0 {
		if errors.Is(c.undecoded, ErrCoding) {
			return nil, fmt.Errorf("read content of %s: %w", c.URI, c.undecoded)
		}
		if c.isWhole() {
			return c.wholeContent()
		}
	}
	return c.body("content", digest.ContentCodings(c.Header.Values("Content-Encoding")), c.maxDecode)
}

// Payload returns a reader of the body without transfer coding but with its content coding. PayloadDigest is the
// digest of these bytes. Where a body that is not Complete ends, the reader returns [io.ErrUnexpectedEOF]. It must be
// closed.
func (c *Capture) Payload() (io.ReadCloser, error) { return c.body("payload", nil, math.MaxInt64) }

// body returns a reader of the body, with some content codings undone. what names it in errors.
func (c *Capture) body(what string, codings []string, maxBytes int64) (io.ReadCloser, error) {
	switch {
	case c.spool.closed:
		return nil, fmt.Errorf("read %s of %s: %w", what, c.URI, ErrClosed)
	case c.Status < 0:
		return nil, fmt.Errorf("read %s of %s: no response: %w", what, c.URI, c.Misfortune)
	}
	r := &bodyReader{codecs: c.client.codecs, parser: c.client.codecs.getReader(nil), complete: c.Complete}
	body := io.NewSectionReader(c.spool, int64(len(c.Head)), c.BlockSize-int64(len(c.Head)))
	res, _, err := parse(r.parser, &gatedReader{body: body}, c.Head)
	if err == nil {
		r.content, err = r.codecs.open(codings, &cut{r: res.Body, complete: c.Complete}, maxBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", what, c.URI, err)
	}
	return r, nil
}

// Close releases the memory and the disk space of the response. It may be called again.
func (c *Capture) Close() error {
	if c.whole.buf != nil {
		c.client.wholes.Put(c.whole.buf)
		c.whole.buf = nil
	}
	return c.spool.Close()
}

// cut ends an incomplete body with io.ErrUnexpectedEOF, whatever its framing is.
type cut struct {
	r        io.Reader
	complete bool
}

func (c *cut) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if file := (*fs.PathError)(nil); !c.complete && err != nil && !errors.As(err, &file) && !errors.Is(err, ErrClosed) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// bodyReader reads the body of a capture again.
type bodyReader struct {
	*content
	codecs   *codecs
	parser   *bufio.Reader
	complete bool
}

// Read reads decoded bytes.
func (r *bodyReader) Read(p []byte) (int, error) {
	if r.parser == nil {
		return 0, ErrClosed
	}
	n, err := r.content.Read(p)
	if !r.complete && errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF // the body is cut; its coding is not broken
	}
	return n, err
}

// Close releases the decoders. It may be called again.
func (r *bodyReader) Close() error {
	if r.parser != nil {
		r.release()
		r.codecs.putReader(r.parser)
		r.parser = nil
	}
	return nil
}

// Beginning returns the first bytes of the content, at most limit, as far as they were received. It returns nothing if
// the content coding cannot be undone.
func (c *Capture) Beginning(limit int64) ([]byte, error) {
	content, err := c.Content()
	if errors.Is(err, ErrCoding) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	if all, ok := content.(interface{ Bytes() []byte }); ok {
		return all.Bytes()[:min(int64(len(all.Bytes())), limit)], nil
	}
	b, err := io.ReadAll(io.LimitReader(content, limit))
	if err != nil && !IsIncomplete(err) {
		return nil, fmt.Errorf("read the content again: %w", err)
	}
	return b, nil
}

// IsIncomplete reports whether an error says that the content was received incomplete, which is not a fault of our own.
func IsIncomplete(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrMaxContent) || errors.Is(err, ErrCoding)
}

// maxWhole is the maximum size of a content that is kept decoded until its capture is closed. All readers share it, so
// that it is decoded only once. The bound limits the memory of a visit. Nearly all pages are smaller.
const maxWhole = 256 << 10

// whole is the content of a capture, read once.
type whole struct {
	once sync.Once
	buf  *[]byte // from the client's pool; nil before it is read, and after an error
	err  error
}

// isWhole reports whether the content is kept decoded.
func (c *Capture) isWhole() bool {
	return c.Complete && !c.ContentDigest.IsZero() && c.ContentSize <= maxWhole
}

// wholeContent returns a reader of the decoded content, which the first call decodes.
func (c *Capture) wholeContent() (io.ReadCloser, error) {
	c.whole.once.Do(func() {
		buf := c.client.wholes.Get().(*[]byte)
		*buf, c.whole.err = c.readWhole((*buf)[:0])
		if c.whole.err != nil {
			c.client.wholes.Put(buf)
			return
		}
		c.whole.buf = buf
	})
	if c.whole.err != nil {
		return nil, c.whole.err
	}
	return &wholeReader{Reader: bytes.NewReader(*c.whole.buf), all: *c.whole.buf, capture: c}, nil
}

// readWhole appends the content to b.
func (c *Capture) readWhole(b []byte) ([]byte, error) {
	var from io.Reader = io.NewSectionReader(c.spool, int64(len(c.Head)), c.PayloadSize)
	if c.Framing != "" || c.BlockSize-int64(len(c.Head)) != c.PayloadSize {
		content, err := c.body("content", digest.ContentCodings(c.Header.Values("Content-Encoding")), c.maxDecode)
		if err != nil {
			return b, err
		}
		defer content.Close()
		from = content
	}
	if need := int(c.ContentSize); cap(b) < need {
		b = make([]byte, 0, need)
	}
	b = b[:c.ContentSize]
	n, err := io.ReadFull(from, b)
	return b[:n], err
}

// wholeReader reads a decoded content in memory.
type wholeReader struct {
	*bytes.Reader
	all     []byte
	capture *Capture
	closed  bool
}

// Bytes returns the whole content without a copy. It must not be changed, nor used after the capture is closed.
func (r *wholeReader) Bytes() []byte { return r.all }

// Read reads decoded bytes.
func (r *wholeReader) Read(p []byte) (int, error) {
	if r.closed || r.capture.spool.closed {
		return 0, ErrClosed
	}
	return r.Reader.Read(p)
}

// Close ends reading. It may be called again.
func (r *wholeReader) Close() error {
	r.closed = true
	return nil
}
