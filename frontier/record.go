package frontier

import (
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

//go:generate go run ../internal/rowgen

// MaxText is the maximum length in bytes of a text in a [Record]; a longer one is stored empty. No URI is longer, and a
// server that sends a longer ETag will send another one next time.
const MaxText = uri.MaxLength

// MaxWhy is the maximum length in bytes of History.Why.
const MaxWhy = 160

// MaxChain is the maximum length in bytes of History.Chain.
const MaxChain = 400

// MaxTitle is the maximum length in bytes of History.Title.
const MaxTitle = 200

// MaxError is the maximum length in bytes of History.LastError and of the reason why a host is down. It has room for a
// reason that names a host of maximum length three times, and for what to do.
const MaxError = 1024

// Values of History.Why if the wait evaluator did not decide.
const (
	WhySooner = "sooner than planned: a front page, feed, sitemap or hub named it, its host carries more, or the operator let it go"
	whyAsked  = "the operator asked for it"
	whyBack   = "back in scope: due as it was before it was found out of scope"
)

// WhyRetryAfter is the value of History.Why if a Retry-After decided about Due.
const WhyRetryAfter = "the host asked for it: Retry-After"

// Record is all that the frontier remembers of one URI. Hops, Via and Seed say how it was first found.
//
// The tags of Record, [History] and [Entry] declare how they are stored and exported; go generate makes the code for
// that from them. To add a field, give it a key and a name that were never used, run go generate ./frontier, and add a
// row to the golden rows of the tests. Keys and names never change.
type Record struct {
	URI  uri.URI     `row:"1" export:"uri"`
	Hops uri.HopPath `row:"2" export:"hops"`
	Via  string      `row:"3" export:"via"`  // the URI that it was found on, empty for a seed
	Seed string      `row:"4" export:"seed"` // the seed that it descends from
	History
}

// History holds what the frontier remembers about the visits of a URI. The zero value is the history of a URI that was
// never visited.
type History struct {
	FirstSeen   time.Time `row:"5" export:"first_seen"`   // when the URI became known
	LastVisit   time.Time `row:"6" export:"last_visit"`   // end of the last visit, successful or not
	LastCapture time.Time `row:"7" export:"last_capture"` // last complete body, or confirmation that it is unchanged
	LastRead    time.Time `row:"28" export:"last_read"`   // last complete body that was read
	LastChange  time.Time `row:"8" export:"last_change"`  // last visit that found other content
	Due         time.Time `row:"9,due" export:"due"`      // when to visit it next; zero means on demand only

	// DueInScope is when the URI was due when it was first found out of scope; zero if it was in scope at the last visit.
	// [Frontier.ReturnToScope] makes the URI due then. Such URIs are listed; see [Frontier.OutOfScope].
	DueInScope time.Time `row:"56" export:"due_in_scope"`

	Visits   int `row:"10" export:"visits"`
	Versions int `row:"11" export:"versions"`
	Failures int `row:"12" export:"failures"` // consecutive failed visits, up to now
	Unread   int `row:"13" export:"unread"`   // consecutive unchanged visits whose body was not read
	Gone     int `row:"29" export:"gone"`     // consecutive visits that were answered 404 or 410

	LastStatus int           `row:"14,signed" export:"last_status"` // of the last visit
	Wait       time.Duration `row:"15" export:"wait"`               // the wait interval learned so far

	// Rate is the expected number of changes per day. Zero means unknown; the frontier then assumes one change in each
	// Wait.
	Rate float64 `row:"40" export:"rate"`

	// Memory holds bytes that the wait evaluator stores for the URI. Only the evaluator reads them.
	Memory string `row:"30,whole" export:"memory"`

	// Look holds bytes that say how the URI differs from fetch to fetch, see [evaluators.Look].
	Look string `row:"60,whole" export:"look"`

	// Restless says that the URI differs at each fetch, whatever is compared. It is no version that anybody would miss, so
	// it counts in no estimate.
	Restless bool `row:"61" export:"restless"`

	// Rendered holds bytes that say what text a browser showed of the page; see the wing render.
	Rendered string `row:"63,whole" export:"rendered"`

	// Why names the rule that decided about Due, and its reason. It is cut to [MaxWhy] bytes.
	Why string `row:"85,max=MaxWhy" export:"why"`

	// Chain says who decided about Due, and who overruled whom. It is empty if nobody was overruled: then Why says all. It
	// is cut to [MaxChain] bytes.
	Chain string `row:"86,max=MaxChain" export:"chain"`

	// LastError says why the last visit failed, and what to do about it if we know. It is empty if the visit did not fail
	// or LastStatus says enough. It is cut to [MaxError] bytes.
	LastError string `row:"90,max=MaxError" export:"last_error"`

	// RobotsVia is the URI whose redirect makes this one replace a robots.txt; empty for all others.
	RobotsVia string `row:"57" export:"robots_via"`

	// Source holds the stored state of a feed or sitemap, or of a URI that may be one. It is empty for all others.
	Source string `row:"50" export:"source"`

	// Born is when the page was published, if it is followed as an article; zero if it is not.
	Born time.Time `row:"51" export:"born"`

	Urgent bool `row:"52" export:"urgent"` // visited before all others when it is due
	Prompt bool `row:"53" export:"prompt"` // visited before most others when it is due, but after urgent ones: a feed

	// ReportedChange is when the URI changed according to a feed or sitemap. It is zero if none reported a change.
	// ReportedUnchanged is the latest time at which that source had not reported the change yet; zero if it is not
	// known. The next visit uses both.
	ReportedChange    time.Time `row:"54" export:"said_changed"`
	ReportedUnchanged time.Time `row:"55" export:"said_nothing"`

	// The remaining fields describe the last complete capture.

	// Asked stands for the header fields and cookies of its request, as far as the settings chose them. Zero stands
	// for the request that is always made.
	Asked int `row:"62" export:"asked"`

	// Evidence says that the archive has its head as evidence: no response record may have such a head.
	Evidence bool `row:"64" export:"evidence"`

	// Shell says that scripts make what a reader sees: the last page that was read for links has hardly any text itself.
	Shell bool `row:"65" export:"shell"`

	Title       string                `row:"70,max=MaxTitle" export:"title"` // of the last page that differed
	ContentType string                `row:"16" export:"content_type"`
	Status      int                   `row:"17,signed" export:"status"`
	Location    string                `row:"18" export:"location"`
	Validators  evaluators.Validators `row:"19 20" export:"etag last_modified"`
	Payload     digest.Digest         `row:"21" export:"payload"`
	Comparison  digest.Comparison     `row:"22 23 27" export:"comparison"`
	Recent      evaluators.Ring       `row:"31" export:"recent"` // the last comparison digests that were read, shortened
	Size        int64                 `row:"24" export:"size"`   // of the payload, in bytes
	Origin      digest.Origin         `row:"25" export:"origin"` // the record that holds the payload
}

// Entry is a URI as an operator sees it, and as an export has it: with all its history. As JSON it is one line.
type Entry struct {
	Record
	Held       bool `row:"80" export:"held"`      // by an operator: it keeps its due time, but is not handed out
	Forbidden  bool `row:"26" export:"forbidden"` // by robots.txt, at the last visit
	InProgress bool `export:"in_progress"`        // claimed
}
