// Package midfetch has the two decisions about the body of a page that may be unchanged: whether to end its download
// after the headers, and whether to read it all the same, to audit the headers.
package midfetch

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"strconv"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// StopIfUnchanged returns the mid-fetch filter of one exchange.
func StopIfUnchanged(filter evaluators.Midfetch, before evaluators.Validators) func(fetch.Head) bool {
	return func(h fetch.Head) bool {
		if h.Status != http.StatusOK {
			return false
		}
		unchanged, _ := filter.Unchanged(before, evaluators.ValidatorsOf(h.Header))
		return unchanged
	}
}

// AuditRandom returns the pseudo-random number that decides whether a visit is an audit. It is a hash, so that the
// same visit has the same number after a crash and in every repetition.
func AuditRandom(r frontier.Record) uint64 {
	text := append(append(make([]byte, 0, 256), r.URI.String()...), ' ')
	sum := sha256.Sum256(strconv.AppendInt(text, int64(r.Visits), 10))
	return binary.BigEndian.Uint64(sum[:])
}

// CanVouch reports whether r's validators apply to a body that is in the archive.
func CanVouch(r frontier.Record) bool {
	return r.Status == http.StatusOK && !r.Origin.IsZero() && r.Validators != evaluators.Validators{}
}
