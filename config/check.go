package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/uri"
)

// check finds what is wrong between keys and between files. A file that could not be decoded has nothing to compare.
func (l *loader) check() {
	if l.main.root != nil {
		l.checkRequired()
		l.checkStorage()
		checkSettings([]source{{doc: l.main}}, l.draft)
	}
	l.checkHosts()
	for _, f := range l.files {
		// What a broken main file would have set is not known.
		if f.doc.root != nil && len(l.main.faults) == 0 {
			checkSettings(l.sources(f), f.draft)
		}
	}
	l.checkSeeds()
	l.checkSources()
	l.warnScope()
}

func (l *loader) checkRequired() {
	for _, k := range keys {
		table, name, _ := strings.Cut(k.Name, ".")
		if !k.required || k.Scope != inMain || l.main.has(pathOf(k.Name)) {
			continue
		}
		f := Fault{File: l.main.file, Key: k.Name, Problem: "is missing", Remedy: fmt.Sprintf("write %s = … under [%s]", name, table)}
		if path := pathOf(table); l.main.has(path) {
			f = l.main.at(l.main.place(path).key, f)
		}
		l.main.fault(f)
	}
}

// checkStorage keeps the store and the archive out of each other's folder.
func (l *loader) checkStorage() {
	s := l.config.Storage
	w := l.written
	places := []struct{ name, path, written string }{
		{"storage.state", s.State, w.State}, {"storage.warc", s.WARC, w.WARC}, {"storage.log", s.Log, w.Log},
	}
	for i, a := range places {
		for _, b := range places[:i] {
			path := pathOf(a.name)
			if !l.main.has(path) {
				path = pathOf(b.name)
			}
			if a.path == b.path {
				at := field{doc: l.main, name: a.name, path: path, value: a.written}
				at.fault("is the place of "+b.name+" too", "give each its own")
			}
		}
	}
	if within(s.State, s.WARC) {
		at := field{doc: l.main, name: "storage.warc", path: pathOf("storage.warc"), value: w.WARC}
		at.warn("lies inside storage.state, which belongs to the store alone", "move it out")
	}
}

// within reports whether path lies below folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// source is a part of a file that settings can come from: the file, or the [[when]] at path.
type source struct {
	doc  *document
	path string
}

// sources are what a host file's settings come from, special ones first.
func (l *loader) sources(f *hostFile) []source {
	var all []source
	for ; f != nil; f = f.above {
		all = append(all, source{doc: f.doc})
	}
	return append(all, source{doc: l.main})
}

// checkSettings finds bounds that contradict each other in what the file of the first source sets, and in its refinements. A
// refinement may set one bound alone: the other then moves with it.
func checkSettings(from []source, d *draft) {
	doc := from[0].doc
	d.checkBounds(from)
	for i := range d.entries {
		if d.entries[i].doc == doc {
			d.entries[i].check()
		}
	}
	for _, w := range d.whens {
		refined := w.read(d, doc)
		own := []source{{doc, w.path}}
		refined.checkBounds(own)
		for _, e := range refined.entries {
			low, high := e.bounds()
			if doc.has(low.path) && doc.has(high.path) {
				doc.checkBounds(low, high)
			}
		}
		w.check()
	}
}

// checkBounds looks at those pairs of bounds that the sources decide about.
func (d *draft) checkBounds(from []source) {
	doc, path := from[0].doc, from[0].path
	for _, b := range d.bounds() {
		low := bound{b.low, pathIn(path, b.low), *b.lower, origin(from, b.low)}
		high := bound{b.high, pathIn(path, b.high), *b.higher, origin(from, b.high)}
		if path == "" || doc.has(low.path) && doc.has(high.path) {
			doc.checkBounds(low, high)
		}
	}
}

// origin says where the value of a key comes from.
func origin(from []source, name string) string {
	for _, in := range from {
		if path := pathIn(in.path, name); in.doc.has(path) {
			return fmt.Sprintf("in %s:%d", in.doc.file, in.doc.line(path))
		}
	}
	return byDefault
}

// checkHosts finds hosts with two files.
func (l *loader) checkHosts() {
	l.checkLayers()
	first := map[uri.Host]string{}
	for _, f := range l.files {
		if f.host == "" {
			continue
		}
		other, taken := first[f.host]
		if !taken {
			first[f.host] = f.doc.file
			continue
		}
		fault := Fault{File: f.doc.file, Problem: fmt.Sprintf("is the second file for the host %s, after %s", f.host, other), Remedy: "join the two"}
		if path := pathOf("host"); f.doc.has(path) {
			fault = f.doc.at(f.doc.place(path).value, fault)
			fault.Key, fault.Value = "host", show(string(f.host))
		}
		f.doc.fault(fault)
	}
}

