// This file has the orders and the answers of the requests, named as in openapi.json.

package noise

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// ScrubRule is a rule that hides a part of the pages of a host, so that it does not count as a change.
type ScrubRule struct {
	Kind string `json:"kind"` // "scrub": an expression; "scrub_css": a selector
	Rule string `json:"rule"`
}

// IgnoreWish names a row of a comparison that should not count as a difference.
type IgnoreWish struct {
	URI    string `json:"uri"`
	Before string `json:"before"` // timestamps of the versions
	At     string `json:"at"`
	What   string `json:"what"` // "text" or "source"
	Left   string `json:"left"` // the whole text of the row
	Right  string `json:"right"`
}

// IgnoreProposal holds rules that hide the difference, and no main content.
type IgnoreProposal struct {
	Rules   []ScrubRule `json:"rules"`
	Problem string      `json:"problem,omitempty"` // why there is no rule
}

// IgnoreRules are rules for the host of a URI.
type IgnoreRules struct {
	URI   string      `json:"uri"`
	Rules []ScrubRule `json:"rules"`
	// FileDigest is the digest of the host file that the preview was made for. Only saving needs it.
	FileDigest string `json:"file_digest,omitempty"`
}

// IgnorePreview shows what rules would have hidden, and what saving them would change.
type IgnorePreview struct {
	Versions []HiddenParts `json:"versions"`     // the newest versions of the URI, newest first
	Pairs    int           `json:"compared"`     // versions that were compared with the one before
	Differ   int           `json:"differ"`       // of these, how many differ now
	Left     int           `json:"still_differ"` // how many would still differ

	File       string      `json:"file"`        // the host file
	FileDigest string      `json:"file_digest"` // of its text now
	Diff       string      `json:"diff"`        // of the file
	Plan       whatif.Plan `json:"plan"`        // the effect of the changed file on the crawl
}

// HiddenParts are the parts of a version that rules hide.
type HiddenParts struct {
	Date    time.Time `json:"date"`
	Parts   int       `json:"parts"`
	Samples []string  `json:"samples"` // the first parts, shortened
	Problem string    `json:"problem,omitempty"`
}

// IgnoreSaved says where rules were written.
type IgnoreSaved struct {
	File      string        `json:"file"`
	Committed api.Committed `json:"committed"`
}

// Noise lists pages that differ at each fetch without being new.
type Noise struct {
	Pages []NoisyPage `json:"pages"`
	Next  string      `json:"next,omitempty"` // the cursor of the rest; empty = there is none
}

// NoisyPage is a page that differs at each fetch.
type NoisyPage struct {
	URI       string      `json:"uri"`
	Why       string      `json:"why"` // restless, noisy, or what its last visits suggest
	Visits    int         `json:"visits"`
	Versions  int         `json:"versions"`
	LastVisit *time.Time  `json:"last_visit,omitempty"`
	Wait      api.Seconds `json:"wait_seconds"` // from the last visit to the next one
	// Rules leave out what differs. Nobody has accepted them yet; until then they decide only when the page is visited.
	Rules []ScrubRule `json:"rules,omitempty"`
}

// IgnorePage names a page whose noise should not count as a change.
type IgnorePage struct {
	URI string `json:"uri"`
}
