package importer

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
	"github.com/arcrawl/arcrawl/internal/textfile"
)

// lineParser makes of a line what an index of payloads needs; ok is false for one that it cannot use. An error says that the
// line is none of its kind.
type lineParser func(line string) (f dedup.Found, ok bool, err error)

// reapLines reads a text file, compressed or not, line by line. Positions are offsets in the text.
func reapLines(file string, watch *warc.Progress, makeParser func() lineParser) reap {
	return func(ctx context.Context, from int64, give harvest, see func(warc.Finding) error) error {
		t, err := openText(file)
		if err != nil {
			return see(warc.Finding{File: file, Offset: -1, Severity: warc.Error, Kind: warc.Unreadable, Text: warc.Cause(err)})
		}
		defer t.Close() //nolint:errcheck // nothing was written
		parse := makeParser()
		in := bufio.NewReaderSize(t, index.MaxLine)
		consumed := int64(0)
		for at, strange := int64(0), 0; ctx.Err() == nil; {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return see(warc.Finding{File: file, Offset: at, Severity: warc.Error, Kind: warc.Truncated, Text: "the text cannot be read on from here: " + err.Error()})
			}
			begin := at
			at += int64(len(line))
			if n, err := t.Consumed(); err == nil {
				watch.AddBytes(n - consumed)
				consumed = n
			}
			f, ok, bad := parse(string(bytes.TrimRight(line, "\r\n"))) // the lines before from as well: one of them may be a header
			if at <= from {
				continue
			}
			if bad != nil && strange < warc.MaxFindings {
				strange++
				err := see(warc.Finding{File: file, Offset: begin, Severity: warc.Error, Kind: warc.BadHeader, Text: bad.Error()})
				if err != nil {
					return err
				}
			}
			if err := give(f, ok, at); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
}

// openText opens a text that may be gzipped.
func openText(file string) (*textfile.File, error) {
	f, _, err := warc.OpenRegular(file)
	if err != nil {
		return nil, err
	}
	return textfile.From(f)
}

// parseCDXJLine reads a line of CDXJ. The size of the payload is not in it.
func parseCDXJLine() lineParser {
	return func(line string) (f dedup.Found, ok bool, err error) {
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
}

// foundEntry makes of a line of an index what can be made of it. Revisits do not say there what they refer to.
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

// sha1Of reads a SHA-1, with or without its name. That of an empty payload is none that helps.
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

// The fields of CDX files without a header, by their number. See the letters at
// https://archive.org/web/researcher/cdx_legend.php.
var cdxFields = map[int]string{9: "N b a m s k r V g", 10: "N b a m s k r M V g", 11: "N b a m s k r M S V g"}

// parseCDXLine reads the older indexes, by the letters of their header.
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
			return f, false, fmt.Errorf("CDX line %.80q has %d fields, %d are expected", line, len(parts), len(names))
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

// parseLogLine reads a line of a crawl log of arcrawl or Heritrix. The date is that of the fetch, to the second, as WARC/1.0
// has it. Duplicates count as revisits where the log says of what.
func parseLogLine() lineParser {
	return func(line string) (f dedup.Found, ok bool, err error) {
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
			if strings.HasPrefix(a, "unwritten:") || strings.HasSuffix(a, "Trunc") || a == crawllog.MidFetchAbort {
				return f, false, nil
			}
		}
		if e.Size <= 0 {
			return f, false, nil
		}
		f.Status, f.MIME = e.Status, e.MIME
		f.Origin = digest.Origin{URI: e.URI, Date: e.Started.Truncate(time.Second), Payload: e.Digest, Size: e.Size}
		if e.Extra != nil {
			f.Origin.File, f.Origin.Offset = e.Extra.WARCFile, e.Extra.WARCOffset
		}
		return f, usable(f) && (e.Extra == nil || e.Extra.WARCFile != ""), nil
	}
}

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
