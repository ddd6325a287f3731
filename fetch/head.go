package fetch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/arcrawl/arcrawl/internal/panics"
)

// protocol is the beginning of every response head.
const protocol = "HTTP/"

// readHead reads to the end of the final response head, into buf, which it grows as needed. Informational heads before
// it are skipped, but count towards the limit. rest is what was read after the head. With an error, head is everything
// that was received.
func readHead(r io.Reader, buf []byte, limit int64) (head, rest []byte, err error) {
	start, from := 0, 0 // start of this head; where the search for its end continues
	for {
		if !couldBeHTTP(buf[start:]) {
			return buf, nil, errNotHTTP
		}
		end, next := headEnd(buf, from)
		from = next
		if int64(max(end, from)) > limit {
			return buf[:min(int64(len(buf)), limit)], nil, fmt.Errorf("%w: over %d bytes", errMaxHead, limit)
		}
		switch {
		case end > 0 && isInformational(buf[start:end]):
			start, from = end, end
			continue
		case end > 0:
			return buf[start:end], buf[end:], nil
		case err != nil:
			return buf, nil, err
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, cap(buf))
		}
		var n int
		n, err = r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
}

// couldBeHTTP reports whether b is, or may become, the start of a response head.
func couldBeHTTP(b []byte) bool {
	n := min(len(b), len(protocol))
	return strings.EqualFold(string(b[:n]), protocol[:n])
}

// headEnd returns the end of the blank line that ends a head. It searches from an offset that is not inside that line's
// end. If the blank line is not there yet, end is 0 and the search can continue from next when there are more bytes.
func headEnd(b []byte, from int) (end, next int) {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0, len(b)
		}
		line := from + i
		switch after := b[line+1:]; {
		case len(after) == 0, len(after) == 1 && after[0] == '\r':
			return 0, line
		case after[0] == '\n':
			return line + 2, 0
		case after[0] == '\r' && after[1] == '\n':
			return line + 3, 0
		}
		from = line + 1
	}
}

// statusCode returns the three digits after the protocol version, 0 if there are none.
func statusCode(head []byte) int {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	n := 0
	for field := range bytes.FieldsSeq(line) {
		if n++; n < 2 {
			continue
		}
		code, err := strconv.ParseUint(string(field), 10, 16)
		if err != nil || len(field) != 3 || code < 100 {
			return 0
		}
		return int(code)
	}
	return 0
}

// isInformational reports whether another head follows. After 101 another protocol follows; we never request one.
func isInformational(head []byte) bool {
	code := statusCode(head)
	return code >= 100 && code < 200 && code != http.StatusSwitchingProtocols
}

// gatedReader passes a head to the parser, and the body only after the head has been parsed.
type gatedReader struct {
	head []byte
	body io.Reader
	open bool // the head has been parsed
}

func (f *gatedReader) Read(p []byte) (int, error) {
	if len(f.head) > 0 {
		n := copy(p, f.head)
		f.head = f.head[n:]
		return n, nil
	}
	if !f.open {
		return 0, io.ErrUnexpectedEOF
	}
	return f.body.Read(p)
}

// parse parses a complete head through br and f. It returns a response whose Body is the body of f. That Body must
// never be closed, because closing would read it to its end. A head that net/http refuses is parsed again as [clean]
// rewrites it; the connection then ends with the response. repaired is the number of lines that were repaired.
func parse(br *bufio.Reader, f *gatedReader, head []byte) (res *http.Response, repaired int, err error) {
	f.head = head
	br.Reset(f)
	repaired = foldedLines(head)
	if res, err = readResponse(br); err != nil {
		var did repair
		f.head, did = clean(head)
		br.Reset(f)
		if res, err = readResponse(br); err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errNotHTTP, err)
		}
		res.Close, repaired = true, did.lines()
	}
	if res.StatusCode < 100 || br.Buffered() > 0 || len(f.head) > 0 {
		return nil, 0, fmt.Errorf("%w: status line %q", errNotHTTP, res.Status)
	}
	f.open = true
	return res, repaired, nil
}

// readResponse reads a response head. A panic of the parser is an error, so that the head is kept as evidence.
func readResponse(br *bufio.Reader) (*http.Response, error) {
	return panics.Catch(func() (*http.Response, error) { return http.ReadResponse(br, nil) })
}

