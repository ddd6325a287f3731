package evaluators

import (
	"math/bits"
	"net/http"
	"strings"
	"time"
)

// Witness is what can testify that a body did not change. The numbers are stored and only ever added to.
type Witness uint8

// The witnesses. A weak ETag is a witness of its own, because it vouches for less: by RFC 9110, 8.8.1, it may stay
// while bytes change.
const (
	WitnessETag         Witness = iota // a strong ETag
	WitnessWeakETag                    // an ETag that begins with W/
	WitnessLastModified                // Last-Modified, compared for equality
	WitnessNotModified                 // the answer 304 to a conditional request
	Witnesses           = iota         // how many there are
)

// String is the witness's name for people: "ETag", "weak ETag", "Last-Modified" or "304".
func (w Witness) String() string {
	return [...]string{"ETag", "weak ETag", "Last-Modified", "304"}[w]
}

// Class divides the types of content, since a host that lies about its pages may well be honest about its images. The
// numbers are stored and only ever added to.
type Class uint8

// The classes of content.
const (
	ClassText  Class  = iota // what people write: text types, and XML and JSON by whatever name
	ClassOther               // everything else, and what has no type
	Classes    = iota        // how many there are
)

// String is "text" or "other".
func (c Class) String() string { return [...]string{"text", "other"}[c] }

// ClassOf is the class of a Content-Type.
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

// Standing is what a witness has been worth so far: the table of Heritrix's DeDuplicator, and its last predictions of
// no change one by one. It grows only by visits where both the headers and the body are known.
type Standing struct {
	ChangeRight int64 // it predicted a change, and there was one
	ChangeWrong int64 // it predicted a change, and there was none
	SameRight   int64 // it predicted no change, and there was none
	SameWrong   int64 // it predicted no change, and there was one: a version would have been lost
	Missing     int64 // the answer did not have it

	Recent uint64 // the last predictions of no change, the newest in the lowest bit; 1 is a wrong one
	Known  int    // how many bits of Recent mean something, at most 64
	Doubts int    // audits in a row that found a change which no conditional request had told of; of the 304 only
}

// window is how many predictions of no change are looked back on. Older ones no longer speak for a witness, so that one
// that begins to lie falls fast however long it was honest, and one that mends its ways rises again.
const window = 64

// Precision is the share of right ones among the last predictions of no change; 1 if there was none.
func (s Standing) Precision() float64 {
	if s.Known == 0 {
		return 1
	}
	return 1 - float64(s.wrong())/float64(s.Known)
}

func (s Standing) wrong() int { return bits.OnesCount64(s.Recent) }

// predicted is s after a prediction of no change.
func (s Standing) predicted(right bool) Standing {
	s.Recent <<= 1
	if !right {
		s.Recent |= 1
	}
	s.Known = min(s.Known+1, window)
	return s
}

// saw is s after a visit at which the witness predicted a change or none, and the body told what was so.
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

// Reputation is the standing of each witness of a host, by class of content. The zero value knows nothing. It is a
// value: [Reputation.After] gives a new one.
type Reputation [Classes][Witnesses]Standing

// Observation is a visit where both the headers and the body are known, and an earlier body to compare with was too.
type Observation struct {
	MIME        string     // Content-Type of the answer
	Before      Validators // remembered with the last body; empty where none was kept
	Now         Validators // of this answer
	State       State      // as judged by the bodies; Unknown makes the observation worthless
	Conditional bool       // the request had conditions, and the server answered with the body all the same
	Denied      bool       // the request had none, and the visit before was answered 304
	Stale       bool       // the change is older than that 304, see [ChangedBefore]
}

// After is the reputation with one observation more.
//
// The 304 is tallied by audits. Unchanged content proves it right. Changed content proves it wrong only if the change
// is older than the last 304; else it may have come since. But on an honest host the many conditional requests find
// most changes, so a second audit in a row that finds one, with no conditional request between them that told of any,
// counts as a lie too.
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
	tell := func(w Witness, before, now string, same bool) {
		switch {
		case now == "":
			of[w].Missing++
		case before != "":
			of[w] = of[w].saw(same, unchanged)
		}
	}
	tell(tag, o.Before.ETag, o.Now.ETag, opaque(o.Before.ETag) == opaque(o.Now.ETag))
	tell(WitnessLastModified, o.Before.LastModified, o.Now.LastModified, o.Before.LastModified == o.Now.LastModified)
	of[WitnessNotModified] = of[WitnessNotModified].after(o, unchanged)
	return r
}

// maxDoubts is how many audits in a row may find a change that no 304 could have told of.
const maxDoubts = 2

// after is the standing of the 304 with one observation more.
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
		return s.predicted(true) // not asked any more: what it did is forgotten slowly, so that it gets another chance
	}
	return s
}

// opaque is an ETag without the mark of a weak one, for the weak comparison of RFC 9110, 8.8.3.2.
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

func witnessOf(etag string) Witness {
	if strings.HasPrefix(etag, "W/") {
		return WitnessWeakETag
	}
	return WitnessETag
}

