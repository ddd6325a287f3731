package index

import (
	"strconv"
	"strings"
)

// AppendCDX adds the entry as a line of CDX with eleven fields, " CDX N b a m s k r M S V g", with its end. What is not known is "-". The
// digest is without its scheme, as CDX has it, and a field never holds white space: it separates them.
func (e Entry) AppendCDX(b []byte) []byte {
	_, sum, ok := strings.Cut(e.Digest, ":")
	if !ok {
		sum = e.Digest
	}
	length := ""
	if e.Length > 0 {
		length = strconv.FormatInt(e.Length, 10)
	}
	fields := [...]string{
		e.Key, e.Timestamp, e.URL, e.MIME, e.Status, sum, "", "", length, strconv.FormatInt(e.Offset, 10), e.Filename,
	}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ' ')
		}
		if f == "" {
			f = "-"
		}
		for _, c := range []byte(f) {
			if c <= ' ' || c == 0x7f {
				b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '\n')
}