// repair counts the lines of a head that were repaired before a strict parser could read it.
type repair struct {
	folded  int // lines that continue the line before (RFC 9112, 5.2, does not allow them any more)
	dropped int // lines that are not header fields
	cleaned int // lines with control characters, which became blanks
}

func (r repair) lines() int { return r.folded + r.dropped + r.cleaned }

// foldedLines returns the number of lines that continue the line before.
func foldedLines(head []byte) (n int) {
	for _, fold := range []string{"\n ", "\n\t"} {
		n += bytes.Count(head, []byte(fold))
	}
	return n
}

// clean rewrites a head for a strict parser, in linear time. It drops lines that it does not understand, replaces
// control characters by blanks, and returns nothing if there is no status. The framing follows RFC 9112 section 6.3,
// except that contradictory lengths mean "until the connection ends".
func clean(head []byte) ([]byte, repair) {
	code := statusCode(head)
	if code == 0 {
		return nil, repair{}
	}
	first, fields, _ := strings.Cut(string(head), "\n")
	version := "HTTP/1.1 "
	if strings.HasPrefix(strings.ToUpper(first), "HTTP/1.0") {
		version = "HTTP/1.0 "
	}
	out := make([]byte, 0, len(head)+len(version)+8)
	out = append(strconv.AppendInt(append(out, version...), int64(code), 10), " \r\n"...)
	var did repair
	var lengths, codings []string
	var name, value []byte
	keep := func() {
		switch {
		case len(name) == 0:
		case strings.EqualFold(string(name), "Content-Length"):
			lengths = append(lengths, splitList(string(value))...)
		case strings.EqualFold(string(name), "Transfer-Encoding"):
			codings = append(codings, splitList(string(value))...)
		default:
			out = append(append(append(append(out, name...), ": "...), bytes.TrimSpace(value)...), "\r\n"...)
		}
		name, value = name[:0], value[:0]
	}
	for line := range strings.SplitSeq(fields, "\n") {
		line = strings.TrimRight(line, "\r")
		if folded := strings.TrimLeft(line, " \t"); folded != line && len(name) > 0 {
			did.folded++
			value = appendClean(append(value, ' '), folded, &did)
			continue
		}
		keep()
		n, v, ok := strings.Cut(line, ":")
		if n = strings.TrimRight(n, " \t"); !ok || !httpguts.ValidHeaderFieldName(n) {
			if line != "" {
				did.dropped++
			}
			continue
		}
		name, value = append(name, n...), appendClean(value, v, &did)
	}
	keep()
	if framing := cleanFraming(lengths, codings); framing != "" {
		out = append(append(out, framing...), "\r\n"...)
	}
	return append(out, "\r\n"...), did
}

// appendClean appends a part of a value with blanks in place of control characters.
func appendClean(b []byte, part string, did *repair) []byte {
	found := false
	for i := range len(part) {
		c := part[i]
		if c < ' ' && c != '\t' || c == 0x7f {
			c, found = ' ', true
		}
		b = append(b, c)
	}
	if found {
		did.cleaned++
	}
	return b
}

// isOddlyFramed reports whether a head announces a transfer coding otherwise than HTTP/1.1 with one field "chunked".
// Readers of archives disagree about what the payload is then.
func isOddlyFramed(head []byte) bool {
	plain, codings := bytes.HasPrefix(head, []byte("HTTP/1.1 ")), 0
	for line := range bytes.Lines(head) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("Transfer-Encoding")) {
			codings++
			value = bytes.TrimSpace(value)
			plain = plain && len(bytes.TrimSpace(name)) == len(name) && bytes.EqualFold(value, []byte("chunked"))
		}
	}
	return codings > 1 || codings == 1 && !plain
}

// cleanFraming returns the one field that says where the body ends, or nothing if it ends with the connection.
func cleanFraming(lengths, codings []string) string {
	if len(codings) > 0 {
		if codings[len(codings)-1] == "chunked" {
			return "Transfer-Encoding: chunked"
		}
		return ""
	}
	slices.Sort(lengths)
	if lengths = slices.Compact(lengths); len(lengths) != 1 {
		return ""
	}
	if _, err := strconv.ParseUint(lengths[0], 10, 63); err != nil {
		return ""
	}
	return "Content-Length: " + lengths[0]
}

// splitList returns the tokens of a comma-separated list, in lower case and without empty ones.
func splitList(s string) []string {
	var out []string
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.ToLower(strings.TrimSpace(v)); v != "" {
			out = append(out, v)
		}
	}
	return out
}
