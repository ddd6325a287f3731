package api

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// Versions lists the archived versions of a URI.
type Versions struct {
	URI      string    `json:"uri"`
	Count    int       `json:"count"`             // of all versions
	Versions []Version `json:"versions"`          // newest first, at most 1000
	Problem  string    `json:"problem,omitempty"` // why the list is not complete
}

// Version is one capture of a URI.
type Version struct {
	At      string       `json:"at"` // the timestamp that names it: 14 digits
	Date    time.Time    `json:"date"`
	Status  string       `json:"status,omitempty"`
	Type    string       `json:"type,omitempty"`    // media type; absent for a revisit
	Changed bool         `json:"changed"`           // its payload differs from the payload of the version before
	Revisit bool         `json:"revisit,omitempty"` // the payload is in the record of an earlier capture
	File    string       `json:"file"`              // WARC file of its record
	Offset  int64        `json:"offset"`            // of its record
	Links   VersionLinks `json:"links"`
}

// VersionLinks holds addresses of the dashboard.
type VersionLinks struct {
	View    string `json:"view"`
	Record  string `json:"record"`
	Package string `json:"package"`           // where a package of the version is made
	Compare string `json:"compare,omitempty"` // with the version before; absent for the first one
}

// View says where a browser can see a version.
type View struct {
	URI     string  `json:"uri"`
	Version Version `json:"version"`
	Number  int     `json:"number"`            // of this version, from 1
	Count   int     `json:"count"`             // of all versions
	Earlier string  `json:"earlier,omitempty"` // timestamp of the version before
	Later   string  `json:"later,omitempty"`   // timestamp of the version after
	Frame   string  `json:"frame,omitempty"`   // address for a frame, on the origin of archived pages
	Problem string  `json:"problem,omitempty"` // why there is no frame
}

// Record shows the records of one version as the WARC file has them. Characters that could mislead a reader are
// replaced by their code points.
type Record struct {
	URI     string       `json:"uri"`
	Version Version      `json:"version"`
	Parts   []RecordPart `json:"parts"` // the record of the version, then its request and its metadata
	// Of a revisit: the record with the payload, and what belongs to it.
	Original []RecordPart `json:"original,omitempty"`
	Notes    []string     `json:"notes,omitempty"`
	Problem  string       `json:"problem,omitempty"` // why there are no parts
}

// RecordPart is one record of a WARC file.
type RecordPart struct {
	Type   string `json:"type"` // "response", "request", "revisit", "metadata" …
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Header string `json:"header"`              // of WARC
	Head   string `json:"head,omitempty"`      // of HTTP, or the whole text of a metadata record
	Size   int64  `json:"size"`                // bytes of the block, with the head
	Cut    bool   `json:"truncated,omitempty"` // header or head are longer than shown
}

// Comparison shows what differs between two versions of a URI.
type Comparison struct {
	URI    string  `json:"uri"`
	Before Version `json:"before"`
	After  Version `json:"after"`
	What   string  `json:"what"` // "text", "source", "headers" or "picture"

	Rows    []CompareRow `json:"rows"`
	Rules   []string     `json:"rules,omitempty"`   // scrubbing rules that hide parts of these versions
	Changed int          `json:"changed"`           // rows that differ
	Hidden  int          `json:"hidden"`            // parts that rules hide
	Problem string       `json:"problem,omitempty"` // why there are no rows
	Notes   []string     `json:"notes,omitempty"`   // what was left out
}

// CompareRow is a line in both versions, or in one of them, or a number of unchanged lines that are not shown.
type CompareRow struct {
	Kind   string       `json:"kind"` // "same", "changed", "removed", "added" or "folded"
	Folded int          `json:"folded,omitempty"`
	Left   *CompareLine `json:"left,omitempty"`
	Right  *CompareLine `json:"right,omitempty"`
}

// CompareLine is a line of a version.
type CompareLine struct {
	Number int           `json:"number"` // in the source
	Parts  []ComparePart `json:"parts"`
}

