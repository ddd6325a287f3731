package config

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// About says what the settings of a visit can depend on.
type About = schema.About

// For returns the settings of a visit; see Layers in the package comment. It is cheap: everything that does not depend
// on the URI or the time was combined when the files were read, and each combination of refinements is combined once.
func (c *Config) For(a About) Settings { return c.settings(a.URI.Host(), a) }

// ForHost returns the settings of a host as a whole. A refinement applies only if it depends on the time alone.
func (c *Config) ForHost(h uri.Host, now time.Time) Settings { return c.settings(h, About{Now: now}) }

func (c *Config) settings(h uri.Host, a About) Settings {
	s := *c.profile(h).settings(a)
	if s.Scope.By == scope.ByPrefix && len(s.Scope.Prefixes) == 0 {
		s.Scope.Prefixes = c.folders[h]
	}
	return s
}

// profile returns the profile of the host's own file, or of the nearest domain above it with a file, or of the main
// file.
func (c *Config) profile(h uri.Host) *profile {
	if len(c.hosts) == 0 {
		return c.main
	}
	if p, ok := c.hosts[h]; ok {
		return p
	}
	for h = above(h); h != ""; h = above(h) {
		if p, ok := c.hosts[h]; ok && p.inherited {
			return p
		}
	}
	return c.main
}

// WaitRefinements returns the criteria of the refinements that apply to a visit, depend on more than the time and set
// [[wait]] entries. It returns "" if there are none.
func (c *Config) WaitRefinements(a About) string {
	var all []string
	for _, l := range c.profile(a.URI.Host()).layers {
		if _, sets := l.values["wait"]; sets && l.criteria.DependOnURI() && l.applies(a) {
			all = append(all, l.criteria.String())
		}
	}
	return strings.Join(all, "; ")
}

// Bounds of the settings of one host that depend on the visit.
const (
	maxLayers = 64  // refinements and files that expire; a set of them is one word
	maxCombos = 256 // combinations of layers that are kept; others are combined at each visit
)

// layer is one [[when]], or a host file that expires.
type layer struct {
	doc      *schema.Document
	path     schema.Path    // of the [[when]]; "" is the whole file
	values   map[string]any // tables of the [[when]]
	criteria schema.Criteria
	ends     time.Time // of its file; zero = never
	scope    string    // [schema.InWhen] or [schema.InMainWhen]
}

// applies reports whether the layer is in force for a visit.
func (l *layer) applies(a About) bool {
	return (l.ends.IsZero() || a.Now.Before(l.ends)) && l.criteria.Hold(a)
}

// profile resolves the settings of one host, and of the hosts below it without a file of their own.
type profile struct {
	host      uri.Host     // "" for the main file
	files     []*hostFile  // of the host and the domains above it, general ones first
	inherited bool         // by hosts below
	base      *draft       // the settings without any layer
	layers    []*layer     // general ones first
	combos    atomic.Value // map[uint64]*Settings of the combinations so far; replaced, never changed
}

// settings returns the settings of a visit.
func (p *profile) settings(a About) *Settings {
	set := p.inForce(a)
	if set == 0 {
		return p.base.settings
	}
	known, _ := p.combos.Load().(map[uint64]*Settings)
	if s, ok := known[set]; ok {
		return s
	}
	s := p.combine(set).settings
	if len(known) < maxCombos {
		more := maps.Clone(known)
		if more == nil {
			more = map[uint64]*Settings{}
		}
		more[set] = s
		p.combos.Store(more)
	}
	return s
}

// inForce returns the set of the layers that apply, one bit for each.
func (p *profile) inForce(a About) (set uint64) {
	for i, l := range p.layers {
		if l.applies(a) {
			set |= 1 << i
		}
	}
	return set
}

// combine returns the base with a set of layers over it.
func (p *profile) combine(set uint64) *draft {
	d := p.base
	for i, l := range p.layers {
		if set&(1<<i) != 0 {
			d = l.over(d, l.doc.Quiet())
		}
	}
	return d
}

// over returns base with the settings of the layer over it. Where bounds of the two contradict each other, the layer
// wins.
func (l *layer) over(base *draft, doc *schema.Document) *draft {
	d := l.read(base, doc)
	for _, r := range d.ranges() {
		reconcile(r.Lower, r.Upper, doc.Has(l.path.Key(r.High)))
	}
	own := len(d.stack) - len(base.stack)
	for i := range d.stack[:own] {
		e := &d.stack[i]
		reconcile(&e.Min, &e.Max, e.doc.Has(e.path.Child("max")))
	}
	d.settings.Wait = stack(d.stack)
	return d
}

// read returns base with the settings of the layer over it, and reports faults to doc.
func (l *layer) read(base *draft, doc *schema.Document) *draft {
	d := base.over()
	if l.path == "" {
		newReader(doc, d, InHost).file()
	} else {
		for _, name := range slices.Sorted(maps.Keys(l.values)) {
			if t, ok := d.cat.table(name); ok {
				newReader(doc, d, l.scope).table(t, l.path, l.values[name])
			}
		}
	}
	d.finish(doc, l.path)
	return d
}

// ranges returns the pairs of minimum and maximum in the settings, except in the stack.
func (d *draft) ranges() []schema.Bounds {
	s := d.settings
	all := []schema.Bounds{
		{
			Low: "politeness.min_delay", High: "politeness.max_delay",
			Lower: &s.Politeness.MinDelay, Upper: &s.Politeness.MaxDelay,
		},
		{Low: "retry.first", High: "retry.max", Lower: &s.Retry.First, Upper: &s.Retry.Max},
	}
	for own := range d.owned {
		all = append(all, own.Bounds...)
	}
	return all
}

// reconcile moves the bound that a layer does not set, if the minimum is above the maximum.
func reconcile(lower, upper *time.Duration, setsUpper bool) {
	switch {
	case *lower <= *upper:
	case setsUpper:
		*lower = *upper
	default:
		*upper = *lower
	}
}
