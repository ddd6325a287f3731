package evaluators

import (
	"fmt"
	"net/http"
)

// Validators are the headers by which a server tells the states of a resource apart, byte for byte as it wrote them;
// empty if it did not. They are remembered only together with a completely stored body.
type Validators struct{ ETag, LastModified string }

// ValidatorsOf reads them from the header of a response. It is the one place that spells their names: Heritrix's filter
// looked for a header named "last-etag", so that for years no ETag ever counted.
func ValidatorsOf(h http.Header) Validators {
	return Validators{ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified")}
}

// DecideBy says which validators the mid-fetch filter trusts. The numbers are stored and only ever added to.
type DecideBy uint8

// The ways to decide. For each header the answer has it or not, and has the remembered value or another one; a header
// of which no value is remembered counts as another one.
const (
	Agree        DecideBy = iota // each header that the answer has must have the remembered value, and it must have one
	ETag                         // only the ETag counts
	LastModified                 // only Last-Modified counts
	Either                       // one header with the remembered value suffices, whatever the other says
	Off                          // nothing is trusted: every visit reads the body
)

var decideByNames = [...]string{
	Agree: "agree", ETag: "etag", LastModified: "last-modified", Either: "either", Off: "off",
}

// ParseDecideBy reads the names that [DecideBy.String] writes.
func ParseDecideBy(s string) (DecideBy, error) {
	for d, name := range decideByNames {
		if s == name {
			return DecideBy(d), nil
		}
	}
	return 0, fmt.Errorf("%q is none of etag, last-modified, agree, either, off", s)
}

// String is "agree", "etag", "last-modified", "either" or "off".
func (d DecideBy) String() string {
	if int(d) < len(decideByNames) {
		return decideByNames[d]
	}
	return fmt.Sprintf("decide-by(%d)", uint8(d))
}

// MarshalText writes what [DecideBy.String] gives; the error is always nil.
func (d DecideBy) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [ParseDecideBy] takes.
func (d *DecideBy) UnmarshalText(text []byte) error {
	v, err := ParseDecideBy(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// Midfetch decides by validators whether a body has to be read. The zero value demands agreement and doubts nobody.
type Midfetch struct {
	DecideBy DecideBy
	Doubted  Doubts // witnesses whose word that nothing changed is not believed; see [Reputation.Doubts]
}

// header is what an answer's header says about a remembered one.
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

// Unchanged reports whether the validators of an answer, compared with the remembered ones, vouch for the body, so that
// the download may end here; and why. Under [Agree]:
//
//	Last-Modified \ ETag   missing     same        differs
//	missing                fetch       unchanged   fetch
//	same                   unchanged   unchanged   fetch
//	differs                fetch       fetch       fetch
//
// Values are compared as strings. A weak ETag equals only the same text: the prefix W/ is part of it, for what differs
// in bytes is worth archiving even where the server calls it equivalent.
//
// A doubted header that has the remembered value counts as missing; one that differs still speaks for a change.
//
// It knows nothing of the status: ask only if the answer has the status, and if it is a redirect the Location, of the
// remembered capture, else a change would go unread.
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

// agree is the ancestors' table. A header that a mode does not look at is given as missing.
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

// Conditions says what to send: ETag as If-None-Match, LastModified as If-Modified-Since, empty = do not send. The
// values are the remembered ones byte for byte, never a date of our own.
//
// With [Agree] and [Either] the ETag goes alone if there is one. RFC 9110, 13.1.3 lets a server ignore
// If-Modified-Since next to If-None-Match, but not all do: some answer 304 when either matches (node-static before pull
// request 69, http-serve issue 23, dropwizard's asset bundle issue 37), and so hide a change that only the ETag shows.
//
// What is doubted is not sent, and nothing is if the answer 304 is.
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

// Contradicts reports whether a 304 says by its own ETag that the body is another one after all, which can happen where
// only a date was asked about (some servers answer 304 when the date matches, whatever the ETag). The comparison is the
// weak one of RFC 9110, 8.8.3.2.
func (m Midfetch) Contradicts(asked, before, now Validators) bool {
	looks := m.DecideBy == Agree || m.DecideBy == ETag
	return looks && asked.ETag == "" && before.ETag != "" && now.ETag != "" && opaque(before.ETag) != opaque(now.ETag)
}
