package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// lineParser returns what the dedup index needs from a line. ok is false if the line has too little. The error says
// that the line is not of the expected format.
type lineParser func(line string) (f dedup.Found, ok bool, err error)

// readLines returns a function that reads a text, which may be gzipped, line by line. Positions are offsets in the
// text.
func readLines(file string, progress *warc.Progress, parse lineParser) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		t, err := openText(file)
		if err != nil {
			return report(unreadable(file, err))
		}
		defer t.Close() //nolint:errcheck // nothing was written
		in := bufio.NewReaderSize(t, index.MaxLine)
		consumed := int64(0)
		for pos, strange := int64(0), 0; ctx.Err() == nil; {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				begin := pos
				n, more := skipLine(in)
				pos += int64(len(line)) + n
				err := report(warc.Finding{
					File: file, Offset: begin, Severity: warc.Error, Kind: warc.BadHeader,
					Text: fmt.Sprintf("skipped a line of %d bytes; the maximum is %d", pos-begin, index.MaxLine),
				})
				if err != nil || !more {
					return err
				}
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return report(warc.Finding{
					File: file, Offset: pos, Severity: warc.Error, Kind: warc.Truncated,
					Text: "the rest of the text cannot be read: " + err.Error(),
				})
			}
			begin := pos
			pos += int64(len(line))
			if n, err := t.Consumed(); err == nil {
				progress.AddBytes(n - consumed)
				consumed = n
			}
			f, ok, bad := parse(string(bytes.TrimRight(line, "\r\n"))) // also before from: there may be a header
			if pos <= from {
				continue
			}
			if bad != nil && strange < warc.MaxFindings {
				strange++
				err := report(warc.Finding{
					File: file, Offset: begin, Severity: warc.Error, Kind: warc.BadHeader, Text: bad.Error(),
				})
				if err != nil {
					return err
				}
			}
			if err := receive(f, ok, pos); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
}

// skipLine reads to the end of a line. It returns the number of bytes, and whether there may be more lines.
func skipLine(in *bufio.Reader) (n int64, more bool) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err == nil
		}
	}
}

// openText opens a text that may be gzipped.
func openText(file string) (*fileio.Text, error) {
	f, _, err := warc.OpenRegular(file)
	if err != nil {
		return nil, err
	}
	return fileio.TextOf(f)
}

// parseCDXJLine parses a line of CDXJ, which does not have the size of payloads.
func parseCDXJLine(line string) (f dedup.Found, ok bool, err error) {
	if line == "" || line[0] == '!' {
		return f, false, nil
	}
	e, err := index.ParseEntry(line)
	if err != nil {
		return f, false, err
	}
	f, ok = foundEntry(e, "")
	return f, ok, nil
}

// foundEntry returns what the dedup index needs from an entry of another index. It cannot use revisits, because their
// entries do not name the original.
func foundEntry(e index.Entry, id string) (f dedup.Found, ok bool) {
	if f.Payload, ok = sha1Of(e.Digest); !ok || e.MIME == index.RevisitMIME {
		return f, false
	}
	f.Status, _ = strconv.Atoi(e.Status)
	if f.MIME = e.MIME; f.MIME == "unk" || f.MIME == "-" {
		f.MIME = ""
	}
	f.Origin = digest.Origin{
		RecordID: id, URI: e.URL, Date: e.Date(), Payload: f.Payload, File: e.Filename, Offset: e.Offset, Length: e.Length,
	}
	return f, usable(f)
}

// sha1Of parses a SHA-1 with or without the name of the algorithm. ok is false for the SHA-1 of an empty payload, which
// is useless.
func sha1Of(text string) (d digest.Digest, ok bool) {
	if !strings.Contains(text, ":") {
		text = "sha1:" + text
	}
	s, err := warc.ParseDigest(text)
	if err != nil || len(s.Value) != len(d) || s.Algorithm != "sha1" && s.Algorithm != "sha-1" {
		return d, false
	}
	d = digest.Digest(s.Value)
	return d, d != digest.Of(nil)
}

// cdxFields holds the fields of CDX files without a header, by their number. The letters are explained at
// https://archive.org/web/researcher/cdx_legend.php.
var cdxFields = map[int]string{9: "N b a m s k r V g", 10: "N b a m s k r M V g", 11: "N b a m s k r M S V g"}

// parseCDXLine returns a parser of CDX. The letters of the header name the fields.
func parseCDXLine() lineParser {
	var letters []string
	return func(line string) (f dedup.Found, ok bool, err error) {
		if header, is := strings.CutPrefix(strings.TrimLeft(line, " \t,|"), "CDX "); is {
			letters = strings.Fields(header)
			return f, false, nil
		}
		parts := strings.Fields(line)
		if len(parts) == 0 {
			return f, false, nil
		}
		names := letters
		if names == nil {
			names = strings.Fields(cdxFields[len(parts)])
		}
		if len(parts) != len(names) || len(names) == 0 {
			return f, false, fmt.Errorf("CDX line %.80q has %d fields, want %d", line, len(parts), len(names))
		}
		var e index.Entry
		id := ""
		for i, name := range names {
			switch value := parts[i]; name {
			case "a":
				e.URL = value
			case "b":
				e.Timestamp = value
			case "m":
				e.MIME = value
			case "s":
				e.Status = value
			case "k":
				e.Digest = value
			case "S":
				e.Length, _ = strconv.ParseInt(value, 10, 64)
			case "V":
				e.Offset, _ = strconv.ParseInt(value, 10, 64)
			case "g":
				e.Filename = value
			case "u": // GNU wget: the record id
				id = warc.TrimID(value)
			}
		}
		f, ok = foundEntry(e, id)
		return f, ok, nil
	}
}

// parseLogLine parses a line of a crawl log of arcrawl or Heritrix. The date is the time of the fetch to the second, as
// in WARC/1.0. A duplicate counts as a revisit if the log names its original.
func parseLogLine(line string) (f dedup.Found, ok bool, err error) {
	e, err := crawllog.Parse(line)
	if err != nil {
		return f, false, err
	}
	f.Payload = e.Digest
	if e.Digest.IsZero() || e.Digest == digest.Of(nil) || e.Status <= 0 {
		return f, false, nil
	}
	for _, a := range e.Annotations {
		if strings.Contains(a, "duplicate") || strings.HasPrefix(a, "Revisit:") || strings.HasPrefix(a, "warcRevisit:") {
			return revisitOf(e)
		}
	}
	if !e.IsWhole() {
		return f, false, nil
	}
	f.Status, f.MIME = e.Status, e.MIME
	f.Origin = digest.Origin{URI: e.URI, Date: e.Started.Truncate(time.Second), Payload: e.Digest, Size: e.Size}
	if e.Extra != nil {
		f.Origin.File, f.Origin.Offset = e.Extra.WARCFile, e.Extra.WARCOffset
	}
	return f, usable(f) && (e.Extra == nil || e.Extra.WARCFile != ""), nil
}

// revisitOf returns the revisit that a line describes.
func revisitOf(e crawllog.Entry) (f dedup.Found, ok bool, err error) {
	if e.Extra == nil || e.Extra.RevisitRefersToURI == "" {
		return f, false, nil
	}
	date, err := warc.ParseDate(e.Extra.RevisitRefersToDate)
	if err != nil {
		return f, false, nil
	}
	f.Payload, f.Revisit = e.Digest, true
	f.Origin = digest.Origin{URI: e.Extra.RevisitRefersToURI, Date: date, Payload: e.Digest}
	return f, true, nil
}