// ComparePart is a part of a line.
type ComparePart struct {
	Text    string `json:"text"`
	Differs bool   `json:"differs,omitempty"`
	Rule    int    `json:"rule,omitempty"` // number of the scrubbing rule that hides it, from 1
}

// CaptureOrder is a list of URIs to capture now.
type CaptureOrder struct {
	URIs   []string `json:"uris"`             // at most 200
	Embeds bool     `json:"embeds,omitempty"` // they are embeds of a page: unknown ones are not added
}

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

// PackOrder chooses what a package holds: one version with what it shows, or the captures of a period.
type PackOrder struct {
	URI string `json:"uri,omitempty"`
	At  string `json:"at,omitempty"` // timestamp of the version of the URI; empty: the last one

	Label      string `json:"label,omitempty"`
	Collection string `json:"collection,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Since      string `json:"since,omitempty"` // first day, as 2026-11-01; empty: from the beginning
	Until      string `json:"until,omitempty"` // last day; empty: until now
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

	Silent []Alarm       `json:"silent" join:"silent"`           // hosts and seeds with nothing new for unusually long
	Down   []Unreachable `json:"unreachable" join:"unreachable"` // at most 20
	// Hosts that cannot meet their capture targets, at most 20.
	Short []HostPace `json:"below_target" join:"short"`
	// Of Short; absent if the frontier was not surveyed yet.
	AsOf  *time.Time  `json:"as_of,omitempty" join:"all known"`
	Names config.Site `json:"names" join:"first"` // labels, collections and owners in use
	// Titles of the hosts that are named above, as far as they have one.
	Sites map[string]string `json:"sites" join:"texts by"`
}

// Entitle fills in the titles of the hosts that are named.
func (n *New) Entitle(title func(host string) string) {
	var hosts []string
	for _, x := range n.Captures {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Silent {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Down {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Short {
		hosts = append(hosts, x.Host)
	}
	for _, h := range hosts {
		if t := title(h); t != "" {
			n.Sites[h] = t
		}
	}
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
}

// Kinds of captures.
const (
	CaptureFirst   = "first"   // of its URI
	CaptureChanged = "changed" // a later version
	CaptureChecked = "checked" // visited on demand, and unchanged
)

// CaptureKinds returns all kinds of captures.
func CaptureKinds() []string { return []string{CaptureFirst, CaptureChanged, CaptureChecked} }

// Rendering says what the browsers did since the start of the daemon.
type Rendering struct {
	Queue     int64 `json:"queue" join:"sum"`               // pages that wait
	NoBrowser bool  `json:"no_browser,omitempty" join:"or"` // Chromium is not installed

	Done   int64 `json:"done" join:"sum"`
	Late   int64 `json:"late" join:"sum"`   // of Done, those that were not quiet within render.limit
	Failed int64 `json:"failed" join:"sum"` // the browser crashed, took too long or needed too much memory
	// The queue was full, render.max_per_day was reached, or the crawl was paused.
	Dropped int64 `json:"dropped" join:"sum"`

	FromArchive int64 `json:"from_archive" join:"sum"` // requests that a fresh capture answered
	Visited     int64 `json:"visited" join:"sum"`      // requests that a visit answered
	Refused     int64 `json:"refused" join:"sum"`      // requests out of scope, or that no archive can answer
	// Requests whose visit did not come in time, or was forbidden by robots.txt.
	GaveUp int64 `json:"gave_up" join:"sum"`

	Found int64 `json:"found" join:"sum"` // new URIs
}

// Line returns the line of arcrawl status about it; "" if no page was to be rendered.
func (r Rendering) Line() string {
	switch {
	case r.NoBrowser:
		return "rendering no page, because Chromium is not installed\n"
	case r.Queue+r.Done+r.Failed+r.Dropped == 0:
		return ""
	}
	return fmt.Sprintf("rendered  %d pages: %d new URIs; %d waiting, %d failed, %d dropped\n", r.Done, r.Found, r.Queue, r.Failed, r.Dropped)
}
