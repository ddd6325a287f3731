package api

import (
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// RemovedSuffix ends the name of a host file that was removed. Such a file is not read.
const RemovedSuffix = ".removed"

// Named returns the host with its name in Unicode, and marked if its file in the folder of host files was removed.
func (h Host) Named(hostsDir string) Host {
	h.Unicode = human.Unicode(h.Host)
	file := filepath.Join(hostsDir, reference.HostFileName(uri.Host(h.Host))+".toml")
	if _, err := os.Stat(file + RemovedSuffix); err == nil {
		_, err := os.Stat(file)
		h.Removed = err != nil
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
