package evaluators

import (
	"math/bits"
	"net/http"
	"strings"
	"time"
)

// Witness is a source that can say that a body did not change. The numbers are stored: do not change or reuse them.
type Witness uint8

// The witnesses. A weak ETag is a witness of its own, because it guarantees less: by RFC 9110, 8.8.1, it may stay the
// same while bytes change.
const (
	WitnessETag         Witness = iota // a strong ETag
	WitnessWeakETag                    // an ETag that begins with W/
	WitnessLastModified                // Last-Modified, compared for equality
	WitnessNotModified                 // the answer 304 to a conditional request
	Witnesses           = iota         // the number of witnesses
)

// String returns the name for people: "ETag", "weak ETag", "Last-Modified" or "304".
func (w Witness) String() string {
	return [...]string{"ETag", "weak ETag", "Last-Modified", "304"}[w]
}

// Class divides the types of content, since a host with wrong headers for pages may have right ones for images. The
// numbers are stored: do not change or reuse them.
type Class uint8

// The classes of content.
const (
	ClassText  Class  = iota // text types, and XML and JSON under any name
	ClassOther               // all other types, and no type
	Classes    = iota        // the number of classes
)

// String returns "text" or "other".
func (c Class) String() string { return [...]string{"text", "other"}[c] }

// ClassOf returns the class of a Content-Type.
func ClassOf(contentType string) Class {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	for _, mark := range []string{"xml", "json", "javascript"} {
		if strings.HasPrefix(media, "application/") && strings.HasSuffix(media, mark) {
			return ClassText
		}
	}
	if strings.HasPrefix(media, "text/") {
		return ClassText
	}
	return ClassOther
}

// Standing records how reliable a witness has been: the table of Heritrix's DeDuplicator, and its last predictions of
// no change one by one. A visit counts only if both its headers and its body are known. It is part of a row: keys are
// only ever added.
type Standing struct {
	ChangeRight int64 `cbor:"3,keyasint,omitempty"` // it predicted a change, and there was one
	ChangeWrong int64 `cbor:"4,keyasint,omitempty"` // it predicted a change, and there was none
	SameRight   int64 `cbor:"5,keyasint,omitempty"` // it predicted no change, and there was none
	SameWrong   int64 `cbor:"6,keyasint,omitempty"` // it predicted no change, and there was one: a lost version
	Missing     int64 `cbor:"7,keyasint,omitempty"` // it was missing in the answer

	Recent uint64 `cbor:"8,keyasint,omitempty"` // the last predictions of no change, newest in the lowest bit; 1 is wrong
	Known  int    `cbor:"9,keyasint,omitempty"` // number of bits of Recent in use, at most 64
	// Doubts is used for the 304 only. It is the number of audits in a row that found a change, without a conditional
	// request between them that found one.
	Doubts int `cbor:"10,keyasint,omitempty"`
}

// window is the number of predictions of no change that count. Older ones do not: a witness that begins to be wrong
// loses its standing fast, and one that is corrected regains it.
const window = 64

// Precision returns the share of right ones among the last predictions of no change; 1 if there were no predictions.
func (s Standing) Precision() float64 {
	if s.Known == 0 {
		return 1
	}
	return 1 - float64(s.wrong())/float64(s.Known)
}

func (s Standing) wrong() int { return bits.OnesCount64(s.Recent) }

// predicted returns s after a prediction of no change.
func (s Standing) predicted(right bool) Standing {
	s.Recent <<= 1
	if !right {
		s.Recent |= 1
	}
	s.Known = min(s.Known+1, window)
	return s
}

// saw returns s after a visit. same is the prediction of the witness; unchanged is the result of comparing the bodies.
func (s Standing) saw(same, unchanged bool) Standing {
	switch {
	case same && unchanged:
		s.SameRight++
	case same:
		s.SameWrong++
	case unchanged:
		s.ChangeWrong++
	default:
		s.ChangeRight++
	}
	if same {
		return s.predicted(unchanged)
	}
	return s
}

// Reputation holds the standing of each witness of a host, by class of content. The zero value knows nothing. It is a
// value: [Reputation.After] returns a new one.
type Reputation [Classes][Witnesses]Standing

// Observation is a visit where the headers and the body are known, and an earlier body to compare with.
type Observation struct {
	MIME        string     // Content-Type of the answer
	Before      Validators // remembered with the last body; empty if none were
	Now         Validators // of this answer
	State       State      // as judged by the bodies; an observation with Unknown is ignored
	Conditional bool       // the request had conditions, and the server still sent the body
	Denied      bool       // the request had none, and the answer to the visit before was 304
	Stale       bool       // the change is older than that 304, see [ChangedBefore]
}

