package index

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxLine is the maximum length of a line of an index, in bytes. Longer lines are skipped.
const MaxLine = 1 << 20

// MaxMIME is the maximum length of a media type in an index, in bytes (RFC 6838, 4.2, bounds each half of it). Servers
// send anything as Content-Type.
const MaxMIME = 127

// cutMIME returns a media type as an index has it.
func cutMIME(mime string) string {
	if len(mime) <= MaxMIME {
		return mime
	}
	end := MaxMIME
	for end > MaxMIME-utf8.UTFMax && !utf8.RuneStart(mime[end]) {
		end--
	}
	return strings.TrimSpace(mime[:end])
}

// NewLines returns a scanner of the lines of an index. It skips lines that are longer than [MaxLine].
func NewLines(r io.Reader) *bufio.Scanner { return newLines(r, nil) }

// tailOfLine is the length of the end of a skipped line that is kept, in bytes. It holds the name of a WARC file.
const tailOfLine = 4 << 10

// newLines is NewLines. skipped is called with the last bytes of each line that is skipped, without its line end; nil
// is not called.
func newLines(r io.Reader, skipped func(tail []byte)) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	var tail []byte
	skipping := false
	lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		end := bytes.IndexByte(data, '\n')
		switch {
		case end < 0 && !atEOF && len(data) < MaxLine:
			return 0, nil, nil
		case end < 0 && !atEOF:
			tail = append(tail, data...)
			tail = append(tail[:0], tail[max(0, len(tail)-tailOfLine):]...)
			skipping = true
			return len(data), nil, nil
		case end < 0 && !skipping:
			return bufio.ScanLines(data, atEOF)
		case end < 0:
			end, advance = len(data), len(data)
		default:
			advance = end + 1
		}
		if !skipping {
			return advance, bytes.TrimSuffix(data[:end], []byte("\r")), nil
		}
		tail = append(tail, data[:end]...)
		if skipped != nil {
			skipped(tail)
		}
		tail, skipping = tail[:0], false
		return advance, nil, nil
	})
	return lines
}