// checkLayers bounds what may depend on the visit, for one host.
func (l *loader) checkLayers() {
	if n := len(l.draft.whens); n > maxLayers {
		l.main.fault(tooMany(l.main, n))
		return
	}
	for _, f := range l.files {
		if n := len(l.profileOf(f).layers); n > maxLayers {
			f.doc.fault(tooMany(f.doc, n))
		}
	}
}

func tooMany(doc *document, n int) Fault {
	return Fault{
		File: doc.file, Key: whenTable, Problem: fmt.Sprintf("%d refinements come together for one host, with those of its domains and the main file", n),
		Remedy: fmt.Sprintf("have at most %d", maxLayers),
	}
}

// checkSeeds gathers the seeds of all files: those of a host file must be on its host, and none counts twice.
func (l *loader) checkSeeds() {
	listed := map[uri.URI]Seed{}
	take := func(s seed) {
		line := s.at.doc.line(s.at.path)
		if other, ok := listed[s.uri]; ok {
			s.at.warn(fmt.Sprintf("is listed already in %s:%d", other.File, other.Line), "remove one")
			return
		}
		listed[s.uri] = Seed{URI: s.uri, File: s.at.doc.file, Line: line}
		l.config.Seeds = append(l.config.Seeds, listed[s.uri])
	}
	for _, s := range l.draft.seeds {
		take(s)
	}
	for _, f := range l.files {
		for _, s := range f.draft.seeds {
			if host := s.uri.Host(); f.host != "" && host != f.host && (isSuffix(f.host) || !below(host, f.host)) {
				s.at.fault(fmt.Sprintf("is on the host %s, and this file is for %s", host, f.host), "move it to the file of its host or to the main file")
				continue
			}
			take(s)
		}
	}
	if len(l.config.Seeds)+len(l.draft.sources) == 0 && !slices.ContainsFunc(l.files, func(f *hostFile) bool { return len(f.draft.sources) > 0 }) {
		l.main.warn(Fault{File: l.main.file, Key: "seeds.uris", Problem: "there are no seeds in any file", Remedy: "without one, only what is in the store already is visited"})
	}
}

// warnScope warns of scopes that let nothing in, and of prefixes that nobody asks for.
func (l *loader) warnScope() {
	const name = "scope.prefixes"
	wanted := l.draft.settings.Scope.By == scope.ByPrefix
	for _, f := range l.files {
		s := f.draft.settings.Scope
		wanted = wanted || s.By == scope.ByPrefix
		if s.By != scope.ByPrefix && f.doc.has(pathOf(name)) {
			at := field{doc: f.doc, name: name, path: pathOf(name), value: []any{}}
			at.warn("have no effect with scope.by = "+show(string(s.By)), `set by = "prefix" too`)
		}
		onHost := func(s Seed) bool { return s.URI.Host() == f.host || below(s.URI.Host(), f.host) }
		if s.By == scope.ByPrefix && len(s.Prefixes) == 0 && f.doc.has(pathOf("scope.by")) && !slices.ContainsFunc(l.config.Seeds, onHost) {
			at := field{doc: f.doc, name: "scope.by", path: pathOf("scope.by"), value: string(s.By)}
			at.warn("lets nothing in, for the host has neither prefixes nor seeds", "set scope.prefixes")
		}
	}
	if !wanted && l.main.has(pathOf(name)) {
		at := field{doc: l.main, name: name, path: pathOf(name), value: []any{}}
		at.warn(`have no effect with scope.by = "host"`, `set by = "prefix" too`)
	}
}

// resolve fills what [Config.For] and [Config.SeedHost] go by.
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
	for _, s := range c.Sources {
		c.seedHosts[s.Seed.Host()] = true
	}
	for h, folders := range c.folders {
		slices.Sort(folders)
		c.folders[h] = slices.Compact(folders)
	}
}

// profileOf puts the files that a host's settings come from in order. From the first one on that ends some day, each is a
// layer of its own.
func (l *loader) profileOf(f *hostFile) *profile {
	p := &profile{host: f.host, inherited: !isSuffix(f.host), base: l.draft}
	for g := f; g != nil; g = g.above {
		p.files = append(p.files, g)
	}
	slices.Reverse(p.files)
	ending := false
	whens := slices.Clone(l.draft.whens)
	for _, g := range p.files {
		ends := g.draft.until
		ending = ending || !ends.IsZero()
		if ending {
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

// foldersOf is the folder of a seed, on the http and the https side where it has no port of its own: most sites send
// visitors from the one to the other.
func foldersOf(u uri.URI) []string {
	folder := u.Path()[:strings.LastIndexByte(u.Path(), '/')+1]
	if u.Port() != "80" && u.Port() != "443" {
		return []string{strings.TrimSuffix(u.Origin().String(), "/") + folder}
	}
	return []string{"http://" + u.Authority() + folder, "https://" + u.Authority() + folder}
}
