package api

import "time"

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
