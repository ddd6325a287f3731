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

// maxHead is the longest HTTP head that is looked into. Crawlers stop at 256 KiB or earlier.
const maxHead = 512 << 10

// Head is the head of an HTTP message.
type Head struct {
	Raw    []byte // exact bytes with the empty line
	Status int    // 0 of a request
}

// Header parses the fields of the head. Lines without a colon are passed over.
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

// contentType is the first Content-Type, as it stands there.
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

// errNoHead says that a block is no HTTP message.
var errNoHead = errors.New("no HTTP head")

// ReadHead reads an HTTP head as it occurs in archives: lines may end in a bare LF. The body follows in r.
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
			break // the end of a head without a body may be the end of the block
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

// IsHTTP tells whether a record's block is an HTTP message.
func (h Header) IsHTTP() bool {
	t, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";")
	return strings.TrimSpace(t) == "application/http"
}

// headBuffer is enough for most heads. What follows is copied into it as well, which is why it is not larger.
const headBuffer = 1 << 10

// NewHeadReader makes a reader for [readHead], to be reset for each record.
func NewHeadReader() *bufio.Reader { return bufio.NewReaderSize(nil, headBuffer) }

// Payload gives the payload of a message whose head has been read: the body without its transfer encoding (WARC/1.1,
// 6.3.2). Some writers keep the header Transfer-Encoding and take the chunks away; a body without chunks is the
// payload as it is.
func (h Head) Payload(body *bufio.Reader) (_ io.Reader, dechunks bool) {
	if !h.Chunked() || !beginsChunk(body) {
		return body, false
	}
	return httputil.NewChunkedReader(body), true
}

// beginsChunk tells whether a line with the size of a chunk comes next.
func beginsChunk(r *bufio.Reader) bool {
	begin, _ := r.Peek(18)
	digits := 0
	for digits < len(begin) && strings.IndexByte("0123456789abcdefABCDEF", begin[digits]) >= 0 {
		digits++
	}
	rest := bytes.TrimLeft(begin[digits:], " \t")
	return digits > 0 && digits <= 16 && len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n' || rest[0] == ';')
}

// Payload reads the head of a record's block, if it has one, and gives the payload.
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
