package config

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Permission is a host, or a part of it, whose robots.txt need not be obeyed.
type Permission struct {
	Host    uri.Host    `json:"host"`
	Where   string      `json:"where,omitempty"` // criteria of the refinement; "" = the whole host
	Obey    robots.Obey `json:"obey"`
	Reason  string      `json:"reason"`
	Until   time.Time   `json:"until,omitzero"` // when robots.txt is obeyed again; zero = never
	InForce bool        `json:"in_force"`
	Origin  string      `json:"origin"` // file:line
}

// Permissions returns all hosts, and parts of hosts, whose robots.txt need not be obeyed, sorted by host.
func (c *Config) Permissions(now time.Time) []Permission {
	var all []Permission
	for h, p := range c.hosts {
		add := func(d *draft, from source, where string, ends time.Time) {
			r := schema.Find[robots.Options](d.settings)
			if r.Obey == robots.ObeyAll || !from.doc.Has(from.path.Key("robots.obey")) {
				return
			}
			x := Permission{Host: h, Where: where, Obey: r.Obey, Reason: r.Reason, Until: r.Until}
			if !ends.IsZero() && (x.Until.IsZero() || ends.Before(x.Until)) {
				x.Until = ends
			}
			x.InForce = x.Until.IsZero() || now.Before(x.Until)
			x.Origin = from.doc.Origin(from.path.Key("robots.obey"))
			all = append(all, x)
		}
		for _, f := range c.files {
			if f.host == h {
				add(f.draft, source{doc: f.doc}, "", f.draft.until)
			}
		}
		for _, l := range p.layers {
			if l.path != "" && l.doc == p.files[len(p.files)-1].doc {
				ends := l.criteria.Until
				if ends.IsZero() {
					ends = l.ends
				}
				add(l.over(p.base, l.doc.Quiet()), source{l.doc, l.path}, l.criteria.String(), ends)
			}
		}
	}
	slices.SortFunc(all, func(a, b Permission) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Where, b.Where))
	})
	return all
}