// After returns the reputation after one more observation.
//
// Audits decide about the 304. Unchanged content proves it right. Changed content proves it wrong only if the change
// is older than the last 304; otherwise it may have come since. But on a reliable host the many conditional requests
// find most changes. So a second audit in a row that finds one, without a conditional request between them that found
// any, counts as wrong too.
func (r Reputation) After(o Observation) Reputation {
	if o.State == Unknown {
		return r
	}
	unchanged := o.State == Unchanged
	of := &r[ClassOf(o.MIME)]
	tag := witnessOf(o.Before.ETag)
	if o.Before.ETag == "" {
		tag = witnessOf(o.Now.ETag)
	}
	record := func(w Witness, before, now string, same bool) {
		switch {
		case now == "":
			of[w].Missing++
		case before != "":
			of[w] = of[w].saw(same, unchanged)
		}
	}
	record(tag, o.Before.ETag, o.Now.ETag, opaque(o.Before.ETag) == opaque(o.Now.ETag))
	record(WitnessLastModified, o.Before.LastModified, o.Now.LastModified, o.Before.LastModified == o.Now.LastModified)
	of[WitnessNotModified] = of[WitnessNotModified].after(o, unchanged)
	return r
}

// maxDoubts is the number of audits in a row with a change after which the 304 counts as wrong, even if no 304 denied
// the changes.
const maxDoubts = 2

// after returns the standing of the 304 after one more observation.
func (s Standing) after(o Observation, unchanged bool) Standing {
	switch {
	case o.Conditional:
		s.Doubts = 0
		return s.saw(false, unchanged)
	case o.Denied && unchanged:
		s.Doubts = 0
		return s.saw(true, true)
	case o.Denied:
		if s.Doubts++; s.Doubts < maxDoubts && !o.Stale {
			return s
		}
		s.Doubts = 0
		return s.saw(true, false)
	case s.Recent != 0:
		return s.predicted(true) // the witness is no longer used; forget its errors slowly, so that it gets another chance
	}
	return s
}

// opaque returns an ETag without the prefix of a weak one, for the weak comparison of RFC 9110, 8.8.3.2.
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

func witnessOf(etag string) Witness {
	if strings.HasPrefix(etag, "W/") {
		return WitnessWeakETag
	}
	return WitnessETag
}

// Threshold holds what a witness must have proven before it is believed.
type Threshold struct {
	Proof     int     // number of right predictions of no change needed first, see [Threshold.Proven]; 0 = believe at once
	Precision float64 // minimum share of right predictions among the last 64 predictions of no change
}

// unseen multiplies the number of predictions that a witness needs if it has never shown a change.
const unseen = 4

// Proven reports whether a witness has made enough predictions to be believed: Proof predictions of no change, and
// four times that number as long as it has never shown a change. A header that never changes is right about every
// unchanged page; only a change shows whether it is reliable.
func (b Threshold) Proven(s Standing) bool {
	if s.ChangeRight == 0 {
		return s.Known >= min(unseen*b.Proof, window)
	}
	return s.Known >= b.Proof
}

// Doubts marks the witnesses that are not believed. The zero value believes all.
type Doubts [Witnesses]bool

// Doubts returns the witnesses that are not believed about content of this type. The 304 needs no proof of its own,
// because it depends on headers that do.
func (r Reputation) Doubts(contentType string, b Threshold) Doubts {
	var d Doubts
	for w, s := range r[ClassOf(contentType)] {
		unproven := !b.Proven(s) && Witness(w) != WitnessNotModified
		d[w] = unproven || s.Precision() < b.Precision
	}
	return d
}

// Audit says how often a body is read although its headers say that it has not changed. No body stays unread for more
// than Every visits or for longer than Within.
type Audit struct {
	Every  int           // maximum number of visits in a row without reading the body; 0 = no limit
	Within time.Duration // maximum time since the body was last read; 0 = no limit
	Share  float64       // share of the visits to a host that has proven reliable; see [Audit.Due]
}

// Visit holds what decides about an audit. The URI must have validators; without them the body is read anyway.
type Visit struct {
	MIME   string        // Content-Type of the last capture
	Unread int           // number of visits in a row that did not read the body
	Since  time.Duration // since the body was last read
	Random uint64        // pseudo-random number of the visit, evenly distributed
}

