package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// kind returns whether the message is a request or a response.
func (h Head) kind() string {
	if bytes.HasPrefix(h.Raw, []byte("HTTP/")) {
		return "response"
	}
	return "request"
}

// isCoded reports whether the record of a head should have a whole payload with a content coding.
func (h Head) isCoded(record Header) bool {
	if record.Type() != "response" || h.Status == http.StatusPartialContent || record.Get("WARC-Truncated") != "" ||
		record.Get("WARC-Segment-Number") != "" {
		return false
	}
	for range h.values("content-encoding") {
		return true
	}
	return false
}

// isOddlyFramed reports whether a head has a transfer coding, but not as one field "chunked" of HTTP/1.1. Readers
// disagree about the payload of such an answer, so its record needs no payload digest.
func (h Head) isOddlyFramed() bool {
	raw := bytes.ToLower(h.Raw)
	name := []byte("\ntransfer-encoding")
	return bytes.Contains(raw, name) && (bytes.Count(raw, name) > 1 || !bytes.HasPrefix(raw, []byte("http/1.1 ")) ||
		!bytes.Contains(raw, []byte("\ntransfer-encoding: chunked\r\n")))
}

// maxDecoded is how much of a payload is decoded, in bytes.
const maxDecoded = 1 << 30

// undecoded returns why the content codings of a payload cannot be removed. Like browsers it ignores what follows a
// whole gzip, and it accepts codings that nobody knows.
func (h Head) undecoded(body io.Reader) error {
	plain, err := h.Decode(body)
	if err != nil {
		if errors.Is(err, errCoding) {
			return nil
		}
		return err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(plain, maxDecoded))
	if n > 0 && errors.Is(err, gzip.ErrHeader) {
		return nil
	}
	return err
}

// gaps finds records without a digest in a file where the other records of their type have one.
type gaps map[string]*gap

type gap struct {
	have, lack int
	found      []Finding
}

// maxGaps is the maximum number of records without a digest that are listed for each type: more are no exceptions.
const maxGaps = 100

// add counts the digests of a whole record. An empty block or payload needs none.
func (g *gaps) add(rec *Record, m message) {
	h := rec.Header
	if *g == nil {
		*g = gaps{}
	}
	count := func(name string) {
		key := h.Type() + name
		if !knownTypes[h.Type()] {
			return
		}
		if (*g)[key] == nil {
			(*g)[key] = &gap{}
		}
		of := (*g)[key]
		if h.Get(name) != "" {
			of.have++
			return
		}
		if of.lack++; len(of.found) < maxGaps {
			f := rec.Finding(BadHeader, name+" is missing in this "+h.Type()+" record")
			f.Severity = Warning
			of.found = append(of.found, f)
		}
	}
	if rec.Size > 0 {
		count("WARC-Block-Digest")
	}
	if h.Type() == "response" && m.is && m.err == nil && rec.Size > int64(len(m.head.Raw)) &&
		h.Get("WARC-Truncated") == "" && h.Get("WARC-Segment-Number") == "" && !m.head.isOddlyFramed() {
		count("WARC-Payload-Digest")
	}
}

// End reports what only the end of a file shows: digests that are missing in few records of a type. It prepares for the
// next file.
func (c *Checker) End() {
	const usual = 5 // number of records with a digest for each one without, if that is an exception
	for _, key := range slices.Sorted(maps.Keys(c.gaps)) {
		g := c.gaps[key]
		if g.have < 3 || g.lack > 1 && g.lack*usual > g.have {
			continue
		}
		for _, f := range g.found {
			f.Text += fmt.Sprintf(", and %d others of the file have one", g.have)
			c.report(f)
		}
	}
	clear(c.gaps)
}
