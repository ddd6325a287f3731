package api

import "time"

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
