package api

import (
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// Select selects URIs. All criteria that are set must hold.
type Select struct {
	URIs   []string `json:"uris,omitempty"`   // one of these, at most 10,000
	Host   string   `json:"host,omitempty"`   // on this host; "*.example.org" includes hosts below it
	Prefix string   `json:"prefix,omitempty"` // the canonical form starts with this
	Match  string   `json:"match,omitempty"`  // regular expression that matches part of the canonical form
	// States that must all hold: due, waiting, on-demand, in-progress, held, forbidden, rejected, failing, gone, new.
	States []string `json:"states,omitempty"`
	Cursor string   `json:"cursor,omitempty"` // "next" of an earlier answer
	Limit  int      `json:"limit,omitempty"`  // maximum length of a list, up to 1000 (default 100)
}

// List is a part of the selected URIs. Next is empty at the end. A part can be empty without being the last.
type List struct {
	Entries []frontier.Entry `json:"entries"`
	Next    string           `json:"next"`
}

// Count is the number of selected URIs up to Next.
type Count struct {
	Count int64  `json:"count"`
	Next  string `json:"next"`
}

// Order is an order for the selected URIs.
type Order struct {
	Select Select     `json:"select"`
	All    bool       `json:"all,omitempty"` // required to select all URIs with an empty selection
	Verb   string     `json:"verb"`          // force, reschedule, hold, release or forget
	Due    *time.Time `json:"due,omitempty"` // for reschedule
	Spread Seconds    `json:"spread_seconds,omitempty"`
}

// Ordered is the result of an order for some dozens of URIs. The rest starts at Next.
type Ordered struct {
	Matched    int64  `json:"matched"`
	Changed    int64  `json:"changed"`
	InProgress int64  `json:"in_progress"` // not changed because they are being visited
	Next       string `json:"next"`
}

// HostOrder is an order for hosts.
type HostOrder struct {
	Pattern string     `json:"pattern"`         // a host; "*.example.org" includes hosts below it; "*" means all
	Verb    string     `json:"verb"`            // pause, resume, rest or wake
	Until   *time.Time `json:"until,omitempty"` // for rest
}

// HostsOrdered is the result of an order for hosts.
type HostsOrdered struct {
	Matched int64 `json:"matched"`
	Changed int64 `json:"changed"`
}

// Import is a list of URIs with their histories.
type Import struct {
	Replace bool             `json:"replace,omitempty"` // replace known URIs
	Entries []frontier.Entry `json:"entries"`
}

// Imported is the result of an import.
type Imported struct {
	New        int `json:"new"`
	Known      int `json:"known"` // not changed
	Replaced   int `json:"replaced"`
	InProgress int `json:"in_progress"` // not replaced because they are being visited
	Refused    int `json:"refused"`     // their host has its maximum number of URIs
	Foreign    int `json:"foreign"`     // their hosts belong to other nodes of the cluster
}
