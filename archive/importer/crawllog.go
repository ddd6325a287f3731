package importer

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

// parseLogLine returns a parser of crawl logs of arcrawl and Heritrix. The date is the time of the fetch to the second,
// as in WARC/1.0. A duplicate counts as a revisit if the log names its original.
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
