package depend

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// The kinds of lines, and the widths of their fields. The fields have no separators. Numbers are in base 36.
const (
	byFile, byMoment, byDigest, onlyID = "f", "o", "d", "x"

	numberWidth = 5
	offsetWidth = 9
	secondWidth = 7
	microWidth  = 4
	uriWidth    = 12
	digestWidth = 16
	noDigest    = "----------------"
)

// moment names a capture by the hash of its URI and its date.
type moment struct {
	uri    string // hash
	second int64
	micro  int64
}

func momentOf(uri string, date time.Time) moment {
	return moment{hashOf(uri, uriWidth), date.Unix(), int64(date.Nanosecond()) / 1000}
}

// hashOf returns the beginning of the hash of a text, in letters.
func hashOf(text string, width int) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:width]
}

// capture is one capture of a file.
type capture struct {
	file    uint32 // number
	offset  int64
	date    time.Time
	digest  string // hash of the payload digest
	revisit bool
	to      moment // of the original, for a revisit; zero if the revisit does not say it
	uri     string
}

func (c capture) moment() moment { return momentOf(c.uri, c.date) }

// captureOf returns the capture in a record. digest is the payload digest, which the header may lack.
func captureOf(h warc.Header, offset int64, digest string) (capture, bool) {
	c := capture{offset: offset, date: h.Date(), digest: noDigest, uri: clean(h.Target()), revisit: h.Type() == "revisit"}
	if kind := h.Type(); kind != "response" && kind != "resource" && !c.revisit || c.date.IsZero() {
		return c, false
	}
	if d, err := warc.ParseDigest(digest); err == nil && !d.IsZero() {
		c.digest = hashOf(d.Algorithm+string(d.Value), digestWidth)
	}
	uri := warc.TrimID(h.Get("WARC-Refers-To-Target-URI"))
	if date, err := warc.ParseDate(h.Get("WARC-Refers-To-Date")); c.revisit && err == nil && uri != "" {
		c.to = momentOf(clean(uri), date)
	}
	return c, true
}

// clean makes sure that a URI does not break a line.
func clean(uri string) string {
	if !strings.ContainsAny(uri, "\n\r") { // hardly any URI has a line end, and a replacer takes long to make
		return uri
	}
	return strings.NewReplacer("\n", "%0A", "\r", "%0D").Replace(uri)
}

// number returns n in base 36 with a fixed width.
func number(n int64, width int) string {
	s := strconv.FormatInt(n, 36)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

func fileKey(file uint32) string { return byFile + number(int64(file), numberWidth) }

func captureKey(file uint32, offset int64) string { return fileKey(file) + number(offset, offsetWidth) }

// secondKey begins the lines about all captures of a URI within a second. kind is "0" for the captures themselves and
// "1" for revisits of them.
func (m moment) secondKey(kind string) string {
	return byMoment + m.uri + number(m.second, secondWidth) + kind
}

func (c capture) appendLines(lines []string) []string {
	at := number(int64(c.file), numberWidth) + number(c.offset, offsetWidth)
	date := number(c.date.Unix(), secondWidth) + number(int64(c.date.Nanosecond())/1000, microWidth)
	if !c.revisit {
		m := c.moment()
		lines = append(lines, byFile+at+date+c.digest+"0"+c.uri+"\n", m.secondKey("0")+number(m.micro, microWidth)+at+"\n")
		if c.digest != noDigest {
			lines = append(lines, byDigest+c.digest+number(int64(c.file), numberWidth)+"\n")
		}
		return lines
	}
	if c.to == (moment{}) {
		return append(lines, byFile+at+date+c.digest+"2"+c.uri+"\n", onlyID+number(int64(c.file), numberWidth)+"\n")
	}
	to := c.to.uri + number(c.to.second, secondWidth) + number(c.to.micro, microWidth)
	return append(lines, byFile+at+date+c.digest+"1"+to+c.uri+"\n",
		c.to.secondKey("1")+number(c.to.micro, microWidth)+at+"\n")
}

// fields reads the fields of a line in order.
type fields struct {
	rest string
	err  error
}

func (f *fields) text(width int) string {
	if len(f.rest) < width {
		f.err, f.rest = fmt.Errorf("line %.80q of the dependency index is too short: make the index again", f.rest), ""
		return ""
	}
	s := f.rest[:width]
	f.rest = f.rest[width:]
	return s
}

func (f *fields) number(width int) int64 {
	s := f.text(width)
	n, err := strconv.ParseInt(s, 36, 64)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("the dependency index has %.20q instead of a number: make the index again", s)
	}
	return n
}

// parseCapture reads a line of a capture by its file.
func parseCapture(line string) (capture, error) {
	f := fields{rest: strings.TrimSuffix(line, "\n")}
	f.text(len(byFile))
	c := capture{file: uint32(f.number(numberWidth)), offset: f.number(offsetWidth)}
	second, micro := f.number(secondWidth), f.number(microWidth)
	c.date = time.Unix(second, micro*1000).UTC()
	c.digest = f.text(digestWidth)
	switch kind := f.text(1); kind {
	case "1":
		c.revisit = true
		c.to = moment{f.text(uriWidth), f.number(secondWidth), f.number(microWidth)}
	case "2":
		c.revisit = true
	}
	c.uri = f.rest
	return c, f.err
}

// place is where a capture is.
type place struct {
	file   uint32
	offset int64
}

// parseMoment reads a line of a capture by a moment.
func parseMoment(line string) (micro int64, at place, err error) {
	f := fields{rest: strings.TrimSuffix(line, "\n")}
	f.text(len(byMoment) + uriWidth + secondWidth + 1)
	micro = f.number(microWidth)
	at = place{uint32(f.number(numberWidth)), f.number(offsetWidth)}
	return micro, at, f.err
}

// fileOf returns the number of the file that a line is about.
func fileOf(line string) (uint32, error) {
	f := fields{rest: strings.TrimSuffix(line, "\n")}
	switch f.text(1) {
	case byFile, onlyID:
	case byMoment:
		f.text(uriWidth + secondWidth + 1 + microWidth)
	case byDigest:
		f.text(digestWidth)
	}
	return uint32(f.number(numberWidth)), f.err
}
