package evaluators

import (
	"fmt"

	"github.com/arcrawl/arcrawl/digest"
)

// State is what a visit says about the content of a URI. The numbers are stored and only ever added to.
type State uint8

// The content states.
const (
	Unknown   State = iota // the visit says nothing about a change
	Unchanged              // the same as at the last complete capture
	Changed                // a new version
)

// String is "unknown", "unchanged" or "changed".
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

// Before is what is remembered of the last complete capture. The zero value means that there was none.
type Before struct {
	Known      bool   // there was one; the other fields mean nothing without it
	Status     int    // its HTTP status
	Location   string // its Location header; looked at for redirects only
	Comparison digest.Comparison
}

// Seen is what this visit saw. It must have had an answer: failures are not judged.
type Seen struct {
	Status     int
	Location   string            // looked at for redirects only
	Comparison digest.Comparison // of the whole content; means nothing if Unread, or if not Complete
	Unread     bool              // no body was read because the headers vouch for it: a 304, or the mid-fetch filter ended it
	Complete   bool              // the body was read to its end; not looked at if Unread
}

// Verdict is what a visit meant.
type Verdict struct {
	State   State  // a capture makes a version exactly when this is Changed
	First   bool   // there was no earlier complete capture to compare with
	Near    bool   // the digests differ, and their sketches do so little that the state is Unchanged: the remembered digest stays
	Rebased bool   // only the comparison digest is to be replaced; State is Unknown
	Reason  string // one short phrase, such as "status 200 → 404"
}

// ChangeEvaluator compares strictly: a byte more or less in what the scrubbing rules left over is a change.
// Its zero value is ready.
type ChangeEvaluator struct {
	// Tolerance makes it less strict: contents whose sketches differ in no more bits than this are the same. They are
	// compared with the last version, so that many small changes add up to a new one.
	Tolerance int
}

// Judge compares what was seen with what is remembered. It goes by the first of these rules that applies:
//
//  1. A body that broke off says nothing: Unknown, even if the status is another. If it counted, a server that
//     always breaks off would look changed at each visit, as a broken body is never remembered.
//  2. Without an earlier capture, a body read whole is Changed, the first version; headers that vouch for a body
//     which nobody has are Unknown.
//  3. Another status is Changed, and so is a redirect to another Location (its body is often empty and equal).
//     A 304 has no status of its own: it speaks for the remembered one.
//  4. A body left unread because the headers vouch for it is Unchanged.
//  5. Comparison digests made under different scrubbing rules cannot be compared: Unknown and Rebased. The new digest
//     takes the place of the old one, the interval stays, and no version is counted because a curator edited a
//     rule. A change that fell between two rules is so missed in the statistics, never in the archive: deduplication
//     goes by the payload digest. The same holds if none was remembered.
//  6. Equal digests are Unchanged, and so are near ones within the tolerance; others are Changed. No digest of this
//     visit is Unknown.
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
		return Verdict{State: Unchanged, Reason: "not modified (304)"}
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

const notModified = 304

// isRedirect reports whether a Location header means something: RFC 9110, 15.4.
func isRedirect(status int) bool { return status >= 300 && status <= 399 && status != notModified }
