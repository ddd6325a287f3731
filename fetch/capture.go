package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Capture is one exchange: what was sent, what came back, and what it is. It belongs to the caller, who closes it. The
// readers it gives may be used at the same time as each other, but not while or after it is closed.
type Capture struct {
	URI     uri.URI
	Started time.Time     // before connecting; UTC
	Took    time.Duration // from Started to the last byte
	IP      netip.Addr    // the server; zero if there was no connection, or none with an address

	Request []byte // the exact bytes sent; nil if nothing was sent

	Status int         // HTTP status, or a negative code; see the package comment
	Header http.Header // the parsed head; nil without response
	Head   []byte      // the exact head with its blank line; without response, whatever was received

	BlockSize   int64 // raw bytes of head and body
	PayloadSize int64 // bytes of the body without transfer coding, so far as received
	ContentSize int64 // bytes of the body without content coding, so far as decoded

	BlockDigest   digest.Digest // zero without response
	PayloadDigest digest.Digest // zero unless Complete, and for a 304
	ContentDigest digest.Digest // zero when PayloadDigest is, and if the content coding could not be undone

	Complete   bool       // the body was read to its proper end
	Truncated  Truncation // why not, unless Stopped
	Stopped    bool       // Request.Stop broke off the download; the block is the head alone
	Misfortune error      // why it went wrong, or why a Complete body has no ContentDigest; nil when all went well

	client    *Client
	spool     *spool
	coded     bool // the body has a transfer or content coding
	whole     whole
	maxDecode int64
	undecoded error // why Content has nothing to give
}

// Block reads the exact bytes of the response: head and body as they came. It is empty without response.
func (c *Capture) Block() io.ReadSeeker {
	return io.NewSectionReader(c.spool, 0, c.BlockSize)
}

// Content reads the body without transfer and content coding. It fails with [ErrCoding] if the content coding is unknown
// or was found to be broken. The reader ends with [ErrMaxContent] after MaxContent bytes if there is more, and with
// [io.ErrUnexpectedEOF] where a body that is not Complete breaks off; what comes before is good. It must be closed.
// A small content that came whole is decoded once, and the reader then has a method Bytes that gives it without a copy,
// to be read only, and only until the capture is closed.
func (c *Capture) Content() (io.ReadCloser, error) {
	if c.spool.closed {
		return nil, fmt.Errorf("read content of %s: %w", c.URI, ErrClosed)
	}
	if c.Status < 0 {
		return nil, fmt.Errorf("read content of %s: no response: %w", c.URI, c.Misfortune)
	}
	if errors.Is(c.undecoded, ErrCoding) {
		return nil, fmt.Errorf("read content of %s: %w", c.URI, c.undecoded)
	}
	if c.isWhole() {
		return c.wholeContent()
	}
	return c.stream()
}

// stream decodes the body anew.
func (c *Capture) stream() (io.ReadCloser, error) {
	parser := c.client.codecs.reader(nil)
	body := io.NewSectionReader(c.spool, int64(len(c.Head)), c.BlockSize-int64(len(c.Head)))
	res, err := parse(parser, &feed{body: body}, c.Head)
	if err != nil {
		return nil, fmt.Errorf("read content of %s: %w", c.URI, err)
	}
	decoded, err := c.client.codecs.open(codingsOf(c.Header), &cut{r: res.Body, complete: c.Complete}, c.maxDecode)
	if err != nil {
		return nil, fmt.Errorf("read content of %s: %w", c.URI, err)
	}
	return &contentReader{content: decoded, codecs: c.client.codecs, parser: parser, complete: c.Complete}, nil
}

// Close gives back the memory and the disk space of the response. It may be called again.
func (c *Capture) Close() error {
	if c.whole.buf != nil {
		c.client.wholes.Put(c.whole.buf)
		c.whole.buf = nil
	}
	return c.spool.Close()
}

// cut makes the end of an incomplete body the same error whatever its framing is.
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

// contentReader is what Content gives.
type contentReader struct {
	*content
	codecs   *codecs
	parser   *bufio.Reader
	complete bool
}

// Read reads decoded bytes.
func (r *contentReader) Read(p []byte) (int, error) {
	if r.parser == nil {
		return 0, ErrClosed
	}
	n, err := r.content.Read(p)
	if !r.complete && errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF // the body is cut; its coding is not to blame
	}
	return n, err
}

// Close gives back the decoders. It may be called again.
func (r *contentReader) Close() error {
	if r.parser != nil {
		r.release()
		r.codecs.giveReader(r.parser)
		r.parser = nil
	}
	return nil
}
