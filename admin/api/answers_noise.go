package api

import "time"

// Noise lists pages that differ at each fetch without being new.
type Noise struct {
	Pages []NoisyPage `json:"pages"`
	Next  string      `json:"next,omitempty"` // the cursor of the rest; empty = there is none
}

// NoisyPage is a page that differs at each fetch.
type NoisyPage struct {
	URI       string     `json:"uri"`
	Why       string     `json:"why"` // restless, noisy, or what its last visits suggest
	Visits    int        `json:"visits"`
	Versions  int        `json:"versions"`
	LastVisit *time.Time `json:"last_visit,omitempty"`
	Wait      Seconds    `json:"wait_seconds"` // from the last visit to the next one
	// Rules leave out what differs. Nobody has accepted them yet; until then they decide only when the page is visited.
	Rules []ScrubRule `json:"rules,omitempty"`
}

// IgnorePage names a page whose noise should not count as a change.
type IgnorePage struct {
	URI string `json:"uri"`
}
