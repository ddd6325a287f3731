package warcout

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// stampLayout is the format of WARC-Date, with the microseconds that WARC/1.1 allows.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// recordEnd follows each block.
const recordEnd = "\r\n\r\n"

// record is one WARC record that is not in the file yet.
type record struct {
	kind gowarc.RecordType
	id   string        // "urn:uuid:…"; empty if no other record may refer to it
	text []byte        // the whole record, or its header alone if the block comes from a reader
	from io.Reader     // the block of a response; nil for others
	size int64         // number of bytes in from
	sum  digest.Digest // of the bytes in from
}

// draft is a record that is being composed line by line, as it will be in the file. gowarc's builder and marshaller
// are not used: they clear and rename headers, refuse unusual URIs, which records are about, and take longer than
// compressing a short record.
type draft struct {
	record
	fault error // the first value that a header cannot hold
}

// begin starts a record with the headers that every record has, after the present content of text.
func begin(text []byte, kind gowarc.RecordType, id []byte, date string) draft {
	d := draft{record: record{kind: kind, text: append(text[len(text):], gowarc.V1_1.String()+"\r\n"...)}}
	d.add(gowarc.WarcType, kind.String())
	d.text = append(append(append(d.text, gowarc.WarcRecordID+": <"...), id...), ">\r\n"...)
	d.add(gowarc.WarcDate, date)
	return d
}

// add adds a header.
func (d *draft) add(name, value string) { d.addWithin(name, "", value, "") }

// addIf adds a header unless its value is empty.
func (d *draft) addIf(name, value string) {
	if value != "" {
		d.add(name, value)
	}
}

// addID adds the id of a record.
func (d *draft) addID(name, id string) { d.addWithin(name, "<", id, ">") }

// addWithin adds a header whose value is between two texts.
func (d *draft) addWithin(name, before, value, after string) {
	if d.fault == nil && (value == "" || !FitsHeader(value)) {
		d.fault = fmt.Errorf("%w: %s record: %s: a header cannot hold the value %q", ErrRefused, d.kind, name, value)
	}
	d.text = append(append(append(append(d.text, name...), ": "...), before...), value...)
	d.text = append(append(d.text, after...), "\r\n"...)
}

// addSum adds a digest.
func (d *draft) addSum(name string, sum digest.Digest) {
	d.text = append(append(d.text, name...), ": "...)
	d.text = append(sum.Append(d.text), "\r\n"...)
}

// with ends the record with a block that is in memory. An empty block has no content type.
func (d draft) with(contentType string, block []byte, infoID string) (record, error) {
	d.end(contentType, int64(len(block)), digest.Of(block), infoID)
	d.text = append(append(d.text, block...), recordEnd...)
	return d.record, d.fault
}

// streaming ends the record with a block that is read when the record is written.
func (d draft) streaming(
	contentType string, from io.Reader, size int64, sum digest.Digest, infoID string,
) (record, error) {
	d.end(contentType, size, sum, infoID)
	d.from, d.size, d.sum = from, size, sum
	return d.record, d.fault
}

// end adds the last headers of every record.
func (d *draft) end(contentType string, size int64, sum digest.Digest, infoID string) {
	if size > 0 {
		d.add(gowarc.ContentType, contentType)
	}
	d.addSum(gowarc.WarcBlockDigest, sum)
	if infoID != "" {
		d.addID(gowarc.WarcWarcinfoID, infoID)
	}
	d.text = append(d.text, gowarc.ContentLength+": "...)
	d.text = append(strconv.AppendInt(d.text, size, 10), "\r\n\r\n"...)
}

func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }
