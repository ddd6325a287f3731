package api

import "time"

// Overdue reports the overdue URIs, and whether the backlog will clear.
type Overdue struct {
	AsOf time.Time `json:"as_of" join:"overdue"`        // time of the survey of every URI
	Age  Seconds   `json:"age_seconds" join:"overdue"`  // since then
	Took Seconds   `json:"took_seconds" join:"overdue"` // duration of the survey
	By   string    `json:"by" join:"overdue"`           // one row for each "host", "mime" or "wait"
	Host string    `json:"host,omitempty" join:"overdue"`

	All  Backlog   `json:"all" join:"overdue"`  // everything together
	Rows []Backlog `json:"rows" join:"overdue"` // most overdue first, at most 1000
	More int       `json:"more" join:"overdue"` // number of rows left out
}

// Backlog counts the URIs of a host, a media type or a class of waits. Fields after Demand are for hosts only.
type Backlog struct {
	Name   string  `json:"name"`
	URIs   int64   `json:"uris"`        // with a due time
	Due    int64   `json:"due"`         // due now
	Most   Seconds `json:"max_seconds"` // longest overdue time
	P50    Seconds `json:"p50_seconds"` // half of the due URIs are overdue for longer
	P90    Seconds `json:"p90_seconds"`
	P99    Seconds `json:"p99_seconds"`
	Demand float64 `json:"demand_per_hour"` // visits that the waits ask for

	Late *Lateness `json:"late,omitempty"` // how many are overdue for how long, if the request asks for it

	Delay    Seconds `json:"delay_seconds"`     // between two visits through one slot
	Observed bool    `json:"observed"`          // Delay was measured; false: computed from the settings
	Capacity float64 `json:"capacity_per_hour"` // visits that this delay allows

	// Ends says in words when the backlog will be gone; the three fields below say it in numbers. GoneIn is null if the
	// backlog never ends. Then a delay of at most NeedsDelay would end it, or FewerURIs URIs less.
	Ends       string   `json:"ends,omitempty"`
	GoneIn     *Seconds `json:"gone_in_seconds,omitempty"`
	NeedsDelay *Seconds `json:"needs_delay_seconds,omitempty"`
	FewerURIs  int64    `json:"fewer_uris,omitempty"`

	// Promise says in words whether this delay meets the capture targets of the host, if it has any. Share is the share of
	// versions that can be captured.
	Promise string  `json:"promise,omitempty"`
	Share   float64 `json:"captured_share,omitempty"`

	// Endless lists paths of the host that may be endless, and have a budget until that is clear.
	Endless []EndlessPath `json:"endless,omitempty"`
}

// Lateness counts URIs by the time that they are overdue, in classes: each power of two of milliseconds has sixteen.
type Lateness struct {
	First  int     `json:"first"`  // number of the first class
	Counts []int64 `json:"counts"` // of URIs, in each class from there on
}

// EndlessPath is a path with parameters that may have URIs without end.
type EndlessPath struct {
	Path    string  `json:"path"` // with the names of the parameters
	URIs    int64   `json:"uris"`
	Waiting int64   `json:"waiting"`         // of these, URIs that were never visited
	Demand  float64 `json:"demand_per_hour"` // visits that the waits of the others ask for
}
