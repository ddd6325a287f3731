package api

import "time"

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
