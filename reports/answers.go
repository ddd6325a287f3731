// This file has the answers of the requests, named as in openapi.json. The reports that nodes of a cluster join are in
// the package api.

package reports

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// Past holds the visits to a URI from the crawl log.
type Past struct {
	Visits   []PastVisit `json:"visits"`          // oldest first, at most 1,000
	Complete bool        `json:"complete"`        // the whole log was read
	Since    *time.Time  `json:"since,omitempty"` // of the oldest line that was read
}

// PastVisit is one visit from the crawl log.
type PastVisit struct {
	At      time.Time   `json:"at"`
	Status  int         `json:"status"`
	State   string      `json:"state"` // "changed", "unchanged", "unknown" or "failed"
	Size    int64       `json:"size"`  // bytes of the body; -1 if there was none
	Wait    api.Seconds `json:"wait_seconds"`
	Overdue api.Seconds `json:"overdue_seconds"`
	Notes   string      `json:"annotations,omitempty"`  // other annotations of the log line
	Words   []string    `json:"explanations,omitempty"` // the same in words
}
