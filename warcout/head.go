package warcout

import "bytes"

// HeadField is the name of the fields that hold the head of a response in a metadata record, one line each, in order.
// With CRLF after each line, and one more, they are the exact bytes of the head.
const HeadField = "responseHead"

// maxHeadInFields is the longest head that is stored in fields. Readers of metadata records expect short ones.
const maxHeadInFields = 8 << 10

// fieldsCanHold reports whether fields can hold a head so that its exact bytes can be made again from them. A reader
// may trim values and join the lines of one, and decode the words of RFC 2047 in it, as WARC/1.1 says. So each line
// must end with CRLF, have no outer blanks and no such words, and be text without control characters.
func fieldsCanHold(head []byte) bool {
	lines, whole := bytes.CutSuffix(head, []byte("\r\n\r\n"))
	if !whole || len(head) > maxHeadInFields || !IsResponse(head) || bytes.Contains(lines, []byte("=?")) {
		return false
	}
	for line := range bytes.SplitSeq(lines, []byte("\r\n")) {
		if len(line) == 0 || !isPlain(line) && !FitsHeader(string(line)) {
			return false
		}
	}
	return true
}

// appendHead appends a head that fields can hold as fields.
func appendHead(block, head []byte) []byte {
	for line := range bytes.SplitSeq(bytes.TrimSuffix(head, []byte("\r\n\r\n")), []byte("\r\n")) {
		block = append(append(block, HeadField+": "...), line...)
		block = append(block, "\r\n"...)
	}
	return block
}
