package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// KeyChange is a key that has another value in another configuration.
type KeyChange struct {
	Host   uri.Host `json:"host,omitempty"` // whose file says so; "" is the main file, and with it every host that has no other value
	Key    string   `json:"key"`
	Before string   `json:"before"` // as TOML would write it; "" if there was none
	After  string   `json:"after"`
	Origin string   `json:"origin,omitempty"` // file:line of the new value, "default" if no file sets it
}

// String is one line.
func (c KeyChange) String() string {
	what := c.Key
	if c.Host != "" {
		what = string(c.Host) + ": " + what
	}
	return fmt.Sprintf("%s: %s → %s", what, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
}

// Changes lists what is not the same in b as it is in c: the settings of the main file as of now, those of each host that
// has a file in either, and the refinements. What the main file changes is not repeated for each host.
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
		if string(p.files[i].doc.data) != string(q.files[i].doc.data) {
			return false
		}
	}
	return len(p.files) > 0 || p == q
}

// fileHosts are the hosts that have a file in either configuration, sorted.
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

func changed(h uri.Host, before, after []Setting) []KeyChange {
	had := map[string]string{}
	for _, s := range before {
		if _, ok := had[s.Key]; !ok { // of two entries with one pattern only the first is ever asked
			had[s.Key] = s.Value
		}
	}
	var all []KeyChange
	for _, s := range after {
		was, ok := had[s.Key]
		if !ok || was != s.Value {
			all = append(all, KeyChange{Host: h, Key: s.Key, Before: was, After: s.Value, Origin: s.Origin()})
		}
		had[s.Key] = s.Value
	}
	has := map[string]bool{}
	for _, s := range after {
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

// refined compares the refinements as wholes.
func refined(h uri.Host, before, after *profile) []KeyChange {
	list := func(p *profile) string {
		var parts []string
		for _, l := range p.layers {
			if l.path != "" {
				parts = append(parts, "["+l.criteria.String()+"] "+rawText(l.values))
			}
		}
		return strings.Join(parts, "; ")
	}
	if b, a := list(before), list(after); a != b {
		return []KeyChange{{Host: h, Key: whenTable, Before: b, After: a}}
	}
	return nil
}

// fixed are the keys of the main file that have no effect before the next start of the daemon: what they describe is open
// while it runs.
func (c *Config) fixed() map[string]string {
	return map[string]string{
		"storage":                 fmt.Sprintf("%+v", Storage{State: c.Storage.State, WARC: c.Storage.WARC, Log: c.Storage.Log}),
		"crawl.workers":           fmt.Sprint(c.Crawl.Workers),
		"crawl.max_uris_per_host": fmt.Sprint(c.Crawl.MaxURIsPerHost),
		"crawl.order":             c.Crawl.Order.String(),
		"warc":                    fmt.Sprintf("{Prefix:%s MaxSize:%d MaxAge:%s Level:%d}", c.WARC.Prefix, c.WARC.MaxSize, c.WARC.MaxAge, c.WARC.Level),
		"log":                     fmt.Sprintf("%+v", c.Log),
		"admin":                   fmt.Sprintf("%+v", c.Admin),
		"fetch.allow_networks":    fmt.Sprint(c.AllowNetworks),
	}
}

// Succeed gives next as it can be put in force while the daemon runs under c: with the keys of c that need a restart. These
// are listed, if they have another value in next.
func (c *Config) Succeed(next *Config) (*Config, []KeyChange) {
	var later []KeyChange
	old, young := c.fixed(), next.fixed()
	for key, was := range old {
		if young[key] != was {
			later = append(later, KeyChange{Key: key, Before: was, After: young[key]})
		}
	}
	slices.SortFunc(later, func(a, b KeyChange) int { return cmp.Compare(a.Key, b.Key) })
	inForce := *next
	floor := next.Storage.MinFree
	inForce.Storage, inForce.WARC, inForce.Log, inForce.Admin, inForce.AllowNetworks = c.Storage, c.WARC, c.Log, c.Admin, c.AllowNetworks
	inForce.Storage.MinFree = floor
	inForce.Crawl = c.Crawl
	inForce.Crawl.Grace = next.Crawl.Grace
	return &inForce, later
}
