package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// aboutKeys are the keys of a host file that people read.
func (d *draft) aboutKeys() []schema.Var {
	return perFile([]schema.Var{
		words("title", CheckTitle, &d.site.Title, "Name of the site for people, as `\"The Daily News\"`."),
		nameList("labels", &d.site.Labels,
			"Labels of the host and the hosts below it, as `[\"newspapers\"]`. Lists, reports, metrics and recipients of alarms are chosen by them."),
		nameList("collections", &d.site.Collections,
			"Collections that the host and the hosts below it belong to, as `[\"elections-2026\"]`. Packages are made of them."),
		schema.Secretly(words("owner", CheckName, &d.owner,
			"Who looks after the host and the hosts below it, as `\"maria\"`. The file of the host itself has precedence over the file of its domain. It is not written into the archive.")),
		schema.Secretly(words("note", CheckNote, &d.site.Note,
			"Note about the host for people. It is not written into the archive.")),
	})
}

// words makes a key of a host file that is a text without a default, which check must accept.
func words(name string, check schema.Check, v *string, doc string) schema.Var {
	k := schema.String(name, InHost, check, v, doc)
	k.Show = nil
	return k
}

// nameList makes a key of a host file that is a list of labels or collections.
func nameList(name string, v *[]string, doc string) schema.Var {
	read := func(f schema.Field) ([]string, bool) {
		all := schema.ReadStrings(name, CheckName)(f)
		if n := len(all); n > MaxNames {
			f.Fault(fmt.Sprintf("has %d entries", n), fmt.Sprintf("maximum: %d", MaxNames))
		}
		slices.Sort(all)
		return all, true
	}
	return schema.Value(name, InHost, schema.ListType(name), v, read, nil, doc)
}

var seedColumns = []schema.Column{
	{Name: "uri", Type: schema.Type{Kind: schema.Text}},
	{Name: "title", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "labels", Type: schema.ListType("labels"), Optional: true},
	{Name: "collections", Type: schema.ListType("collections"), Optional: true},
	{Name: "owner", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "note", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
}

// readSeedSites reads a list of tables, each about one seed.
func readSeedSites(f schema.Field) (all []seedSite) {
	const example = `write for example [{ uri = "https://www.news.example/", owner = "maria", labels = ["newspapers"] }]`
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, seedColumns, example)
		if !ok {
			continue
		}
		text, ok := fields["uri"].Text(`for example "https://www.news.example/"`)
		if !ok {
			continue
		}
		u, ok := schema.ReadURI(fields["uri"], text)
		if !ok {
			continue
		}
		own := &draft{}
		for _, k := range own.aboutKeys() {
			if column, set := fields[k.Name]; set {
				k.Read(column)
			}
		}
		all = append(all, seedSite{NamedSeed{URI: u, Site: own.describe()}, fields["uri"]})
	}
	return all
}

// seedSite describes a seed, and says where it is described.
type seedSite struct {
	NamedSeed
	at schema.Field
}

// describe returns what the draft says about a host.
func (d *draft) describe() Site {
	s := d.site
	if d.owner != "" {
		s.Owners = []string{d.owner}
	}
	return s
}

// checkSeedSites reports descriptions of URIs that are no seeds of their file, or are described twice.
func (d *draft) checkSeedSites() {
	seeds, seen := make(map[uri.URI]bool, len(d.seeds)), map[uri.URI]bool{}
	for _, s := range d.seeds {
		seeds[s.uri] = true
	}
	for _, s := range d.seedSites {
		switch {
		case !seeds[s.URI]:
			s.at.Fault("is no seed of this file", "add it to seeds.uris, or remove the entry")
		case seen[s.URI]:
			s.at.Fault("is described twice", "join the two entries")
		}
		seen[s.URI] = true
	}
}

// resolveSites fills in the descriptions of hosts and seeds. A host has the labels, collections and owners of its seeds
// too, so that whoever looks after a seed finds its host.
func (l *loader) resolveSites() {
	c := &l.config
	c.sites, c.seedSites = map[uri.Host]Site{}, map[uri.URI]Site{}
	for _, f := range l.files {
		c.sites[f.host] = c.siteOf(f.host)
	}
	var all []seedSite
	for _, f := range l.all() {
		all = append(all, f.draft.seedSites...)
	}
	for _, s := range all {
		h := s.URI.Host()
		own := c.siteOf(h)
		if len(s.Owners) > 0 {
			own.Owners = nil
		}
		c.seedSites[s.URI] = s.Over(Site{Labels: own.Labels, Collections: own.Collections, Owners: own.Owners})
		site, known := c.sites[h]
		if !known {
			site = own
		}
		names := Site{Labels: s.Labels, Collections: s.Collections, Owners: s.Owners}
		if s.URI.Path() == "/" {
			names.Title = s.Title // of a site whose file has none
		}
		c.sites[h] = site.Over(names)
	}
}

// siteOf returns what the files of a host and the domains above it say of it.
func (c *Config) siteOf(h uri.Host) (site Site) {
	p := c.profile(h)
	for _, f := range p.files {
		own := f.draft.describe()
		if len(own.Owners) > 0 {
			site.Owners = nil
		}
		if f.host != h {
			own.Title, own.Note = "", ""
		}
		site = own.Over(site)
	}
	return site
}

// Site returns what curators wrote about a host, the domains that it inherits from, and its seeds.
func (c *Config) Site(h uri.Host) Site {
	if site, ok := c.sites[h]; ok || len(c.hosts) == 0 {
		return site
	}
	return c.siteOf(h)
}

// Chooses returns a function that reports whether a filter selects a host; nil if it selects all.
func (c *Config) Chooses(f Filter) func(uri.Host) bool {
	if f.IsZero() {
		return nil
	}
	return func(h uri.Host) bool { return f.Matches(c.Site(h)) }
}

// SeedSite returns what curators wrote about a seed, with the labels, collections and owners of its host.
func (c *Config) SeedSite(u uri.URI) Site {
	if site, ok := c.seedSites[u]; ok {
		return site
	}
	site := c.siteOf(u.Host())
	site.Title, site.Note = "", ""
	return site
}

// Sites returns the descriptions of all hosts that are described.
func (c *Config) Sites() SiteIndex {
	index := SiteIndex{Hosts: c.sites, Below: map[uri.Host]Site{}, Files: map[string]Site{}}
	index.FileOf, index.Seeds = map[uri.Host]string{}, map[uri.URI]Site{}
	for _, s := range c.main.base.seedSites {
		index.Seeds[s.URI] = s.Site
	}
	for _, f := range c.files {
		name := filepath.Base(f.doc.File)
		index.Files[name], index.FileOf[f.host] = c.Site(f.host), name
		for _, s := range f.draft.seedSites {
			index.Seeds[s.URI] = s.Site
		}
		if !isSuffix(f.host) {
			index.Below[f.host] = c.siteOf(f.host)
		}
	}
	return index
}
