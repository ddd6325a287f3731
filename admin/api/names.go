package api

import (
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// RemovedSuffix ends the name of a host file that was removed. Such a file is not read.
const RemovedSuffix = ".removed"

// HostNames holds the hosts that are shown differently from their names.
type HostNames struct {
	Hosts map[string]HostName `json:"hosts" join:"names"` // at most 10,000
	More  bool                `json:"more" join:"names"`  // there are more
	Sites config.Site         `json:"sites" join:"names"` // labels, collections and owners in use
}

// HostName says how a host is shown.
type HostName struct {
	Unicode string `json:"unicode,omitempty"` // the name in Unicode, if it is internationalized
	Removed bool   `json:"removed,omitempty"` // its host file was removed
}

// Label returns a host as people read it: in Unicode, and marked if its host file was removed.
func (n HostNames) Label(host string) string {
	label := human.Host(host)
	if n.Hosts[host].Removed {
		return label + ", removed"
	}
	return label
}

// Named returns the host with its name in Unicode, and marked if its file in the folder of host files was renamed as
// arcrawl seeds remove does.
func (h Host) Named(hostsDir string) Host {
	h.Unicode = human.Unicode(h.Host)
	file := filepath.Join(hostsDir, config.HostFileName(uri.Host(h.Host))+".toml")
	if _, err := os.Stat(file + RemovedSuffix); err == nil {
		_, err := os.Stat(file)
		h.Removed = h.Removed || err != nil
	}
	return h
}

// Label returns the host as people read it.
func (h Host) Label() string { return human.Host(h.Host) }

// Condition returns the state of the host, and whether its file was removed.
func (h Host) Condition() string {
	if h.Removed {
		return h.State + ", removed"
	}
	return h.State
}

// Found lists hosts and URIs with a text in them.
type Found struct {
	Hosts []string   `json:"hosts"` // at most 20
	URIs  []FoundURI `json:"uris"`
	Next  string     `json:"next"` // where to continue; empty if all URIs were searched

	// Titles are the latest captures with the text in their titles, as far as the titles since TitlesSince were searched.
	// There are none with a cursor.
	Titles      []Capture  `json:"titles"`
	TitlesSince *time.Time `json:"titles_since,omitempty"`
}

// FoundURI is a URI that a search found.
type FoundURI struct {
	URI      string `json:"uri"`
	Title    string `json:"title,omitempty"` // of the last capture that differed
	Visits   int    `json:"visits"`
	Versions int    `json:"versions"`
	Type     string `json:"type,omitempty"` // Content-Type of the last capture
}

// Site describes a host for curators.
type Site struct {
	About    config.Site `json:"about"`
	Seeds    []SiteURI   `json:"seeds"`    // seeds, feeds and sitemaps of the configuration, at most 200
	Settings []Setting   `json:"settings"` // that a file sets
	Hours    Hours       `json:"hours"`    // when its pages change
}

// Hours counts captured versions by the time of the week, in UTC.
type Hours struct {
	Counts   [7][24]int `json:"counts"` // by day, from Sunday, and hour
	Captures int        `json:"captures"`
	Since    *time.Time `json:"since,omitempty"` // the first that is counted
}

// SiteURI is a seed, feed or sitemap of a host.
type SiteURI struct {
	URI        string      `json:"uri"`
	Kind       string      `json:"kind"`          // "front page", "section", "feed or sitemap"
	About      config.Site `json:"about"`         // what the file says of the seed itself
	Due        *time.Time  `json:"due,omitempty"` // next visit; absent if it is not in the store
	LastVisit  *time.Time  `json:"last_visit,omitempty"`
	LastChange *time.Time  `json:"last_change,omitempty"`
	Wait       Seconds     `json:"wait_seconds"`
	Rate       float64     `json:"rate_per_day"` // estimated changes
	Visits     int         `json:"visits"`
	Versions   int         `json:"versions"`
}
