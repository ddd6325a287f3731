package api

import (
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
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
	file := filepath.Join(hostsDir, config.HostFileName(h.Host)+".toml")
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
	state := h.State
	if state == "snoozed" {
		state = "resting" // as people say it
	}
	if h.Removed {
		state += ", removed"
	}
	return state
}
