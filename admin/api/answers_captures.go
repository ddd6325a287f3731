package api

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// CaptureStarted says which visits were ordered.
type CaptureStarted struct {
	Since   time.Time `json:"since" join:"min"`              // captures from now on count
	URIs    []string  `json:"uris" join:"list"`              // that will be visited, in canonical form
	Outside []string  `json:"outside,omitempty" join:"list"` // on hosts without a seed, or embeds that are not known
	Faults  []string  `json:"faults,omitempty" join:"list"`  // invalid URIs
}

// CaptureQuestion asks how far captures are.
type CaptureQuestion struct {
	URIs  []string  `json:"uris"`
	Since time.Time `json:"since"`
}

// CaptureProgress says how far captures are.
type CaptureProgress struct {
	Condition Condition    `json:"condition" join:"condition"` // of the crawl, which may be paused
	URIs      []CaptureRow `json:"uris" join:"asked"`
}

// CaptureRow says how far the capture of a URI is.
type CaptureRow struct {
	URI    string     `json:"uri"`
	State  string     `json:"state"` // "waiting", "archived" or "failed"
	Due    *time.Time `json:"due,omitempty"`
	Status int        `json:"status,omitempty"` // of the visit
	Why    string     `json:"why,omitempty"`    // why it failed, or why an older version is shown
	View   string     `json:"view,omitempty"`   // address of the version in the dashboard
	Embeds []string   `json:"embeds,omitempty"` // what the archived page shows, at most 200
}

// Packages lists the packages that were made, newest first.
type Packages struct {
	Packages []Package `json:"packages" join:"packages"`
	Problem  string    `json:"problem,omitempty" join:"some"` // why no package can be made
}

// Package is a WACZ package that was ordered.
type Package struct {
	Name     string    `json:"name"`           // of the file
	Node     string    `json:"node,omitempty"` // of a cluster, whose archive it is made of
	What     string    `json:"what"`
	Ordered  time.Time `json:"ordered"`
	State    string    `json:"state"`    // "waiting", "choosing", "copying", "done" or "failed"
	Captures int       `json:"captures"` // that are chosen so far
	Copied   int       `json:"copied"`
	Size     int64     `json:"size,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Link     string    `json:"link,omitempty"` // address of the file, when it is done
}

// New says what is new in the collection, and what is missing.
type New struct {
	Captures []Capture `json:"captures" join:"captures"` // newest first
	More     int       `json:"more" join:"captures"`     // captures that match too
	// Uncompared is the number of versions since the start that were too many at once to be compared.
	Uncompared int64 `json:"uncompared,omitempty" join:"sum"`

	Silent []Alarm       `json:"silent" join:"silent"`           // hosts and seeds with nothing new for unusually long
	Seeds  []Alarm       `json:"seeds" join:"silent"`            // seeds whose last visit brought no page, at most 20
	Down   []Unreachable `json:"unreachable" join:"unreachable"` // at most 20
	// Hosts that cannot meet their capture targets, at most 20.
	Short []HostPace `json:"below_target" join:"short"`
	// Of Short; absent if the frontier was not surveyed yet.
	AsOf  *time.Time  `json:"as_of,omitempty" join:"all known"`
	Names config.Site `json:"names" join:"first"` // labels, collections and owners in use
	// Titles of the hosts that are named above, as far as they have one.
	Sites map[string]string `json:"sites" join:"texts by"`
}

// Capture is a version that was captured.
type Capture struct {
	At       time.Time `json:"at"`
	Host     string    `json:"host"`
	URI      string    `json:"uri"`
	Title    string    `json:"title,omitempty"` // of the page
	Kind     string    `json:"kind"`            // "first", "changed", or "checked": visited on demand, and unchanged
	Type     string    `json:"type,omitempty"`  // media type
	Versions int       `json:"versions"`        // of the URI until then

	Change *Change `json:"change,omitempty"` // what a reader sees that changed; absent if it was not compared
}

// Change says what a reader sees that changed from one version of a page to the next.
type Change struct {
	// At least one, the most important one first: "withdrawn", "moved", "wall", "returned", "headline", "text", "links",
	// "pictures", "around", "nothing"; none if there is a problem.
	Kinds     []string     `json:"kinds"`
	Headlines []string     `json:"headlines,omitempty"` // the old and the new one, if they differ
	Words     ChangeSize   `json:"words"`               // of the article
	Sentences ChangeSize   `json:"sentences"`
	Links     ChangeSize   `json:"links"`
	Reworded  int          `json:"reworded,omitempty"` // links with another text
	Pictures  ChangeSize   `json:"pictures"`
	Around    ChangeSize   `json:"around"`          // words next to the article
	First     []ChangePart `json:"first,omitempty"` // the first sentence that changed
	Came      []ChangeLink `json:"came,omitempty"`  // the first new links
	Went      []ChangeLink `json:"went,omitempty"`
	To        string       `json:"to,omitempty"`       // where a moved page went
	Wall      string       `json:"wall,omitempty"`     // what was served in place of the page
	Earlier   int          `json:"versions,omitempty"` // that a withdrawn page had
	Before    string       `json:"before,omitempty"`   // timestamp of the version before
	Series    string       `json:"series,omitempty"`   // of the WARC files of one of the versions
	Problem   string       `json:"problem,omitempty"`  // why the versions were not compared
	Notes     []string     `json:"notes,omitempty"`    // what was not compared
	Noted     time.Time    `json:"noted"`              // when the versions were compared; no two are equal
}

// ChangeSize counts what went and what came.
type ChangeSize struct {
	Removed int `json:"removed"`
	Added   int `json:"added"`
}

// ChangePart is a part of a sentence: in both versions, only in the one before, or only in the one after.
type ChangePart struct {
	Text    string `json:"text"`
	Removed bool   `json:"removed,omitempty"`
	Added   bool   `json:"added,omitempty"`
}

// ChangeLink is a link that came or went.
type ChangeLink struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
}

// Path returns the path of the version in the dashboard.
func (c Capture) Path() string { return "view/" + c.At.UTC().Format("20060102150405") + "/" + c.URI }

// Kinds of captures.
const (
	CaptureFirst   = "first"   // of its URI
	CaptureChanged = "changed" // a later version
	CaptureChecked = "checked" // visited on demand, and unchanged
)

// Fronts lists the pages that have pictures.
type Fronts struct {
	Pages   []FrontPage `json:"pages" join:"fronts"`           // at most 1000, by title
	Problem string      `json:"problem,omitempty" join:"some"` // why the list is not complete
}

// FrontPage is a page that has pictures.
type FrontPage struct {
	URI   string `json:"uri"`
	Host  string `json:"host"`
	Title string `json:"title,omitempty"` // of the seed, or of its site
}

// MaxFronts is the maximum number of pages in a list.
const MaxFronts = 1000

// SortFronts returns pages by title, each once.
func SortFronts(list []FrontPage) []FrontPage {
	slices.SortFunc(list, func(a, b FrontPage) int {
		byTitle := strings.Compare(cmp.Or(a.Title, a.Host), cmp.Or(b.Title, b.Host))
		return cmp.Or(byTitle, strings.Compare(a.URI, b.URI))
	})
	list = slices.Compact(list)
	return list[:min(len(list), MaxFronts)]
}
