// This file has the orders and the answers of the requests about the collection, named as in openapi.json. Those that a
// cluster joins are in the package api.

package curator

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

// SeedList is a list of seeds: CSV whose first line names the columns, or one URI on each line.
type SeedList struct {
	Text string `json:"text"`
}

// SeedsUndone says what was undone.
type SeedsUndone struct {
	What      string        `json:"what"`
	At        time.Time     `json:"at"`
	Files     int           `json:"files"`
	Committed api.Committed `json:"committed"`
}

// CaptureOrder is a list of URIs to capture now.
type CaptureOrder struct {
	URIs   []string `json:"uris"`             // at most 200
	Embeds bool     `json:"embeds,omitempty"` // they are embeds of a page: unknown ones are not added
}

// Found lists hosts and URIs with a text in them.
type Found struct {
	Hosts []string   `json:"hosts"` // at most 20
	URIs  []FoundURI `json:"uris"`
	Next  string     `json:"next"` // where to continue; empty if all URIs were searched

	// Titles are the latest captures with the text in their titles, as far as the titles since TitlesSince were searched.
	// There are none with a cursor.
	Titles      []api.Capture `json:"titles"`
	TitlesSince *time.Time    `json:"titles_since,omitempty"`
}

// FoundURI is a URI that a search found.
type FoundURI struct {
	URI      string `json:"uri"`
	Title    string `json:"title,omitempty"` // of the last capture that differed
	Visits   int    `json:"visits"`
	Versions int    `json:"versions"`
	Type     string `json:"type,omitempty"` // Content-Type of the last capture
}

// SiteDetails describes a host for curators.
type SiteDetails struct {
	About    config.Site   `json:"about"`
	Seeds    []SiteURI     `json:"seeds"`    // seeds, and feeds and sitemaps, at most 200
	Complete bool          `json:"complete"` // all URIs were searched for feeds and sitemaps that pages name
	Picture  *SitePicture  `json:"picture,omitempty"`
	Settings []api.Setting `json:"settings"` // that a file sets
	Hours    Hours         `json:"hours"`    // when its pages change
}

// SitePicture names the newest picture of a rendered front page.
type SitePicture struct {
	URI string `json:"uri"` // of the page
	At  string `json:"at"`  // timestamp
}

// Hours counts captured versions by the time of the week, in UTC.
type Hours struct {
	Counts   [7][24]int `json:"counts"` // by day, from Sunday, and hour
	Captures int        `json:"captures"`
	Since    *time.Time `json:"since,omitempty"` // the first that is counted
}

// SiteURI is a seed, feed or sitemap of a host.
type SiteURI struct {
	URI   string `json:"uri"`
	Title string `json:"title,omitempty"` // of the last capture that differed
	// "front page", "section", "feed", "news sitemap", "sitemap", "sitemap index"; unvisited: "feed or sitemap".
	Kind       string      `json:"kind"`
	Found      bool        `json:"found,omitempty"`    // pages or robots.txt name it; the configuration does not
	About      config.Site `json:"about"`              // what the file says of the seed itself
	Due        *time.Time  `json:"due,omitempty"`      // next visit; absent if it is not in the store
	Out        string      `json:"kept_out,omitempty"` // why it was not visited when it was due last; empty if it was
	LastVisit  *time.Time  `json:"last_visit,omitempty"`
	LastChange *time.Time  `json:"last_change,omitempty"`
	Wait       api.Seconds `json:"wait_seconds"`
	Rate       float64     `json:"rate_per_day"` // estimated changes
	Visits     int         `json:"visits"`
	Versions   int         `json:"versions"`
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

	Series string `json:"series,omitempty"` // "-": captures of no series; empty: refused if there are several
}
