package config

import (
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// unreached is a host file of whose host there is neither a seed nor a feed.
type unreached struct {
	host    uri.Host
	warning Fault
}

// Doubts returns all warnings about the configuration: [Config.Warnings], what has expired, and the host files that
// apply to nothing. knows reports whether the crawl knows a host that matches a pattern of [frontier.HostMatches]; nil
// means that it knows none.
func (c *Config) Doubts(now time.Time, knows func(pattern string) bool) []Fault {
	all := slices.Concat(c.Warnings, c.Expired(now))
	for _, u := range c.unreached {
		if knows == nil || !knows("*."+string(u.host)) {
			all = append(all, u.warning)
		}
	}
	return all
}

// warnDoubts warns of settings that are valid, but that hardly anybody wants.
func (l *loader) warnDoubts() {
	l.warnHostFiles()
	expressions(l.main, "", "", nil)
	for _, w := range l.draft.whens {
		expressions(w.doc, w.path, "", w.criteria.URI)
	}
	if l.hasPublicHost() {
		l.warnPoliteness(l.main, l.draft)
	}
	for _, f := range l.files {
		expressions(f.doc, "", f.host, nil)
		for _, w := range f.draft.whens {
			expressions(w.doc, w.path, f.host, w.criteria.URI)
		}
		if isPublic(hostname(f.host)) {
			l.warnPoliteness(f.doc, f.draft)
		}
	}
}

// hasPublicHost reports whether any seed may be on a public host.
func (l *loader) hasPublicHost() bool {
	return slices.ContainsFunc(l.config.Seeds, func(s Seed) bool { return isPublic(s.URI.Hostname()) })
}

// warnPoliteness warns of a file, and of its refinements, that would overload public hosts.
func (l *loader) warnPoliteness(doc *schema.Document, d *draft) {
	warn := func(path schema.Path, s *Settings) {
		for _, name := range []string{"min_delay", "delay_factor", "valence", "max_delay"} {
			problem, remedy := DoubtPace(s.Politeness.Politeness, s.Politeness.Valence)
			if at, set := doc.Setting(path, "politeness."+name); set && problem != "" {
				at.Warn(problem, remedy)
				return
			}
		}
	}
	warn("", d.settings)
	for _, w := range d.whens {
		warn(w.path, w.over(d, doc.Quiet()).settings)
	}
}

// warnHostFiles warns of host files that set nothing, and collects those that apply to nothing.
func (l *loader) warnHostFiles() {
	var hosts []uri.Host
	for _, s := range l.config.Seeds {
		hosts = append(hosts, s.URI.Host())
	}
	for _, s := range l.config.Sources {
		hosts = append(hosts, s.URI.Host(), s.Seed.Host())
	}
	hosts, applies := files(hosts)
	for _, f := range l.files {
		if f.host == "" {
			continue
		}
		sets := len(f.doc.Root) > 0
		problem, remedy := DoubtHostFile(f.host, sets, hosts, applies(f.host))
		warning := Fault{File: f.doc.File, Problem: problem, Remedy: remedy}
		switch {
		case problem == "":
		case !sets || isSuffix(f.host):
			f.doc.AddWarning(warning)
		default:
			l.config.unreached = append(l.config.unreached, unreached{f.host, warning})
		}
	}
}
