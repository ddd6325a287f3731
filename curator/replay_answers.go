// This file has the answers about archived versions, named as in the openapi.json of the wing.

package curator

import (
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
)

// Versions lists the archived versions of a URI.
type Versions struct {
	URI      string    `json:"uri"`
	Count    int       `json:"count"`             // of all versions
	Versions []Version `json:"versions"`          // newest first, at most 1000
	Picture  string    `json:"picture,omitempty"` // timestamp of the newest picture of the rendered page
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
	// Scripts of the page do not run, because dashboard and archived pages have the same host name.
	NoScripts bool `json:"no_scripts,omitempty"`
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
	captures.Comparison
	// Embeds are pictures, styles and scripts of the later version whose contents changed since; at most 100.
	Embeds []ChangedEmbed `json:"embeds,omitempty"`
}

// ChangedEmbed is something that a page shows, with captures that are nearest to two versions of the page.
type ChangedEmbed struct {
	URI     string `json:"uri"`
	Type    string `json:"type,omitempty"` // media type
	Compare string `json:"compare"`        // address of its comparison in the dashboard
}
