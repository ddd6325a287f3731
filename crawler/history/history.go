// Package history turns visits into the history of a URI.
//
// A history has two sources: the exchanges themselves while the crawl runs, and their lines in crawl.log when a lost
// store is rebuilt. Both are brought into the same form, [Visit]. [Add] is the one function that says what a visit
// changes.
//
//	exchange ─────────▶ Visit ──▶ Add ──▶ history
//	line ──▶ Replay ──▶ Visit ──▶ Add ──▶ history ──▶ Recaptured ──▶ history
//
// A line lacks the headers, the comparison digest and the exact place of the payload. [Recaptured] adds them from the
// archive.
//
// # Rebuilding a lost store
//
// [Rebuild] reads every line of the logs, in the order of time, and adds it to the history of its URI as the visit
// itself did. Then it looks up the last payload of each URI in the archive. The line of a visit is written after its
// records and before it is settled (law 1), so the logs know every visit that the lost store knew.
//
// [FindMissing] and [AddMissing] do the same for the last visits only, if the store lost these.
//
// Lines without the thirteenth column (log.extra_info) suffice: [Infer] infers most of it from the other
// columns, and the archive has the place of the record.
//
// The headers in the archive teach again how reliable the headers of each host are, and the lines what similar URIs
// have in common. [RebuildLinks] also reads the archived pages again, for the URIs that were found but never visited.
//
// What neither a log nor the archive holds cannot be rebuilt, such as holds and pauses. The crawl learns most of the
// rest again.
package history

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// Visit is the part of a visit that the history of its URI depends on.
type Visit struct {
	Started time.Time
	Status  int              // HTTP status, or a negative code of Heritrix
	State   evaluators.State // the verdict of a visit that did not fail
	Failed  bool             // a misfortune: it changes nothing that was learned
	Gone    bool             // the server says that there is no such page
	Error   string           // why it failed, if the status does not say enough
	Unread  bool             // the body was not read: the headers vouch for it
	Body    Body             // zero if Unread
	Asked   int              // of the request that brought Body; see [frontier.History]
}

// Body is the body that a visit read, and the headers that came with it.
type Body struct {
	Complete    bool // it was not cut at a limit
	ContentType string
	Location    string
	Comparison  digest.Comparison // zero = not known
	Near        bool              // it differs so little that the comparison digest of the last capture stays
	Payload     digest.Digest
	Size        int64                 // of the payload, in bytes
	Origin      digest.Origin         // the record that holds the payload; zero = none, or as before
	NoOrigin    bool                  // the archive has the body only as evidence: earlier records hold other payloads
	Validators  evaluators.Validators // that may be remembered together with the body
}

// Add returns the record of a URI after one more visit. The wait until the next visit is decided afterwards.
func Add(r frontier.Record, v Visit) frontier.Record {
	r.Visits++
	r.LastVisit, r.LastStatus, r.LastError = v.Started, v.Status, v.Error
	switch {
	case v.Gone:
		r.Gone++
		if !v.Failed {
			r.Failures = 0
			r.History = judged(r.History, v)
		}
	case v.Failed:
		r.Failures++
	default:
		r.Failures, r.Gone = 0, 0
		r.History = judged(r.History, v)
	}
	return r
}

// Entitle notes the title of a page, unless the visit found none: a page that is unchanged is not read for titles.
func Entitle(r *frontier.Record, title string) {
	if title != "" {
		r.Title = title
	}
}

// judged returns a history after a visit whose content was judged.
func judged(h frontier.History, v Visit) frontier.History {
	h.LastCapture = v.Started
	if v.State == evaluators.Changed {
		h.LastChange = v.Started
		h.Versions++
	}
	if v.Unread {
		h.Unread++
		if v.State == evaluators.Unknown {
			h.Validators = evaluators.Validators{} // the headers contradict themselves: the next visit asks for the body
		}
		return h
	}
	body := v.Body
	h.Unread, h.Asked = 0, v.Asked
	h.Status, h.Location, h.ContentType = v.Status, body.Location, body.ContentType
	if !body.Near {
		h.Comparison = body.Comparison
	}
	h.Recent = h.Recent.Push(body.Comparison.Sum)
	h.Validators = evaluators.Validators{}
	if !body.Complete {
		return h // no validator applies to a body that was cut
	}
	h.LastRead = v.Started
	h.Payload, h.Size = body.Payload, body.Size
	if !body.Origin.IsZero() || body.NoOrigin {
		h.Origin = body.Origin
	}
	h.Validators = body.Validators
	return h
}

// signs replaces the signs in reasons that are not ASCII. ASCII can be read without knowing an encoding, and short
// ASCII records have a compression of their own, see package warcout.
var signs = strings.NewReplacer("×", "x", "÷", "/", "→", "->")

// ASCII returns a reason as it is written in the archive.
func ASCII(reason string) string {
	for i := range len(reason) {
		if reason[i] >= utf8.RuneSelf {
			return signs.Replace(reason)
		}
	}
	return reason // as nearly all are; the replacer would copy it
}

// VisitReason returns why a URI was visited now: what decided its due time.
func VisitReason(r frontier.Record) string {
	switch {
	case r.Visits == 0 && r.Via == "" && r.Why == "":
		return "seed"
	case r.Visits == 0 && r.Why == "":
		return "new"
	}
	return r.Why
}
