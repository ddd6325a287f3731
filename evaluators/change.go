package evaluators

import (
	"fmt"

	"github.com/arcrawl/arcrawl/digest"
)

// State says whether the content of a URI changed. The numbers are stored: do not change or reuse them.
type State uint8

// The content states.
const (
	Unknown   State = iota // the visit says nothing about a change
	Unchanged              // the same as at the last complete capture
	Changed                // a new version
)

// String returns "unknown", "unchanged" or "changed".
func (s State) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Unchanged:
		return "unchanged"
	case Changed:
		return "changed"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Before holds what is remembered of the last complete capture. The zero value means that there was no such capture.
type Before struct {
	Known      bool   // there was such a capture; if false, the other fields are ignored
	Status     int    // its HTTP status
	Location   string // its Location header; read for redirects only
	Comparison digest.Comparison
}

// Seen holds what this visit saw. It must have had an answer: failures are not judged.
type Seen struct {
	Status     int
	Location   string            // read for redirects only
	Comparison digest.Comparison // of the whole content; ignored if Unread, or if not Complete
	Unread     bool              // no body was read: the answer was 304, or the mid-fetch filter ended the download
	Complete   bool              // the body was read to its end; ignored if Unread
}

// Verdict says what a visit means.
type Verdict struct {
	State   State  // a capture makes a version exactly when this is Changed
	First   bool   // there was no earlier complete capture to compare with
	Near    bool   // digests differ, sketches are within the tolerance: Unchanged, and the remembered digest stays
	Rebased bool   // replace only the comparison digest; State is Unknown
	Reason  string // one short phrase, such as "status 200 → 404"
}

// ChangeEvaluator decides whether a URI changed. Its zero value is strict: any difference that the scrubbing rules
// leave is a change.
type ChangeEvaluator struct {
	// Tolerance is the number of bits in which the sketches of two contents may differ without a change. Contents are
	// compared with the last version, so that many small changes add up to a new one.
	Tolerance int
}

// Judge compares this visit with the last capture. The first of these rules that applies decides:
//
//  1. An incomplete body is Unknown, even if the status differs. If it counted, a server that always breaks off would
//     look changed at each visit, as an incomplete body is never remembered.
//  2. Without an earlier capture, a complete body is Changed, the first version. An unread body is Unknown.
//  3. A different status is Changed, and so is a redirect to a different Location (its body is often empty and equal).
//     A 304 has no status of its own: it confirms the remembered one.
//  4. A body left unread because of its headers is Unchanged.
//  5. Comparison digests made under different scrubbing rules cannot be compared: Unknown and Rebased. The new digest
//     replaces the old one, the interval stays, and no version is counted because a curator edited a rule. A change
//     that coincides with it is missed in the statistics, but not in the archive: deduplication compares payload
//     digests. The same holds if no digest was remembered.
//  6. Equal digests are Unchanged, and so are near ones within the tolerance. Others are Changed. Without a digest of
//     this visit the state is Unknown.
func (e ChangeEvaluator) Judge(b Before, s Seen) Verdict {
	if !s.Complete && !s.Unread {
		return Verdict{State: Unknown, First: !b.Known, Reason: "body incomplete"}
	}
	if !b.Known {
		if s.Unread {
			return Verdict{State: Unknown, First: true, Reason: "body not read and no earlier capture"}
		}
		return Verdict{State: Changed, First: true, Reason: "first capture"}
	}
	if s.Status != notModified || !s.Unread {
		if s.Status != b.Status {
			return Verdict{State: Changed, Reason: fmt.Sprintf("status %d → %d", b.Status, s.Status)}
		}
		if isRedirect(s.Status) && s.Location != b.Location {
			return Verdict{State: Changed, Reason: "redirect target differs"}
		}
	}
	if s.Unread {
		return judgeUnread(s)
	}
	return e.judgeDigest(b.Comparison, s.Comparison)
}

func judgeUnread(s Seen) Verdict {
	if s.Status == notModified {
		return Verdict{State: Unchanged, Reason: NotModified}
	}
	return Verdict{State: Unchanged, Reason: "headers unchanged, body not read"}
}

func (e ChangeEvaluator) judgeDigest(before, now digest.Comparison) Verdict {
	switch {
	case now.Sum.IsZero():
		return Verdict{State: Unknown, Reason: "no digest of this visit"}
	case before.Sum.IsZero():
		return Verdict{State: Unknown, Rebased: true, Reason: "no digest to compare with, re-based"}
	case before.Rules != now.Rules:
		return Verdict{State: Unknown, Rebased: true, Reason: "other scrubbing rules, re-based"}
	case before.Sum == now.Sum:
		return Verdict{State: Unchanged, Reason: "same digest"}
	}
	if near, bits := now.Near(before, e.Tolerance); near && e.Tolerance > 0 {
		return Verdict{State: Unchanged, Near: true, Reason: fmt.Sprintf("nearly the same, %d of 64 bits differ", bits)}
	}
	return Verdict{State: Changed, Reason: "digest differs"}
}

// NotModified is the reason of a verdict that follows from the status 304.
const NotModified = "not modified (304)"

const notModified = 304

// isRedirect reports whether a Location header has a meaning with this status (RFC 9110, 15.4).
func isRedirect(status int) bool { return status >= 300 && status <= 399 && status != notModified }
