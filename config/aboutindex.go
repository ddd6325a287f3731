package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// SiteIndex holds the descriptions of all hosts that are described.
type SiteIndex struct {
	Hosts map[uri.Host]Site // with a file of their own, or with a seed that is described
	Below map[uri.Host]Site // what hosts below a host with a file inherit
	Files map[string]Site   // of the host of each host file, by the name of the file without its folder

	FileOf map[uri.Host]string // the name of the file of a host
	Seeds  map[uri.URI]Site    // what the files say of single seeds, without what their hosts add
}

// Names returns the labels, collections and owners in use.
func (x SiteIndex) Names() Site {
	var all Site
	for _, site := range x.Hosts {
		all.Labels = append(all.Labels, site.Labels...)
		all.Collections = append(all.Collections, site.Collections...)
		all.Owners = append(all.Owners, site.Owners...)
	}
	return all.Over(Site{})
}

// Choose returns the hosts that a filter selects as patterns, sorted: "*.example.org" covers example.org and the hosts
// below. If there are none, the error lists the names that are in use.
func (x SiteIndex) Choose(f Filter) ([]string, error) {
	var patterns []string
	for _, h := range slices.Sorted(maps.Keys(x.Hosts)) {
		below, inherited := x.Below[h]
		switch {
		case inherited && f.Matches(below):
			patterns = append(patterns, "*."+string(h))
		case f.Matches(x.Hosts[h]):
			patterns = append(patterns, string(h))
		}
	}
	if len(patterns) > 0 {
		return patterns, nil
	}
	names := x.Names()
	list := func(kind string, names []string) string {
		if len(names) == 0 {
			return "no " + kind
		}
		return kind + " " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("no host has %s; in use are %s; %s; %s", f,
		list("labels", names.Labels), list("collections", names.Collections), list("owners", names.Owners))
}

// SiteChange is a difference between two descriptions, as TOML.
type SiteChange struct{ Key, Before, After string }

// SiteChanges returns the differences between two descriptions.
func SiteChanges(before, after Site) (all []SiteChange) {
	text := func(s string) string {
		if s == "" {
			return ""
		}
		return strconv.Quote(s)
	}
	list := func(s []string) string { return text(strings.Join(s, ", ")) }
	for _, x := range []SiteChange{
		{"title", text(before.Title), text(after.Title)},
		{"labels", list(before.Labels), list(after.Labels)},
		{"collections", list(before.Collections), list(after.Collections)},
		{"owner", list(before.Owners), list(after.Owners)},
		{"note", text(before.Note), text(after.Note)},
	} {
		if x.Before != x.After {
			all = append(all, x)
		}
	}
	return all
}
