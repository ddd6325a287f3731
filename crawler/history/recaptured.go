package history

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// PayloadSHA256 is the name of the SHA-256 of a whole payload in a metadata record.
const PayloadSHA256 = "payloadSHA256"

// Record is a capture as the archive has it.
type Record struct {
	Origin   digest.Origin     // where it is
	Header   http.Header       // of the response
	Metadata map[string]string // the fields of its metadata record
}

// Recaptured adds to a history what the archive holds about the last capture. read is the record of the last visit
// that read the whole body, and payload is the record that holds its payload. They may be the same, and each may be
// nil.
func Recaptured(h frontier.History, read, payload *Record) frontier.History {
	if payload != nil {
		h.Origin = payload.Origin
		if sum := digest.ParseSHA256(payload.Metadata[PayloadSHA256]); !sum.IsZero() {
			h.Origin.Strong = sum.Half()
		}
	}
	if read == nil {
		read = payload
	}
	if read == nil {
		return h
	}
	exact := func(t time.Time) time.Time { // crawl.log has milliseconds, the archive has more
		if sameMillisecond(t, read.Origin.Date) {
			return read.Origin.Date
		}
		return t
	}
	h.LastRead, h.LastCapture = exact(h.LastRead), exact(h.LastCapture)
	h.LastChange, h.LastVisit = exact(h.LastChange), exact(h.LastVisit)
	h.Location = read.Header.Get("Location")
	h.ContentType = read.Header.Get("Content-Type")
	if h.Status == http.StatusOK {
		h.Validators = evaluators.Lasting(read.Header)
	}
	h.Comparison = comparisonIn(read.Metadata, h.Payload)
	return h
}

// comparisonIn returns the comparison digest that a visit wrote into its metadata record. Without one, the content
// was compared without scrubbing.
func comparisonIn(metadata map[string]string, payload digest.Digest) digest.Comparison {
	sum := func(name string) digest.Digest {
		d, err := digest.Parse(metadata[name])
		if err != nil {
			return digest.Digest{}
		}
		return d
	}
	if d := sum("comparisonDigest"); !d.IsZero() {
		rules, err := strconv.ParseUint(strings.TrimSpace(metadata["comparisonRules"]), 16, 64)
		if err != nil {
			return digest.Comparison{}
		}
		return digest.Comparison{Sum: d, Rules: rules}
	}
	if d := sum("contentDigest"); !d.IsZero() {
		return digest.Comparison{Sum: d}
	}
	return digest.Comparison{Sum: payload}
}
