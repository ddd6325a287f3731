package config

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what depends on the visit, for one host.
const (
	maxLayers = 64  // refinements and files that end; a set of them is one word
	maxCombos = 256 // combinations of them that are kept; others are put together anew each time
)

// layer is what one [[when]] sets, or one host file.
type layer struct {
	doc      *document
	path     string         // of the [[when]]; "" is the whole file
	values   map[string]any // tables of the [[when]]
	criteria criteria
	ends     time.Time // of the file that it stands in; zero is never
}

// holds reports whether the layer is in force for a visit.
func (l *layer) holds(a About) bool {
	return (l.ends.IsZero() || a.Now.Before(l.ends)) && l.criteria.holds(a)
}

// profile resolves the settings of one host, and of those below it that have no file of their own.
type profile struct {
	host      uri.Host     // "" for the main file's
	files     []*hostFile  // of the host and the domains above it, general ones first
	inherited bool         // by hosts below
	base      *draft       // what holds at all times
	layers    []*layer     // what may hold over it, general first
	combos    atomic.Value // map[uint64]*Settings: what was put together so far; never changed, only replaced
}

// settings are those of a visit.
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

// inForce is the set of the layers that hold, one bit for each.
func (p *profile) inForce(a About) (set uint64) {
	for i, l := range p.layers {
		if l.holds(a) {
			set |= 1 << i
		}
	}
	return set
}

// combine puts the layers of a set over the base.
func (p *profile) combine(set uint64) *draft {
	d := p.base
	for i, l := range p.layers {
		if set&(1<<i) != 0 {
			d = l.over(d, l.doc.quiet())
		}
	}
	return d
}

// quiet is the document with findings of its own: what is read from it a second time has been judged already.
func (d *document) quiet() *document {
	return &document{file: d.file, data: d.data, root: d.root, places: d.places, lines: d.lines, bad: map[string]bool{}}
}

// over reads what the layer sets over base, and puts right what the two together contradict: the layer wins.
func (l *layer) over(base *draft, doc *document) *draft {
	d := l.read(base, doc)
	for _, b := range d.bounds() {
		b.reconcile(doc, l.path)
	}
	own := len(d.stack) - len(base.stack)
	for i := range d.stack[:own] {
		d.stack[i].reconcile(doc)
	}
	d.settings.Wait = stack(d.stack)
	return d
}

// read reads what the layer sets over base, and reports to doc what is wrong with it.
func (l *layer) read(base *draft, doc *document) *draft {
	d := base.over()
	if l.path == "" {
		doc.read(&d, inHost)
	} else {
		for _, name := range slices.Sorted(maps.Keys(l.values)) {
			if t, ok := findTable(name); ok {
				doc.readTable(t, l.path, l.values[name], &d, inWhen)
			}
		}
	}
	d.finish(doc, l.path)
	return &d
}

// finish puts the stack together and compiles the rules once all keys are read.
func (d *draft) finish(doc *document, path string) {
	d.stack = append(slices.Clone(d.entries), d.stack...)
	d.settings.Wait = stack(d.stack)
	d.settings.Change.compile(doc)
	doc.warnChange(path, d.settings.Change)
}

// limits are two durations of the settings of which one is not above the other.
type limits struct {
	low, high     string // the keys
	lower, higher *time.Duration
}

// bounds are the pairs of the settings, the stack apart.
func (d *draft) bounds() []limits {
	s := d.settings
	return []limits{
		{"politeness.min_delay", "politeness.max_delay", &s.Politeness.MinDelay, &s.Politeness.MaxDelay},
		{"retry.first", "retry.max", &s.Retry.First, &s.Retry.Max},
		{"feeds.min", "feeds.max", &s.Feeds.Feed.Min, &s.Feeds.Feed.Max},
		{"feeds.sitemap_min", "feeds.sitemap_max", &s.Feeds.Sitemap.Min, &s.Feeds.Sitemap.Max},
	}
}

// reconcile moves the bound that the layer at path does not set.
func (b limits) reconcile(doc *document, path string) {
	switch {
	case *b.lower <= *b.higher:
	case doc.has(pathIn(path, b.high)):
		*b.lower = *b.higher
	default:
		*b.higher = *b.lower
	}
}

// reconcile does the same for an entry of the stack.
func (e *evaluator) reconcile(doc *document) {
	switch {
	case e.Min <= e.Max:
	case doc.has(under(e.path, "max")):
		e.Min = e.Max
	default:
		e.Max = e.Min
	}
}
