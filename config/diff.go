package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// KeyChange is a key with a changed value.
type KeyChange struct {
	// Values are TOML; "" if there is none. Origin is "default" if no file sets the new value.

	Host   uri.Host `json:"host,omitempty"` // host of the file; empty for the main file
	Key    string   `json:"key"`
	Before string   `json:"before"`
	After  string   `json:"after"`
	Origin string   `json:"origin,omitempty"` // file and line
}

// String returns one line.
func (c KeyChange) String() string {
	what := c.Key
	if c.Host != "" {
		what = string(c.Host) + ": " + what
	}
	return fmt.Sprintf("%s: %s → %s", what, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
}

// Changes returns the differences between c and b: the settings of the main file at now, the settings of each host
// with a file in either, and the refinements. Changes in the main file are not repeated for each host.
func (c *Config) Changes(b *Config, now time.Time) []KeyChange {
	all := changed("", c.EffectiveHost("", now), b.EffectiveHost("", now))
	all = append(all, refined("", c.main, b.main)...)
	common := map[KeyChange]bool{}
	for _, x := range all {
		x.Origin = ""
		common[x] = true
	}
	for _, h := range c.fileHosts(b) {
		if c.hosts[h].same(b.hosts[h]) && c.main.same(b.main) {
			continue
		}
		own := changed(h, c.EffectiveHost(h, now), b.EffectiveHost(h, now))
		for _, x := range SiteChanges(c.Site(h), b.Site(h)) {
			own = append(own, KeyChange{Host: h, Key: x.Key, Before: x.Before, After: x.After})
		}
		own = append(own, refined(h, c.profile(h), b.profile(h))...)
		for _, x := range own {
			if !common[KeyChange{Key: x.Key, Before: x.Before, After: x.After}] {
				all = append(all, x)
			}
		}
	}
	return all
}

// same reports whether two profiles were read from the same bytes.
func (p *profile) same(q *profile) bool {
	if p == nil || q == nil || len(p.files) != len(q.files) {
		return p == q
	}
	for i := range p.files {
		if string(p.files[i].doc.Data) != string(q.files[i].doc.Data) {
			return false
		}
	}
	return len(p.files) > 0 || p == q
}

// fileHosts returns the hosts that have a file in either configuration, sorted.
func (c *Config) fileHosts(b *Config) []uri.Host {
	var all []uri.Host
	for h := range c.hosts {
		all = append(all, h)
	}
	for h := range b.hosts {
		if c.hosts[h] == nil {
			all = append(all, h)
		}
	}
	slices.Sort(all)
	return all
}

// changed returns the differences between two lists of settings. Of two entries of the stack with the same pattern,
// whose settings have the same keys, only the first is used.
func changed(h uri.Host, before, after []Setting) []KeyChange {
	had, has := map[string]string{}, map[string]bool{}
	for _, s := range before {
		if _, ok := had[s.Key]; !ok {
			had[s.Key] = s.Value
		}
	}
	var all []KeyChange
	for _, s := range after {
		was, ok := had[s.Key]
		if !has[s.Key] && (!ok || was != s.Value) {
			all = append(all, KeyChange{Host: h, Key: s.Key, Before: was, After: s.Value, Origin: s.Origin()})
		}
		has[s.Key] = true
	}
	for _, s := range before {
		if !has[s.Key] {
			has[s.Key] = true
			all = append(all, KeyChange{Host: h, Key: s.Key, Before: s.Value})
		}
	}
	return all
}

// refined compares all refinements of two profiles as one text.
func refined(h uri.Host, before, after *profile) []KeyChange {
	list := func(p *profile) string {
		var parts []string
		for _, l := range p.layers {
			if l.path != "" {
				parts = append(parts, "["+l.criteria.String()+"] "+schema.TOML(l.values))
			}
		}
		return strings.Join(parts, "; ")
	}
	if b, a := list(before), list(after); a != b {
		return []KeyChange{{Host: h, Key: whenTable, Before: b, After: a}}
	}
	return nil
}

// needRestart lists the tables and keys of the main file that take effect only when the daemon starts. The files,
// folders and sockets that they describe are open while it runs.
var needRestart = []string{
	"storage.state", "storage.warc", "storage.log", "storage.folders", "storage.folders_free", "storage.folders_order",
	"upload.",
	"crawl.workers", "crawl.max_uris_per_host", "crawl.order",
	"crawl.max_hosts", "crawl.new_hosts_per_page", "crawl.new_hosts_per_day",
	"warc.", "log.", "admin.", "cluster.", "fetch.allow_networks",
	"render.browser", "render.browsers", "render.memory", "render.restart_after",
}

// fixed returns the values of the keys that need a restart, as TOML.
func (c *Config) fixed() map[string]string {
	values := map[string]string{}
	d := *c.main.base
	d.config = c
	shown := d.shown()
	structs := map[string]string{
		"fetch.allow_networks": fmt.Sprint(c.AllowNetworks, c.AllowHosts),
		"warc.about":           fmt.Sprint(partTexts(c.Parts)),
	}
	for _, k := range c.cat.keys {
		needed := k.Scope == InMain && slices.ContainsFunc(needRestart, func(name string) bool {
			return name == k.Name || strings.HasSuffix(name, ".") && strings.HasPrefix(k.Name, name)
		})
		if needed {
			values[k.Name] = cmp.Or(shown(k), structs[k.Name])
		}
	}
	return values
}

// Succeed returns next with the values of c for the keys that need a restart, so that the result can be put in force
// while the daemon runs with c. It also returns the keys that differ among them.
func (c *Config) Succeed(next *Config) (*Config, []KeyChange) {
	var later []KeyChange
	before, after := c.fixed(), next.fixed()
	for key, was := range before {
		if after[key] != was {
			later = append(later, KeyChange{Key: key, Before: was, After: after[key]})
		}
	}
	slices.SortFunc(later, func(a, b KeyChange) int { return cmp.Compare(a.Key, b.Key) })
	inForce := *next
	inForce.DNSRecords, inForce.Collection, inForce.Sealed = c.DNSRecords, c.Collection, c.Sealed
	inForce.ChangesArchived = c.ChangesArchived
	inForce.Render, inForce.Series, inForce.Parts = c.Render, c.Series, c.Parts
	inForce.WARC, inForce.Log, inForce.Admin, inForce.Cluster = c.WARC, c.Log, c.Admin, c.Cluster
	inForce.AllowNetworks, inForce.AllowHosts = c.AllowNetworks, c.AllowHosts
	inForce.Storage, inForce.Upload = c.Storage, c.Upload
	inForce.Storage.MinFree, inForce.Storage.Secrets = next.Storage.MinFree, next.Storage.Secrets
	inForce.Crawl = c.Crawl
	inForce.Crawl.Grace, inForce.Crawl.Canaries = next.Crawl.Grace, next.Crawl.Canaries
	inForce.AtRestart = nil // not empty, which would be another configuration in the archive
	for _, k := range later {
		inForce.AtRestart = append(inForce.AtRestart, k.Key)
	}
	return &inForce, later
}

// CheckPrograms returns a fault for each key with which next would run another program on this machine than c does. It
// is for a configuration that somebody sends who need not have an account here.
func (c *Config) CheckPrograms(next *Config) error {
	var faults Faults
	for _, k := range c.cat.keys {
		path := schema.Path("").Key(k.Name)
		was, _ := c.doc.Value(path).(string)
		is, _ := next.doc.Value(path).(string)
		if k.Program && is != was && is != "" {
			faults = append(faults, Fault{
				File: c.Path, Key: k.Name, Problem: "names a program, which only the main file on the machine itself may choose",
				Remedy: "write the key to the main file of each machine first, and reload",
			})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return faults
}