// Bar is what a witness must have proven before it is believed.
type Bar struct {
	Proof     int     // right predictions of no change that are needed first, see [Bar.Proven]; 0 believes at once
	Precision float64 // share of right ones among its last 64 predictions of no change; below it the witness is not believed
}

// unseen is how many times as many predictions are needed of a witness that was never seen to tell of a change.
const unseen = 4

// Proven reports whether a witness has shown enough to be believed: Proof predictions of no change, and four times as
// many as long as it never told of a change that there was. A header that is frozen is right about every page that
// stays the same; what it is worth shows when one changes.
func (b Bar) Proven(s Standing) bool {
	if s.ChangeRight == 0 {
		return s.Known >= min(unseen*b.Proof, window)
	}
	return s.Known >= b.Proof
}

// Doubts are the witnesses that are not believed. The zero value believes all.
type Doubts [Witnesses]bool

// Doubts says whom not to believe about content of this type. The 304 needs no proof before it is believed, because the
// headers that are sent for it do.
func (r Reputation) Doubts(contentType string, b Bar) Doubts {
	var d Doubts
	for w, s := range r[ClassOf(contentType)] {
		unproven := !b.Proven(s) && Witness(w) != WitnessNotModified
		d[w] = unproven || s.Precision() < b.Precision
	}
	return d
}

// Audit says how often a body is read although the headers would vouch for it. Whatever the evidence, none stays
// unread for longer than Every visits or the time Within.
type Audit struct {
	Every  int           // at least after so many visits in a row without reading the body; 0 sets no limit
	Within time.Duration // at least so long after the body was last read; 0 sets no limit
	Share  float64       // share of the visits to a host that is long known to be honest; see [Audit.Due]
}

// Visit is what an audit is decided by. It must not be one to a URI without validators: that is read anyway.
type Visit struct {
	MIME   string        // Content-Type of the last capture
	Unread int           // visits in a row that did not read the body
	Since  time.Duration // since the body was last read
	Lot    uint64        // evenly spread over all visits, the same whenever this visit is asked about
}

// Due reports whether a visit is to read the body whatever the headers say, and why. Besides the limits, the lot
// decides: Share of all visits when the witnesses of the host have 64 right predictions each; three times as many while
// nothing is known of them; ten times as many, though at most half, as long as one of their last 64 was a lie.
func (a Audit) Due(r Reputation, v Visit) (bool, string) {
	switch {
	case a.Every > 0 && v.Unread >= a.Every:
		return true, "audit: so many visits without reading"
	case a.Within > 0 && v.Unread > 0 && v.Since >= a.Within:
		return true, "audit: so long without reading"
	case float64(v.Lot>>11)/(1<<53) < a.share(r[ClassOf(v.MIME)]):
		return true, "audit: drawn"
	}
	return false, ""
}

func (a Audit) share(of [Witnesses]Standing) float64 {
	evidence, lied := 0, false
	for _, s := range of {
		evidence = max(evidence, s.Known)
		lied = lied || s.Recent != 0
	}
	if lied {
		return min(a.Share*10, max(a.Share, 0.5))
	}
	return min(1, a.Share*(1+2*float64(window-evidence)/window))
}

// ChangedBefore reports whether an answer tells by its own headers that its content is older than elapsed: that it was
// there already when the last visit was told that there was none. Only the server's dates are compared with each other,
// never with our clock; two seconds are allowed for their rounding.
func ChangedBefore(h http.Header, elapsed time.Duration) bool {
	modified, err1 := http.ParseTime(h.Get("Last-Modified"))
	date, err2 := http.ParseTime(h.Get("Date"))
	return err1 == nil && err2 == nil && date.Sub(modified) > elapsed+2*time.Second
}

// madeNow is how young a Last-Modified must not be to be taken for the time of a change: servers that make a page for
// each request date it then.
const madeNow = time.Minute

// ChangedAt is when an answer says that its content last changed, on the clock by which it came at now; ok is false
// where it does not say, or says that it was just now. Only the server's dates are compared with each other.
func ChangedAt(h http.Header, now time.Time) (at time.Time, ok bool) {
	modified, err1 := http.ParseTime(h.Get("Last-Modified"))
	date, err2 := http.ParseTime(h.Get("Date"))
	age := date.Sub(modified)
	if err1 != nil || err2 != nil || age < madeNow {
		return time.Time{}, false
	}
	return now.Add(-age), true
}

// Lasting are the validators of a response that may be remembered with its body. A Last-Modified that is not at least
// one second older than the answer's own Date is no strong validator (RFC 9110, 8.8.2.2): the content may change once
// more within that second. It is left out.
func Lasting(h http.Header) Validators {
	v := ValidatorsOf(h)
	modified, err1 := http.ParseTime(v.LastModified)
	date, err2 := http.ParseTime(h.Get("Date"))
	if err1 == nil && err2 == nil && date.Sub(modified) < time.Second {
		v.LastModified = ""
	}
	return v
}
