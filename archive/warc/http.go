package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/arcrawl/arcrawl/digest"
)

// maxHead is the maximum size of an HTTP head that is read, in bytes: the largest value of arcrawl's fetch.max_head.
// Other crawlers stop at 256 KiB or earlier.
const maxHead = 16 << 20

// Head is the head of an HTTP message: its first line and its header.
type Head struct {
	Raw    []byte     // the exact bytes, with the empty line
	Status int        // 0 for a request
	Server netip.Addr // that sent it; only [StoredMessage] sets it, if the record has WARC-IP-Address
}

// Header returns the header fields. It ignores lines without a colon.
func (h Head) Header() http.Header {
	fields := http.Header{}
	for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			key := textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(string(name)))
			fields[key] = append(fields[key], strings.TrimSpace(string(value)))
		}
	}
	return fields
}

// MIME returns the media type in lower case, without parameters. It is empty if there is none that can be read.
func (h Head) MIME() string {
	for first := range h.values("content-type") {
		return digest.MediaType(first)
	}
	return ""
}

// values returns the values of a header, in their order. Unlike Header it copies no others.
func (h Head) values(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
			at := bytes.IndexByte(line, ':')
			is := at >= len(name) && bytes.EqualFold(bytes.TrimSpace(line[:at]), []byte(name))
			if is && !yield(string(bytes.TrimSpace(line[at+1:]))) {
				return
			}
		}
	}
}

// Chunked reports whether the body was sent in chunks: the last transfer coding is chunked, and the protocol is not
// HTTP/1.0, which has none. Browsers read such bodies in the same way.
func (h Head) Chunked() bool {
	const name = "transfer-encoding"
	if len(h.Raw) < len(name) || bytes.HasPrefix(h.Raw, []byte("HTTP/1.0")) {
		return false
	}
	codings, open := []byte(nil), false // open: the line before belongs to the field
	for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
		folded := len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		is := len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name))
		switch open = is || open && folded; {
		case is:
			codings = append(append(codings, ','), line[len(name)+1:]...)
		case open:
			codings = append(codings, line...)
		}
	}
	codings = bytes.TrimRight(codings, ", \t\r")
	return bytes.EqualFold(bytes.TrimLeft(codings[bytes.LastIndexByte(codings, ',')+1:], " \t\r"), []byte("chunked"))
}

// errNoHead means that a block is not an HTTP message.
var errNoHead = errors.New("no HTTP head")

// ReadHead reads an HTTP head from r, where the body follows. As in many archives, lines may end in a bare LF.
func ReadHead(r *bufio.Reader) (Head, error) {
	var h Head
	for {
		line, err := r.ReadSlice('\n')
		h.Raw = append(h.Raw, line...)
		if errors.Is(err, bufio.ErrBufferFull) && len(h.Raw) <= maxHead {
			continue
		}
		if len(h.Raw) > maxHead {
			return h, fmt.Errorf("%w: longer than %d bytes", errNoHead, maxHead)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 || err != nil {
			break // without a body, a head may end with the block
		}
	}
	first, _, _ := bytes.Cut(h.Raw, []byte("\n"))
	words := strings.SplitN(strings.TrimRight(string(first), "\r"), " ", 3)
	switch {
	case strings.HasPrefix(words[0], "HTTP/") && len(words) > 1:
		h.Status, _ = strconv.Atoi(words[1])
	case len(words) == 3 && strings.HasPrefix(words[2], "HTTP/"):
	default:
		return h, fmt.Errorf("%w: the block begins with %.30q", errNoHead, first)
	}
	return h, nil
}

// IsHTTP reports whether the block of a record is an HTTP message.
func (h Header) IsHTTP() bool {
	t, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";")
	return strings.TrimSpace(t) == "application/http"
}

// headBuffer is enough for most heads, in bytes. It is not larger, because the beginning of the body is copied too.
const headBuffer = 1 << 10

// NewHeadReader returns a reader for [ReadHead]. Reset it for each record.
func NewHeadReader() *bufio.Reader { return bufio.NewReaderSize(nil, headBuffer) }

