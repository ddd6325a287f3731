package evaluators

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"strconv"

	"github.com/arcrawl/arcrawl/digest"
)

// Validators holds the headers with which a server identifies the state of a resource, byte for byte; empty if it did
// not send them. They are remembered only together with a completely stored body.
type Validators struct{ ETag, LastModified string }

// ValidatorsOf reads the validators from the header of a response. It is the only place that spells their names:
// Heritrix's filter read a header named "last-etag", so for years it ignored every ETag.
func ValidatorsOf(h http.Header) Validators {
	return Validators{ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified")}
}

// CanVouch reports whether the validators of a URI apply to a body that is in the archive. status is the one of the
// last complete answer, and stored is the record of its body.
func (v Validators) CanVouch(status int, stored digest.Origin) bool {
	return status == http.StatusOK && !stored.IsZero() && v != Validators{}
}

// DecideBy says which validators the mid-fetch filter trusts.
type DecideBy uint8

// The ways to decide. A header of the answer is missing, has the remembered value or has a different one. If no value
// is remembered, it counts as different.
const (
	Agree        DecideBy = iota // each header of the answer must have the remembered value, and there must be one
	ETag                         // only the ETag counts
	LastModified                 // only Last-Modified counts
	Either                       // one header with the remembered value suffices, whatever the other one is
	Off                          // nothing is trusted: every visit reads the body
)

// String returns "agree", "etag", "last-modified", "either" or "off".
func (d DecideBy) String() string {
	return [...]string{Agree: "agree", ETag: "etag", LastModified: "last-modified", Either: "either", Off: "off"}[d]
}

// Midfetch decides by validators whether a body has to be read. The zero value requires agreement and doubts nothing.
type Midfetch struct {
	DecideBy DecideBy
	Doubted  Doubts // witnesses that are not believed when they say that nothing changed; see [Reputation.Doubts]
}

// header is the result of comparing a header with the remembered one.
type header uint8

const (
	missing header = iota
	same
	differs
)

func compare(before, now string) header {
	switch now {
	case "":
		return missing
	case before:
		return same
	}
	return differs
}

// Unchanged reports whether the validators of an answer say that the body is the remembered one, so that the download
// may end, and why. Under [Agree]:
//
//	Last-Modified \ ETag   missing     same        differs
//	missing                fetch       unchanged   fetch
//	same                   unchanged   unchanged   fetch
//	differs                fetch       fetch       fetch
//
// Values are compared as strings. The prefix W/ of a weak ETag is part of it: bytes that differ are worth archiving
// even if the server calls them equivalent.
//
// A doubted header that has the remembered value counts as missing. One that differs still indicates a change.
//
// Unchanged does not know the status. Call it only if the answer has the status of the remembered capture, and for a
// redirect the Location; otherwise a change would stay unread.
func (m Midfetch) Unchanged(before, now Validators) (bool, string) {
	etag, modified := compare(before.ETag, now.ETag), compare(before.LastModified, now.LastModified)
	if etag == same && m.Doubted[witnessOf(before.ETag)] {
		etag = missing
	}
	if modified == same && m.Doubted[WitnessLastModified] {
		modified = missing
	}
	switch m.DecideBy {
	case Off:
		return false, "mid-fetch filter is off"
	case ETag:
		modified = missing
	case LastModified:
		etag = missing
	case Either:
		if etag == same {
			modified = missing
		} else if modified == same {
			etag = missing
		}
	}
	return agree(etag, modified)
}

// Ends reports whether a download may end when the head of the answer is read, because the body is the remembered one.
func (m Midfetch) Ends(before Validators, status int, header http.Header) bool {
	if status != http.StatusOK {
		return false
	}
	unchanged, _ := m.Unchanged(before, ValidatorsOf(header))
	return unchanged
}

// AuditRandom returns the pseudo-random number that decides whether a visit is an audit: one that reads the body to
// check the validators. It is a hash, so that the same visit has the same number after a crash and in every repetition.
// visits is the number of visits before.
func AuditRandom(uri string, visits int) uint64 {
	text := append(append(make([]byte, 0, 256), uri...), ' ')
	sum := sha256.Sum256(strconv.AppendInt(text, int64(visits), 10))
	return binary.BigEndian.Uint64(sum[:])
}

// agree is the table of Heritrix. A header that a mode ignores is passed as missing.
func agree(etag, modified header) (bool, string) {
	switch {
	case etag == differs && modified == differs:
		return false, "ETag and Last-Modified differ"
	case etag == differs:
		return false, "ETag differs"
	case modified == differs:
		return false, "Last-Modified differs"
	case etag == same && modified == same:
		return true, "same ETag and Last-Modified"
	case etag == same:
		return true, "same ETag"
	case modified == same:
		return true, "same Last-Modified"
	}
	return false, "no validator to go by"
}

// Conditions returns the validators to send: ETag as If-None-Match, LastModified as If-Modified-Since, empty = do not
// send. The values are the remembered ones byte for byte, never a date of our own clock.
//
// With [Agree] and [Either] the ETag goes alone if there is one. A server should ignore If-Modified-Since next to
// If-None-Match (RFC 9110, 13.1.3), but some answer 304 if either matches, which hides a change that only the ETag
// shows. Examples are node-static before pull request 69, http-serve (issue 23) and dropwizard's asset bundle (issue
// 37).
//
// A doubted validator is not sent. If the answer 304 is doubted, none is sent.
func (m Midfetch) Conditions(before Validators) Validators {
	if m.Doubted[WitnessNotModified] {
		return Validators{}
	}
	if m.Doubted[witnessOf(before.ETag)] {
		before.ETag = ""
	}
	if m.Doubted[WitnessLastModified] {
		before.LastModified = ""
	}
	switch m.DecideBy {
	case Off:
		return Validators{}
	case ETag:
		return Validators{ETag: before.ETag}
	case LastModified:
		return Validators{LastModified: before.LastModified}
	}
	if before.ETag != "" {
		return Validators{ETag: before.ETag}
	}
	return Validators{LastModified: before.LastModified}
}

// Contradicts reports whether the ETag of a 304 differs from the remembered one, which means that the body has
// changed. That can happen if only a date was sent: some servers answer 304 if the date matches, whatever the ETag.
// The comparison is the weak one of RFC 9110, 8.8.3.2.
func (m Midfetch) Contradicts(asked, before, now Validators) bool {
	reads := m.DecideBy == Agree || m.DecideBy == ETag
	return reads && asked.ETag == "" && before.ETag != "" && now.ETag != "" && opaque(before.ETag) != opaque(now.ETag)
}
