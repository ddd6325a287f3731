package config

import (
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Settings is all that the visit of one URI needs to know, resolved for its host. It is a value; its slices are shared
// and must not be written to.
type Settings struct {
	Politeness Politeness
	Robots     Robots
	// Wait is the stack of wait evaluators: the host file's [[wait]] entries, then the main file's, or
	// [evaluators.Default]. It is never empty.
	Wait evaluators.Stack
	// Retry is the wait after failures in a row. Its fields are retry.first ("10m"), retry.factor (2.0) and
	// retry.max ("7d").
	Retry    evaluators.Ladder
	Midfetch Midfetch
	Fetch    fetch.Limits
	Scope    Scope
	Limits   frontier.Limits // scope.max_uris and scope.max_uris_per_directory
	Links    discover.Bounds // scope.max_links and scope.speculative
	Change   Change
	Trouble  Trouble
	Feeds    Feeds
	Articles Articles
	Dedup    dedup.Policy
	// Names says which URIs are one. Its fields are names.set ("whatwg"), names.drop ([]) and names.rewrite ([]).
	Names uri.Naming
}

// Politeness says how long a host rests between requests, and how many visits to it go on at once. CrawlDelay is left to
// the crawler, which knows the robots.txt of the host.
type Politeness struct {
	frontier.Politeness
	CrawlDelayUpTo time.Duration // maximum of the Crawl-delay that is honored; 0 = ignore Crawl-delay
	Valence        int           // visits to the host at once, 1 to 16
	Group          string        // hosts with the same group share the politeness of one host; "" = no group
}

// Robots says how long the answers of robots.txt hold.
type Robots struct {
	// Wait is robots.wait ("24h"): how long a fetched copy of robots.txt is in force.
	Wait time.Duration
	// ForbiddenWait is robots.forbidden_wait ("24h"): when a URI that robots.txt forbids is looked at again, if the
	// rules do not change before.
	ForbiddenWait time.Duration
	// UnreachableWait is robots.unreachable_wait ("1h"): after a server error or network failure on robots.txt the host
	// rests this long before it is asked for again.
	UnreachableWait time.Duration
}

// Midfetch says when the response headers alone prove that nothing changed.
type Midfetch struct {
	// DecideBy is midfetch.decide_by ("agree").
	DecideBy evaluators.DecideBy
	// ByType is midfetch.by_type ([]): what decides for certain types in the place of DecideBy; the first match wins.
	ByType []DecideByType
	// Bar is what a validator must have proven on a host before it is believed there: midfetch.proof (3) and
	// midfetch.precision (0.98).
	Bar evaluators.Bar
	// Audit says when a body is read whatever the headers say: midfetch.audit_every (50), midfetch.audit_within ("30d")
	// and midfetch.audit_share (0.01).
	Audit evaluators.Audit
}

// DecideByType says what decides for the types that match.
type DecideByType struct {
	MIME     *regexp.Regexp // as in a [[wait]]
	DecideBy evaluators.DecideBy
}

// For is what decides about content of this type, doubting nobody so far.
func (m Midfetch) For(contentType string) evaluators.Midfetch {
	for _, t := range m.ByType {
		if t.MIME.MatchString(contentType) {
			return evaluators.Midfetch{DecideBy: t.DecideBy}
		}
	}
	return evaluators.Midfetch{DecideBy: m.DecideBy}
}

// Change says how two versions of a URI are compared.
type Change struct {
	// Mode is change.mode ("strict").
	Mode ChangeMode
	// Scrub is change.scrub ([]): expressions whose matches are not compared.
	Scrub []string
	// ScrubCSS is change.scrub_css ([]): selectors of elements of HTML pages that are not compared.
	ScrubCSS []string
	// MIME is change.mime ('^(text/.*|application/([a-z0-9.+-]*[+])?(xml|json)(;.*)?)$'): the types that are scrubbed;
	// others are compared whole.
	MIME *regexp.Regexp
	// MaxSize is change.max_size ("2MiB"): longer contents are compared whole.
	MaxSize int64
	// Tolerance is change.tolerance (0): contents whose sketches differ in no more bits than this are the same.
	Tolerance int
	// KeepScrubbed is change.keep_scrubbed ("nothing").
	KeepScrubbed KeepScrubbed
	// Rules are those of the fields above, compiled. They are idle with [Strict].
	Rules *digest.Rules
}

// KeepScrubbed says what becomes of an answer that differs from the archived one only in what is scrubbed. The zero
// value keeps nothing of it.
type KeepScrubbed struct {
	Response bool          // it is archived as a full response
	Every    time.Duration // at most once in this time; 0 = each time
}

// ChangeMode is a way to compare two versions.
type ChangeMode string

// The modes.
const (
	Strict   ChangeMode = "strict"   // every byte counts
	Scrubbed ChangeMode = "scrubbed" // what the rules match does not count
	TextOnly ChangeMode = "text"     // only what a reader sees counts, and of that only what the rules do not match
)

// Trouble says what is taken for the page that was asked for, and what is not.
type Trouble struct {
	// KnownBlocks is trouble.known_blocks (true): challenge pages, consent walls and pages "not found" with status 200 are
	// recognised by what is known of them.
	KnownBlocks bool
	// Blocked is trouble.blocked ([]): expressions for further such pages.
	Blocked []*regexp.Regexp
	// NotFound is trouble.not_found ([]): expressions for further pages "not found" with status 200.
	NotFound []*regexp.Regexp
	// GoneAfter is trouble.gone_after (4): a URI is gone when so many visits in a row were answered 404 or 410.
	GoneAfter int
	// GoneFirst is trouble.gone_first ("1h"): the wait after the first of them; each further one is four times as long.
	GoneFirst time.Duration
	// GoneWait is trouble.gone_wait ("28d"): how often a URI that is gone is visited.
	GoneWait time.Duration
}

// GoneLadder is the wait until a URI is gone.
func (t Trouble) GoneLadder() evaluators.Ladder {
	return evaluators.Ladder{First: t.GoneFirst, Factor: 4, Max: max(t.GoneFirst, t.GoneWait)}
}
