package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// check finds what is wrong between keys and between files. A file that could not be decoded has nothing to compare.
func (l *loader) check() {
	if l.main.root != nil {
		l.checkRequired()
		l.checkStorage()
		checkSettings(l.main, l.main, l.draft)
	}
	l.checkHosts()
	for _, f := range l.files {
		// What a broken main file would have set is not known.
		if f.doc.root != nil && len(l.main.faults) == 0 {
			checkSettings(f.doc, l.main, f.draft)
		}
	}
	l.checkSeeds()
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

// checkSettings finds bounds that contradict each other in the settings of one file.
func checkSettings(doc, main *document, d draft) {
	origin := func(name string) string {
		for _, in := range []*document{doc, main} {
			if path := pathOf(name); in.has(path) {
				return fmt.Sprintf("in %s:%d", in.file, in.line(path))
			}
		}
		return "by default"
	}
	s := d.settings
	for _, pair := range [][2]bound{
		{{name: "politeness.min_delay", value: s.Politeness.MinDelay}, {name: "politeness.max_delay", value: s.Politeness.MaxDelay}},
		{{name: "retry.first", value: s.Retry.First}, {name: "retry.max", value: s.Retry.Max}},
	} {
		for i := range pair {
			pair[i].path, pair[i].origin = pathOf(pair[i].name), origin(pair[i].name)
		}
		doc.checkBounds(pair[0], pair[1])
	}
	for i := range d.entries {
		if d.entries[i].doc == doc {
			d.entries[i].check()
		}
	}
}

// checkHosts finds hosts with two files.
func (l *loader) checkHosts() {
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
			if host := s.uri.Host(); f.host != "" && host != f.host {
				s.at.fault(fmt.Sprintf("is on the host %s, and this file is for %s", host, f.host), "move it to the file of its host or to the main file")
				continue
			}
			take(s)
		}
	}
	if len(l.config.Seeds) == 0 {
		l.main.warn(Fault{File: l.main.file, Key: "seeds.uris", Problem: "there are no seeds in any file", Remedy: "without one, only what is in the store already is visited"})
	}
}

// warnScope warns of scopes that let nothing in, and of prefixes that nobody asks for.
func (l *loader) warnScope() {
	const name = "scope.prefixes"
	wanted := l.config.defaults.Scope.By == ByPrefix
	for _, f := range l.files {
		s := f.draft.settings.Scope
		wanted = wanted || s.By == ByPrefix
		if s.By != ByPrefix && f.doc.has(pathOf(name)) {
			at := field{doc: f.doc, name: name, path: pathOf(name), value: []any{}}
			at.warn("have no effect with scope.by = "+show(string(s.By)), `set by = "prefix" too`)
		}
		onHost := func(s Seed) bool { return s.URI.Host() == f.host }
		if s.By == ByPrefix && len(s.Prefixes) == 0 && f.doc.has(pathOf("scope.by")) && !slices.ContainsFunc(l.config.Seeds, onHost) {
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
	c.hosts, c.seedHosts = map[uri.Host]Settings{}, map[uri.Host]bool{}
	for _, f := range l.files {
		c.hosts[f.host] = *f.draft.settings
	}
	folders := map[uri.Host][]string{}
	for _, s := range c.Seeds {
		h := s.URI.Host()
		c.seedHosts[h] = true
		folders[h] = append(folders[h], foldersOf(s.URI)...)
	}
	for h, prefixes := range folders {
		s := c.ForHost(h, time.Time{})
		if s.Scope.By == ByPrefix && len(s.Scope.Prefixes) == 0 {
			slices.Sort(prefixes)
			s.Scope.Prefixes = slices.Compact(prefixes)
			c.hosts[h] = s
		}
	}
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
