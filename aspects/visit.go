package aspects

import (
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Visit is one exchange and its meaning, from its claim to its settlement. One goroutine at a time uses it.
type Visit struct {
	Claim    frontier.Claim
	Began    time.Time // when it was claimed
	Worker   int
	Settings schema.Holder // in force for the visit; see [OptionsOf]
	IsRobots bool          // the URI is a robots.txt

	Request  Request
	Capture  *fetch.Capture
	Finished time.Time
	Clock    frontier.ClockReading // of Finished

	Compared digest.Comparison // of the content; zero if it was not read whole
	Verdict  evaluators.Verdict
	// WaitState is the verdict as the wait evaluators read it. It differs from the verdict for pages that differ at each
	// fetch.
	WaitState evaluators.State
	Unread    bool   // the headers vouch for the body: a 304, or the download was stopped
	Failed    bool   // a misfortune: it changes nothing that was learned
	Gone      bool   // the server says that there is no such page
	Block     string // the kind of answer that came instead of the page, see [evaluators.Block]; empty = the page came
	Fault     error  // why the document could not be processed, which is no misfortune of the server; nil = it could

	Kept  Kept
	Found Found
	Next  Next

	own []slot
}

// Record returns what was remembered of the URI before the visit. It must not be changed.
func (v *Visit) Record() *frontier.Record { return &v.Claim.Record }

// URI returns the URI that is visited.
func (v *Visit) URI() uri.URI { return v.Claim.Record.URI }

// slot holds what one aspect keeps of a visit.
type slot struct {
	of   any
	used bool // in this visit; otherwise it is of the one before
}

// Of returns what an aspect keeps of a visit, in a type of the aspect's own. It is zero at the first call. The list of
// a visit is short, so a search is faster than a map.
func Of[T any](v *Visit) *T {
	for i := range v.own {
		s := &v.own[i]
		t, ok := s.of.(*T)
		if !ok {
			continue
		}
		if !s.used {
			*t, s.used = *new(T), true
		}
		return t
	}
	t := new(T)
	v.own = append(v.own, slot{t, true})
	return t
}

// Reset makes v ready for another visit. The memory of what aspects keep is used again.
func (v *Visit) Reset() {
	own := v.own
	for i := range own {
		own[i].used = false
	}
	*v = Visit{own: own}
}

// IsSubstitute reports whether a robots.txt redirects to the URI.
func (v *Visit) IsSubstitute() bool { return v.Claim.Record.RobotsVia != "" }

// IsPrerequisite reports whether the URI is a robots.txt or replaces one.
func (v *Visit) IsPrerequisite() bool { return v.IsRobots || v.IsSubstitute() }

// AskedOtherwise reports whether the settings have changed what is sent since the last capture.
func (v *Visit) AskedOtherwise() bool {
	return !v.Claim.Record.LastCapture.IsZero() && v.Request.Mark != v.Claim.Record.Asked
}

// Fail makes the visit a misfortune.
func (v *Visit) Fail(why string) {
	v.Failed = true
	v.Verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: why}
}

// Break makes the visit a misfortune of its URI alone, because the document could not be processed. What it found is
// dropped; an aspect that found something has a method Forget.
func (v *Visit) Break(err error) {
	v.Fail("failed")
	v.Block, v.Gone = "", false
	v.Fault = errors.Join(v.Fault, err)
	v.Capture.Misfortune = errors.Join(v.Capture.Misfortune, err)
	v.Found = Found{}
	for _, s := range v.own {
		if f, ok := s.of.(interface{ Forget() }); ok && s.used {
			f.Forget()
		}
	}
}

// ErrorText returns why the visit failed; "" if its status says enough.
func (v *Visit) ErrorText() string {
	misfortune := ""
	if v.Capture.Misfortune != nil {
		misfortune = v.Capture.Misfortune.Error()
	}
	return ErrorText(misfortune, v.Block)
}

// Request holds the exchange of a visit, and how far the headers of the answer are believed.
type Request struct {
	Exchange   fetch.Request
	Whole      bool                  // the body is read, whatever the headers say
	Filter     evaluators.Midfetch   // judges the headers of the answer
	Sent       evaluators.Validators // conditions of the request; zero = it is unconditional
	Mark       int                   // stands for what the settings add to the request
	Permission string                // why the URI may be visited although robots.txt forbids it; empty = it does not
	Strangers  bool                  // the answer is for strangers, although the crawler is logged in
	Audit      string                // why the body is read although the headers would vouch for it; empty = no audit
}

// Conditional reports whether the server may answer that nothing has changed.
func (r *Request) Conditional() bool { return r.Sent != evaluators.Validators{} }

// Kept describes the records of a visit in the archive.
type Kept struct {
	Keeping Keeping
	Record  digest.Origin // the main record written; zero for KeptNothing
	Origin  digest.Origin // the record that holds the payload: Record for a response, an earlier one for a revisit
	Written int64         // compressed bytes
	Looked  bool          // the archive was searched for the payload
	Hit     dedup.Hit     // the result of that search
	Unsound bool          // the record found is damaged, or may not be the origin; the new record replaces it
}

// Keeping is the kind of record that a visit left in the archive.
type Keeping uint8

// The values of Keeping.
const (
	KeptNothing     Keeping = iota // no byte came back, or nothing that is not in the archive already
	KeptResponse                   // the whole response
	KeptRevisit                    // a revisit record: the payload is in the archive already
	KeptNotModified                // a revisit record: the server said 304
	KeptHead                       // only the response's head, in a metadata record
	KeptThinned                    // nothing: the settings do not want the revisit record that would have been true
	KeptEvidence                   // the whole answer, in a metadata record: its head cannot be in a response record
)

// String returns a word for people.
func (k Keeping) String() string {
	return [...]string{"nothing", "response", "revisit", "not modified", "head", "thinned", "evidence"}[k]
}

// Found holds what a visit found.
type Found struct {
	Candidates []frontier.Candidate
	Seen       []byte    // entries that a source has listed so far; nil = as before
	Title      string    // of the page
	Dropped    int       // links beyond the page's limit
	Err        error     // why the content could not be read to its end; it stops nothing
	Born       time.Time // when the page came into being, if it turns out to be a new article

	Read bool             // the content is read: it is the first one, has changed or was cut
	Page *discover.Result // what the page names; nil = it was not read for links
}

// ErrorText returns the reason of a failed visit: what happened to the connection, or the kind of page that came
// instead of the content. It is empty if the status says enough.
func ErrorText(misfortune, block string) string {
	if misfortune == "" && block != "" {
		misfortune = "the server sent another page instead of the content: " + block
	}
	return misfortune
}
