package config

import (
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// resolve fills the fields that [Config.For] and [Config.SeedHost] use.
func (l *loader) resolve() {
	c := &l.config
	c.doc, c.files = l.main, l.files
	c.main = &profile{base: l.draft, layers: l.draft.whens}
	c.hosts, c.seedHosts, c.folders = map[uri.Host]*profile{}, map[uri.Host]bool{}, map[uri.Host][]string{}
	for _, f := range l.files {
		c.hosts[f.host] = l.profileOf(f)
	}
	for _, s := range c.Seeds {
		h := s.URI.Host()
		c.seedHosts[h] = true
		c.folders[h] = append(c.folders[h], foldersOf(s.URI)...)
	}
	l.resolveSites()
	c.feedHosts = map[uri.Host]bool{}
	for _, s := range c.Sources {
		c.seedHosts[s.Seed.Host()], c.feedHosts[s.URI.Host()] = true, true
	}
	for h, folders := range c.folders {
		slices.Sort(folders)
		c.folders[h] = slices.Compact(folders)
	}
}

// profileOf returns the profile of a host file. It orders the files that the settings come from. The first file that
// expires, and every more special one, is a layer of its own.
func (l *loader) profileOf(f *hostFile) *profile {
	p := &profile{host: f.host, inherited: !isSuffix(f.host), base: l.draft}
	for g := f; g != nil; g = g.above {
		p.files = append(p.files, g)
	}
	slices.Reverse(p.files)
	expiring := false
	whens := slices.Clone(l.draft.whens)
	for _, g := range p.files {
		ends := g.draft.until
		expiring = expiring || !ends.IsZero()
		if expiring {
			p.layers = append(p.layers, &layer{doc: g.doc, ends: ends})
		} else {
			p.base = g.draft
		}
		for _, w := range g.draft.whens {
			w.ends = ends
			whens = append(whens, w)
		}
	}
	p.layers = append(p.layers, whens...)
	return p
}

// foldersOf returns the folder of a seed. It returns it with both http and https if the seed uses a default port,
// because most sites redirect from one to the other.
func foldersOf(u uri.URI) []string {
	folder := u.Path()[:strings.LastIndexByte(u.Path(), '/')+1]
	if u.Port() != "80" && u.Port() != "443" {
		return []string{strings.TrimSuffix(u.Origin().String(), "/") + folder}
	}
	return []string{"http://" + u.Authority() + folder, "https://" + u.Authority() + folder}
}

// NamesNotation returns in a stable notation by which rules two URIs are the same: a line for all hosts, then a line
// "host: rules" for each host with other rules, sorted. Refinements do not affect it. Hosts with a series of WARC files
// are left out of open, which may be in the files of others.
func (c *Config) NamesNotation() (lines, open []string) {
	all := c.main.base.settings.Names.Notation()
	for h, p := range c.hosts {
		if rules := p.base.settings.Names.Notation(); rules != all {
			lines = append(lines, string(h)+": "+rules)
			if p.files[len(p.files)-1].series() == "" {
				open = append(open, lines[len(lines)-1])
			}
		}
	}
	slices.Sort(lines)
	slices.Sort(open)
	return slices.Insert(lines, 0, all), slices.Insert(open, 0, all)
}
