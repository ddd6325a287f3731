package crawler

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// PastVisit is the part of a visit that the history of its URI depends on. It comes from the exchange while the crawl
// runs, and from its line in crawl.log when a lost store is rebuilt.
type PastVisit struct {
	Started time.Time
	Status  int              // HTTP status, or a negative code of Heritrix
	State   evaluators.State // the verdict of a visit that did not fail
	Failed  bool             // a misfortune: it changes nothing that was learned
	Gone    bool             // the server says that there is no such page
	Error   string           // why it failed, if the status does not say enough
	Unread  bool             // the body was not read: the headers vouch for it
	Body    PastBody         // zero if Unread
	Asked   int              // of the request that brought Body; see [frontier.History]
}

// PastBody is the body that a visit read, and the headers that came with it.
type PastBody struct {
	Complete    bool // it was not cut at a limit
	ContentType string
	Location    string
	Comparison  digest.Comparison // zero = not known
	Near        bool              // it differs so little that the comparison digest of the last capture stays
	Payload     digest.Digest
	Size        int64                 // of the payload, in bytes
	Origin      digest.Origin         // the record that holds the payload; zero = none, or as before
	Evidence    bool                  // no response record may have the head that came with it
	NoOrigin    bool                  // the archive has the body only as evidence: earlier records hold other payloads
	Validators  evaluators.Validators // that may be remembered together with the body
}

// Remember returns the record of a URI after one more visit. It is the one function that says what a visit changes. The
// wait until the next visit is decided afterwards.
func Remember(r frontier.Record, v PastVisit) frontier.Record {
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

// judged returns a history after a visit whose content was judged.
func judged(h frontier.History, v PastVisit) frontier.History {
	h.LastCapture = v.Started
	if v.State == evaluators.Changed {
		h.LastChange = v.Started
		h.Versions++
	}
	if v.Unread {
		h.Unread++
		switch v.State {
		case evaluators.Unknown:
			h.Validators = evaluators.Validators{} // the headers contradict themselves: the next visit asks for the body
		case evaluators.Unchanged:
			h.Recent = h.Recent.Repeat()
		}
		return h
	}
	body := v.Body
	h.Unread, h.Asked, h.Evidence = 0, v.Asked, body.Evidence
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

// asciiSigns replaces the signs in reasons that are not ASCII. ASCII can be read without knowing an encoding, and short
// ASCII records have a compression of their own, see package warcout.
var asciiSigns = strings.NewReplacer("×", "x", "÷", "/", "→", "->")

// ascii returns a reason as it is written in the archive.
func ascii(reason string) string {
	for i := range len(reason) {
		if reason[i] >= utf8.RuneSelf {
			return asciiSigns.Replace(reason)
		}
	}
	return reason // as nearly all are; the replacer would copy it
}

// visitReason returns why a URI was visited now: what decided its due time.
func visitReason(r frontier.Record) string {
	switch {
	case r.Visits == 0 && r.Via == "" && r.Why == "":
		return "seed"
	case r.Visits == 0 && r.Why == "":
		return "new"
	}
	return r.Why
}

// PayloadSHA256 is the name of the SHA-256 of a whole payload in a metadata record.
const PayloadSHA256 = "payloadSHA256"
