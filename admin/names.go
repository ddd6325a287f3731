package admin

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// namesFile is the name of the file of a [nameBook] in the state folder.
const namesFile = "hostfiles.json"

// maxHosts is the maximum number of hosts that are remembered to have had a file.
const maxHosts = 200_000

// nameBook remembers which hosts had a file of their own, so that a file that is deleted, not only renamed, leaves a
// mark. Its methods are safe for concurrent use.
type nameBook struct {
	dir string // "" stores nothing

	mu  sync.Mutex // guards the fields below
	had map[uri.Host]bool
	has map[uri.Host]bool
}

// openNames reads the file of an earlier run. An unreadable file is ignored: the hosts are remembered from now on.
func openNames(dir string) *nameBook {
	b := &nameBook{dir: dir, had: map[uri.Host]bool{}}
	var hosts []uri.Host
	if loadJSON(dir, namesFile, &hosts) {
		for _, h := range hosts {
			b.had[h] = true
		}
	}
	return b
}

// Update remembers the hosts that have a file in a configuration that is in force.
func (b *nameBook) Update(c *config.Config) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.has = map[uri.Host]bool{}
	changed := false
	for _, h := range c.FileHosts() {
		b.has[h] = true
		if !b.had[h] && len(b.had) < maxHosts {
			b.had[h], changed = true, true
		}
	}
	if !changed {
		return nil
	}
	if err := saveJSON(b.dir, namesFile, slices.Sorted(maps.Keys(b.had))); err != nil {
		return fmt.Errorf("store which hosts have a file: %w", err)
	}
	return nil
}

// RemovedIn returns the hosts that had a file, says the state folder of a daemon, and have none in a configuration.
func RemovedIn(c *config.Config) map[uri.Host]bool {
	removed := maps.Clone(openNames(c.Storage.State).had)
	for _, h := range c.FileHosts() {
		delete(removed, h)
	}
	return removed
}

// Removed reports whether a host had a file and has none any more.
func (b *nameBook) Removed(h uri.Host) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.had[h] && !b.has[h]
}

// Of returns the hosts of a list that are shown differently from their names.
func (b *nameBook) Of(hosts []uri.Host) api.HostNames {
	out := api.HostNames{Hosts: map[string]api.HostName{}}
	for _, h := range hosts {
		n := api.HostName{Unicode: human.Unicode(string(h)), Removed: b.Removed(h)}
		if n == (api.HostName{}) {
			continue
		}
		if len(out.Hosts) >= maxNames {
			out.More = true
			break
		}
		out.Hosts[string(h)] = n
	}
	return out
}

// maxNames is the maximum number of hosts in an answer.
const maxNames = 10_000
