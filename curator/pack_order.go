package curator

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
