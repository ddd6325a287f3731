package api

import (
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// New says what is new in the collection, and what is missing.
type New struct {
	Captures []Capture `json:"captures" join:"captures"` // newest first
	More     int       `json:"more" join:"captures"`     // captures that match too

	Silent []Alarm       `json:"silent" join:"silent"`           // hosts and seeds with nothing new for unusually long
	Down   []Unreachable `json:"unreachable" join:"unreachable"` // at most 20
	// Hosts that cannot meet their capture targets, at most 20.
	Short []HostPace `json:"below_target" join:"short"`
	// Of Short; absent if the frontier was not surveyed yet.
	AsOf  *time.Time  `json:"as_of,omitempty" join:"all known"`
	Names config.Site `json:"names" join:"first"` // labels, collections and owners in use
	// Titles of the hosts that are named above, as far as they have one.
	Sites map[string]string `json:"sites" join:"texts by"`
}

// Entitle fills in the titles of the hosts that are named.
func (n *New) Entitle(title func(host string) string) {
	var hosts []string
	for _, x := range n.Captures {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Silent {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Down {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Short {
		hosts = append(hosts, x.Host)
	}
	for _, h := range hosts {
		if t := title(h); t != "" {
			n.Sites[h] = t
		}
	}
}

// Capture is a version that was captured.
type Capture struct {
	At       time.Time `json:"at"`
	Host     string    `json:"host"`
	URI      string    `json:"uri"`
	Title    string    `json:"title,omitempty"` // of the page
	Kind     string    `json:"kind"`            // "first", "changed", or "checked": visited on demand, and unchanged
	Type     string    `json:"type,omitempty"`  // media type
	Versions int       `json:"versions"`        // of the URI until then
}

// Kinds of captures.
const (
	CaptureFirst   = "first"   // of its URI
	CaptureChanged = "changed" // a later version
	CaptureChecked = "checked" // visited on demand, and unchanged
)

// CaptureKinds returns all kinds of captures.
func CaptureKinds() []string { return []string{CaptureFirst, CaptureChanged, CaptureChecked} }