// Due reports whether a visit has to read the body whatever the headers say, and why. If no limit is reached,
// Visit.Random decides. The share of visits that read the body is Share if each witness of the host has 64 right
// predictions. It is three times Share while nothing is known about them. It is ten times Share, but at most half of
// all visits, while one of their last 64 predictions was wrong.
func (a Audit) Due(r Reputation, v Visit) (bool, string) {
	switch {
	case a.Every > 0 && v.Unread >= a.Every:
		return true, "audit: too many visits without reading the body"
	case a.Within > 0 && v.Unread > 0 && v.Since >= a.Within:
		return true, "audit: too long without reading the body"
	case float64(v.Random>>11)/(1<<53) < a.share(r[ClassOf(v.MIME)]):
		return true, "audit: drawn"
	}
	return false, ""
}

// share returns the share of visits that read the body by lot.
func (a Audit) share(of [Witnesses]Standing) float64 {
	evidence, wrong := 0, false
	for _, s := range of {
		evidence = max(evidence, s.Known)
		wrong = wrong || s.Recent != 0
	}
	if wrong {
		return min(a.Share*10, max(a.Share, 0.5))
	}
	return min(1, a.Share*(1+2*float64(window-evidence)/window))
}

// ChangedBefore reports whether the headers of an answer say that its content is older than elapsed. Then the content
// already existed when the last visit got a 304. It compares only the server's dates with each other, never with our
// clock, and allows two seconds for rounding.
func ChangedBefore(h http.Header, elapsed time.Duration) bool {
	age, ok := ageBy(h)
	return ok && age > elapsed+2*time.Second
}

// ageBy returns how old a content was when it was sent, according to the headers of the answer: the time from
// Last-Modified to Date. It reports false if one of them is missing.
func ageBy(h http.Header) (age time.Duration, ok bool) {
	modified, err1 := http.ParseTime(h.Get("Last-Modified"))
	date, err2 := http.ParseTime(h.Get("Date"))
	return date.Sub(modified), err1 == nil && err2 == nil
}

// minAge is the minimum age of a Last-Modified that counts as the time of a change. Servers that generate a page for
// each request give it the time of the request.
const minAge = time.Minute

// ChangedAt returns when the content last changed, according to the headers of an answer that arrived at now. ok is
// false if the headers do not say it, or say that it was just now. Only the server's dates are compared with each
// other.
func ChangedAt(h http.Header, now time.Time) (at time.Time, ok bool) {
	age, ok := ageBy(h)
	if !ok || age < minAge {
		return time.Time{}, false
	}
	return now.Add(-age), true
}

// Lasting returns the validators of a response that may be remembered with its body. It omits a Last-Modified that is
// not at least one second older than the answer's Date. That is not a strong validator (RFC 9110, 8.8.2.2), as the
// content may change once more within that second.
func Lasting(h http.Header) Validators {
	v := ValidatorsOf(h)
	if age, ok := ageBy(h); ok && age < time.Second {
		v.LastModified = ""
	}
	return v
}

// Dating says what the dates of feeds and sitemaps are about. The numbers are stored: do not change or reuse them.
type Dating uint8

// The kinds of dates.
const (
	DatedEntries Dating = iota // when a feed listed new entries, and so changed itself
	DatedPages                 // when the pages changed that a feed or sitemap lists
	Datings      = iota        // the number of kinds
)

// String returns "entries" or "pages".
func (d Dating) String() string { return [...]string{"entries", "pages"}[d] }

// Dates records how reliable the dates of feeds and sitemaps have been on a host. The zero value knows nothing. It is a
// value: [Dates.After] returns a new one.
type Dates [Datings]Standing

// Dates are believed after datesProof right dates, and as long as at least the share datesPrecision of the last 64
// were right. Validators have to prove more. A wrong date makes an estimate less precise; a wrong validator loses a
// version.
const (
	datesProof     = 3
	datesPrecision = 0.8
)

// After returns the record after one more date was checked.
func (d Dates) After(about Dating, right bool) Dates {
	s := d[about].predicted(right)
	if right {
		s.ChangeRight++
	} else {
		s.ChangeWrong++
	}
	d[about] = s
	return d
}

// Believed reports whether dates are believed.
func (d Dates) Believed(about Dating) bool {
	return d[about].Known >= datesProof && d[about].Precision() >= datesPrecision
}
