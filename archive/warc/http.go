package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/internal/mediatype"
)

// maxHead is the maximum size of an HTTP head that is read, in bytes: the largest value of arcrawl's fetch.max_head.
// Other crawlers stop at 256 KiB or earlier.
const maxHead = 16 << 20

// Head is the head of an HTTP message: its first line and its header.
type Head struct {
	Raw    []byte // the exact bytes, with the empty line
	Status int    // 0 for a request
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
func (h Head) MIME() string { return mediatype.Of(h.contentType()) }

// contentType returns the value of the first Content-Type.
func (h Head) contentType() string {
	const name = "content-type"
	for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
		if at := bytes.IndexByte(line, ':'); at >= len(name) && bytes.EqualFold(bytes.TrimSpace(line[:at]), []byte(name)) {
			return string(bytes.TrimSpace(line[at+1:]))
		}
	}
	return ""
}

// Chunked reports whether the body was sent in chunks.
func (h Head) Chunked() bool {
	const name = "transfer-encoding"
	for line := range bytes.SplitSeq(h.Raw, []byte("\n")) {
		if len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name)) {
			return bytes.Contains(bytes.ToLower(line), []byte("chunked"))
		}
	}
	return false
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
	return httputil.NewChunkedReader(body), true
}

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
	body, _ := head.Payload(in)
	return head, body, nil
}
