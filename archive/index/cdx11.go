package index

import (
	"strconv"
	"strings"
)

// AppendCDX appends the entry to b as a line of CDX with eleven fields, " CDX N b a m s k r M S V g", and its line end.
// An unknown field is "-". The timestamp has 14 digits. As in other CDX files, the digest has no scheme. White space in
// a field is percent-encoded, because it separates fields.
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
		e.Key, e.Timestamp[:min(len(e.Timestamp), len(DateLayout))], e.URL, cutMIME(e.MIME), e.Status, sum, "", "", length,
		strconv.FormatInt(e.Offset, 10), e.Filename,
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
