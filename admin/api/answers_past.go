package api

import "time"

// Queue holds the next URIs of a host.
type Queue struct {
	URIs     []Waiting `json:"uris"`            // a page of it
	More     bool      `json:"more"`            // there are further pages
	Found    int       `json:"found,omitempty"` // URIs that were read and selected; absent in the queue's own order
	Complete bool      `json:"complete"`        // all URIs of the host were read
}

// Waiting is a URI in a queue.
type Waiting struct {
	URI        string    `json:"uri"`
	Due        time.Time `json:"due"`
	Wait       Seconds   `json:"wait_seconds"`
	Visits     int       `json:"visits"`
	Versions   int       `json:"versions"`
	LastStatus int       `json:"last_status"`
}

// Past holds the visits to a URI from the crawl log.
type Past struct {
	Visits   []PastVisit `json:"visits"`          // oldest first, at most 1,000
	Complete bool        `json:"complete"`        // the whole log was read
	Since    *time.Time  `json:"since,omitempty"` // of the oldest line that was read
}

// PastVisit is one visit from the crawl log.
type PastVisit struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status"`
	State   string    `json:"state"` // "changed", "unchanged", "unknown" or "failed"
	Size    int64     `json:"size"`  // bytes of the body; -1 if there was none
	Wait    Seconds   `json:"wait_seconds"`
	Overdue Seconds   `json:"overdue_seconds"`
	Notes   string    `json:"annotations,omitempty"`  // other annotations of the log line
	Words   []string  `json:"explanations,omitempty"` // the same in words
}

// DedupReport summarizes deduplication, from the current crawl log.
type DedupReport struct {
	From     time.Time  `json:"from" join:"min"`     // time of the first line that was read, in the logs of all nodes
	Complete bool       `json:"complete" join:"and"` // false: the log has earlier lines
	All      DedupRow   `json:"all" join:"parts"`
	Hosts    []DedupRow `json:"hosts" join:"rows"` // hosts with the most visits
	Types    []DedupRow `json:"types" join:"rows"` // the same for MIME types
}

// DedupRow summarizes deduplication for a host or a MIME type.
type DedupRow struct {
	Key            string `json:"key,omitempty" join:"first"`
	Handled        int64  `json:"handled" join:"sum"` // responses whose payload was looked up
	Bytes          int64  `json:"bytes" join:"sum"`   // of these responses
	New            int64  `json:"new" join:"sum"`
	Duplicates     int64  `json:"duplicates" join:"sum"`
	Exact          int64  `json:"exact" join:"sum"`      // in the archive under the same URI
	Equivalent     int64  `json:"equivalent" join:"sum"` // under an equivalent URI
	Other          int64  `json:"other" join:"sum"`      // under another URI
	DiscardedBytes int64  `json:"discarded_bytes" join:"sum"`
}