// Payload returns the payload of a message whose head has been read: the body without its transfer encoding (WARC/1.1,
// section 6.3.2). Some writers remove the chunks and keep the header Transfer-Encoding. So a body that does not begin
// with a chunk is the payload itself. dechunks reports whether chunks are removed.
func (h Head) Payload(body *bufio.Reader) (_ io.Reader, dechunks bool) {
	if !h.Chunked() || !beginsChunk(body) {
		return body, false
	}
	if body.Size() < maxChunkLine {
		body = bufio.NewReaderSize(body, maxChunkLine)
	}
	return httputil.NewChunkedReader(body), true
}

// maxChunkLine is more than the longest line with the size of a chunk that [httputil.NewChunkedReader] reads.
const maxChunkLine = 8 << 10

// beginsChunk reports whether the next line is the size of a chunk.
func beginsChunk(r *bufio.Reader) bool {
	begin, _ := r.Peek(18)
	digits := 0
	for digits < len(begin) && strings.IndexByte("0123456789abcdefABCDEF", begin[digits]) >= 0 {
		digits++
	}
	rest := bytes.TrimLeft(begin[digits:], " \t")
	return digits > 0 && digits <= 16 && len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n' || rest[0] == ';')
}

// payload returns the payload of a message whose head has been read, and notes the framing.
func (rec *Record) payload(h Head, body *bufio.Reader) (_ io.Reader, dechunks bool) {
	payload, dechunks := h.Payload(body)
	if h.Status != http.StatusNotModified {
		rec.Framing = h.Framing(dechunks || h.Chunked() && rec.Header.Type() == "revisit")
	}
	return payload, dechunks
}

// ReadFraming reads the head of an HTTP message, to know its framing. in is the result of [NewHeadReader].
func (rec *Record) ReadFraming(in *bufio.Reader) {
	if !rec.Header.IsHTTP() {
		return
	}
	in.Reset(rec)
	if h, err := ReadHead(in); err == nil {
		rec.payload(h, in)
	}
}

// Payload reads the HTTP head of a block, if the block has one, and returns a reader of the payload.
func (rec *Record) Payload() (Head, io.Reader, error) {
	in := bufio.NewReader(rec)
	if !rec.Header.IsHTTP() {
		return Head{}, in, nil
	}
	head, err := ReadHead(in)
	if err != nil {
		return Head{}, nil, err
	}
	body, _ := rec.payload(head, in)
	return head, body, nil
}

const (
	maxCodings    = 4       // content codings of one payload
	maxZstdWindow = 8 << 20 // the maximum in RFC 9659
)

// UnknownFraming stands for the framing of a body that is not known, and of a head that says nothing about a body.
const UnknownFraming = "?"

// Joins reports whether readers that put the head of a revisit before the body of its original show the payload, as far
// as the framings of both are known. They also show a body without chunks behind a head that announces chunks.
func Joins(revisit, original string) bool {
	return revisit == original || revisit == UnknownFraming || original == UnknownFraming ||
		revisit == strings.TrimSpace(digest.Chunked+" "+original)
}

// Framing returns the framing of a body, see [digest.Framing]. chunked reports whether it is in chunks.
func (h Head) Framing(chunked bool) string {
	return digest.Framing(chunked, digest.ContentCodings(slices.Collect(h.values("content-encoding"))))
}

// Decode returns a reader of a payload without its content codings. An empty payload has none, whatever its head says.
func (h Head) Decode(body io.Reader) (io.Reader, error) {
	codings := digest.ContentCodings(slices.Collect(h.values("content-encoding")))
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings, more than %d", len(codings), maxCodings)
	}
	for i := len(codings) - 1; i >= 0; i-- {
		in := bufio.NewReader(body)
		begin, err := in.Peek(2)
		if len(begin) == 0 && errors.Is(err, io.EOF) {
			return in, nil
		}
		if body, err = undo(codings[i], in, begin); err != nil {
			return nil, fmt.Errorf("%s: %w", codings[i], err)
		}
	}
	return body, nil
}

// errCoding means that a payload has a content coding that cannot be removed.
var errCoding = errors.New("an unknown content coding")

// undo returns a reader without one content coding. begin is the first bytes of in.
func undo(coding string, in *bufio.Reader, begin []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(in)
	case "deflate": // zlib by RFC 9110, but some servers send it without the zlib header
		if len(begin) == 2 && begin[0]&0x0f == 8 && (uint(begin[0])<<8|uint(begin[1]))%31 == 0 {
			return zlib.NewReader(in)
		}
		return flate.NewReader(in), nil
	case "br":
		return brotli.NewReader(in), nil
	case "zstd":
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	return nil, errCoding
}
