package frontier

import (
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// MaxText is the length in bytes above which a text of a [Record] is not remembered but stored empty. No URI is longer,
// and a server that sends a longer ETag will send another one next time.
const MaxText = uri.MaxLength

// MaxRobots is how many bytes of a robots.txt are kept; the rest is cut off. RFC 9309, section 2.5, has at least 500
// KiB read, and nothing here reads more than that.
const MaxRobots = 512 << 10

// MaxSeen bounds the bytes of [Settlement.Seen].
const MaxSeen = 800 << 10

// MaxWhy bounds the bytes of History.Why.
const MaxWhy = 160

// What History.Why says when it was not the wait evaluator that decided.
const (
	whySooner = "sooner than planned: a feed, a sitemap or a hub named it, or the operator let it go"
	whyAsked  = "the operator asked for it"
)

// History is what is remembered of a URI's visits. The zero value is that of a URI that was never visited.
type History struct {
	FirstSeen   time.Time // when it became known
	LastVisit   time.Time // end of the last visit, whatever came of it
	LastCapture time.Time // last complete body, or a vouched unchanged one
	LastRead    time.Time // last complete body that was read
	LastChange  time.Time // last visit that found another content
	Due         time.Time // when to visit next; zero is on demand only

	Visits   int
	Versions int
	Failures int // in a row, up to now
	Unread   int // unchanged visits in a row whose body was not read
	Gone     int // visits in a row that were answered 404 or 410

	LastStatus int           // of the last visit
	Wait       time.Duration // wait interval learned so far
	Rate       float64       // changes per day that are expected; zero is unknown, and taken as one in each Wait
	Memory     string        // bytes that the wait evaluator keeps of the URI; it alone reads them
	Why        string        // who decided about Due and why, in words; what is longer than [MaxWhy] is cut

	Source string    // bytes that are kept of a feed or sitemap, or of what may be one; empty for all else
	Born   time.Time // when the page came into being, if it is followed up as an article; zero if not
	Urgent bool      // visited before all that is not, when it is due
	Prompt bool      // visited before all that is neither, for the most part, when it is due: a feed

	SaidChanged time.Time // when it changed by the word of a feed or sitemap, for the next visit to see; zero if none said so
	SaidNothing time.Time // until when the same one had not said so; zero if that is not known

	// The rest is of the last complete capture.

	ContentType string
	Status      int
	Location    string
	Validators  evaluators.Validators
	Payload     digest.Digest
	Comparison  digest.Comparison
	Recent      evaluators.Ring // the last comparison digests that were read, shortened
	Size        int64           // bytes of the payload
	Origin      digest.Origin
}

// Record is all that is remembered of one URI. Hops, Via and Seed say how it was first found.
type Record struct {
	URI  uri.URI
	Hops uri.HopPath
	Via  string // URI that it was found on, empty for a seed
	Seed string // URI of the seed it descends from
	History
}

// Candidate is a URI that was found and may be new.
type Candidate struct {
	URI  uri.URI
	Hops uri.HopPath
	Via  string
	Seed string
	Due  time.Time // zero is now

	// Source, Born and Urgent are what its history begins with.
	Source string
	Born   time.Time
	Urgent bool

	// Sooner tells that a known URI which is due later than Due is due then, urgent if Urgent says so. One that is on
	// demand stays that. Of one that is being visited meanwhile the next visit comes so early.
	Sooner bool

	// SaidChanged and SaidNothing are remembered of a known URI if Sooner says so: the latest change that was told of since it
	// was visited, and the first silence. While it is being visited a change counts that comes after that visit's capture.
	SaidChanged, SaidNothing time.Time
}

// Added says what became of candidates.
type Added struct {
	New     int // became known
	Known   int // were known, and stay exactly as they were but for those of Sooner
	Sooner  int // of Known, those that are due sooner now
	Refused int // their host has as many URIs as it may have
}

func (a Added) plus(b Added) Added {
	return Added{New: a.New + b.New, Known: a.Known + b.Known, Sooner: a.Sooner + b.Sooner, Refused: a.Refused + b.Refused}
}

// Claim is the right, and the duty, to visit one URI once. It is ended by exactly one of [Frontier.Settle],
// [Frontier.Release] and [Frontier.Divert]. The zero value is stale.
type Claim struct {
	Record  Record
	Overdue time.Duration // how long after its due time it was claimed; zero for one that was not due

	owner  *Frontier // frontiers do not take each other's claims
	serial uint64    // unique among the claims of owner
	uri    uri.URI   // the claimed one, whatever the caller does with Record
}

// Politeness says how long a slot sleeps after a visit: DelayFactor times the duration of the visit, cut to MaxDelay,
// then raised to MinDelay and to CrawlDelay; never longer than 24 hours. The zero value is no delay.
type Politeness struct {
	DelayFactor        float64
	MinDelay, MaxDelay time.Duration
	CrawlDelay         time.Duration // what robots.txt asks for, bounded by the caller; zero is nothing
}

// Settlement is what a visit comes to.
type Settlement struct {
	// Record is what is remembered of the URI from now on. It must be of the claimed URI. Due may lie in the past, which
	// makes the URI due at once; a zero Due takes it out of the queue.
	Record Record

	Finished   time.Time     // end of the visit; the delays count from here
	Took       time.Duration // from the first byte sent to Finished
	Politeness Politeness

	RetryAfter time.Time // the whole host rests until then, at most 24 hours after Finished; zero is no rest

	// HostDown tells that the host's name did not resolve or nothing answered at its address. The whole host rests, for
	// one minute and then for twice as long each time in a row, up to an hour; its URIs keep their due times. Any
	// settlement without it ends the row, unless it is Unasked.
	HostDown bool

	// Unasked tells that the host was asked for nothing: the URI was refused or put off. It says nothing about the host.
	Unasked bool

	Found []Candidate // newly discovered; their zero Due is Finished

	// Seen is what a feed or sitemap has listed so far, at most [MaxSeen] bytes, to be had by [Frontier.Seen]. It is remembered
	// with the URI and never before what it makes of Found. Nil leaves what there is.
	Seen []byte

	Forbidden bool        // robots.txt forbids the URI: it is listed for Reopen
	Robots    *RobotsCopy // the visit was to a robots.txt: keep this copy in force for its origin; nil changes nothing

	// Reopen tells that the rules of the URI's origin changed: all URIs of that origin that were settled as Forbidden are
	// due at Finished, and listed no longer. A claim of that origin which is in progress meanwhile may have been judged by
	// the old rules; if it is settled as Forbidden it is due again at once instead.
	Reopen bool

	// Also writes what others remember of the visit, in the transaction of the settlement: both are remembered, or neither. It is called with
	// locks held, and again if the transaction has to be made anew; an error of it is one of the settlement. Nil is nothing.
	Also func(txn *badger.Txn) error
}

// RobotsCopy is the robots.txt of an origin as last fetched.
type RobotsCopy struct {
	Fetched, Expires time.Time
	Status           int
	Unreachable      bool
	Body             []byte // at most [MaxRobots] are kept
}
