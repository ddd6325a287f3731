package api

import "time"

// DayReport holds the requests and versions of a period, by host and day.
type DayReport struct {
	All   DayRow   `json:"all" join:"days"`
	Days  []DayRow `json:"days" join:"days"`  // all hosts together, oldest first
	Hosts []DayRow `json:"hosts" join:"days"` // all days together, at most 1,000; most missed versions first
	Rows  []DayRow `json:"rows" join:"days"`  // each host and day, at most 10,000
	More  bool     `json:"more" join:"days"`  // there are more
	// Hosts that cannot meet their capture target, at most 1,000; most lost versions first.
	Pace []HostPace `json:"pace" join:"days"`
}

// DayRow is a day, a host, or a host on a day.
type DayRow struct {
	Day      string  `json:"day,omitempty"` // of UTC, such as 2026-11-21
	Host     string  `json:"host,omitempty"`
	Requests int     `json:"requests"`
	Seen     int     `json:"versions_seen"`
	Versions float64 `json:"versions_estimated"`   // estimated number of all versions; at least Seen
	Share    float64 `json:"share"`                // captured share of them; 1 if there were none
	Low      float64 `json:"share_low,omitempty"`  // the share is between Low and High on four hosts of five; 0 = unknown
	High     float64 `json:"share_high,omitempty"` // see Low
	Each     float64 `json:"requests_per_version"`
	// How many versions fewer than estimated were missed, at Share High.
	Fewer float64 `json:"missed_fewer,omitempty"`
	More  float64 `json:"missed_more,omitempty"` // how many more, at Share Low
	Text  string  `json:"text"`                  // the same in words
}

// SitesStatus is the state of the hosts that a label, collection or owner selects.
type SitesStatus struct {
	Now       time.Time     `json:"now" join:"max"`
	Condition Condition     `json:"condition" join:"condition"` // of the whole crawl
	Hosts     HostCounts    `json:"hosts" join:"parts"`
	Down      []Unreachable `json:"unreachable" join:"unreachable"` // most failures first, at most 20
	URIs      URICounts     `json:"uris" join:"parts"`              // without the number of due ones, which is -1
	Busy      int           `json:"busy" join:"sum"`                // visits in progress
	Visits    []Visit       `json:"visits" join:"longest"`          // some of them, longest first
	Today     DayRow        `json:"today" join:"today"`             // of UTC
	Alarms    []Alarm       `json:"alarms" join:"alarms"`           // raised now, about these hosts
}

// HostPace says what a host would need to meet its capture target.
type HostPace struct {
	Host    string  `json:"host"`
	Promise string  `json:"promise"`        // in words
	Share   float64 `json:"captured_share"` // share of versions that its pace can capture
	Lost    float64 `json:"versions_lost"`  // versions a day below the target
}
