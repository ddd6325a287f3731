package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// check reports contradictions between keys and between files. It skips files that could not be decoded.
func (l *loader) check() {
	if l.main.Root != nil {
		l.checkRequired()
		l.checkStorage()
		l.config.Admin.Check(l.main.FaultOfKey)
		l.config.Cluster.Check(l.main.FaultOfKey)
		l.config.Mail.Check(l.main.FaultOfKey, len(l.config.Subscriptions) > 0)
		l.checkSubscriptions()
		checkSettings([]source{{doc: l.main}}, l.draft)
	}
	l.checkHosts()
	l.draft.checkSeedSites()
	for _, f := range l.files {
		f.draft.checkSeedSites()
		// The settings of a broken main file are not known.
		if f.doc.Root != nil && len(l.main.Faults) == 0 {
			checkSettings(l.sources(f), f.draft)
			l.checkSeries(f.doc, "")
			for _, w := range f.draft.whens {
				l.checkSeries(f.doc, w.path)
			}
		}
	}
	l.checkSeeds()
	l.checkSources()
	l.warnScope()
}

// checkRequired reports required keys that the main file does not set.
func (l *loader) checkRequired() {
	for _, k := range l.draft.cat.keys {
		table, name := k.Split()
		if t, _ := l.draft.cat.table(table); t.List || !k.Required || k.Scope != InMain || l.main.Has(rootKey(k.Name)) {
			continue
		}
		l.main.FaultOfKey(k.Name, "is missing", fmt.Sprintf("write %s = … under [%s]", name, table))
	}
}

// rootKey returns the path of a key outside lists of tables.
func rootKey(name string) schema.Path { return schema.Path("").Key(name) }

// checkStorage reports storage paths that are the same, and warns of an archive inside the store.
func (l *loader) checkStorage() {
	s, w := l.config.Storage, l.written
	places := []struct{ name, path, written string }{
		{"storage.state", s.State, w.State}, {"storage.warc", s.WARC, w.WARC}, {"storage.log", s.Log, w.Log},
	}
	for i, a := range places {
		for _, b := range places[:i] {
			if a.path != b.path {
				continue
			}
			f := schema.FieldAt(l.main, "", a.name, a.written)
			if !l.main.Has(f.Path) {
				f.Path = rootKey(b.name)
			}
			f.Fault("is the same as "+b.name, "use different paths")
		}
	}
	l.checkFolders()
	l.checkParts()
	l.checkUpload()
	if rel, err := filepath.Rel(s.State, s.WARC); err == nil && filepath.IsLocal(rel) && rel != "." {
		schema.FieldAt(l.main, "", "storage.warc", w.WARC).
			Warn("is inside storage.state, which must contain nothing but the store", "move it out")
	}
}

// checkFolders reports too many series, and further folders of WARC files that cannot take any.
func (l *loader) checkFolders() {
	s := l.config.Storage
	if n := len(l.config.Series); n > warcout.MaxSeries {
		l.main.FaultOfKey("warc.series_names", fmt.Sprintf("has %d names", n), fmt.Sprintf("maximum: %d", warcout.MaxSeries))
	}
	if len(s.Folders) == 0 {
		return
	}
	at := schema.FieldAt(l.main, "", "storage.folders", strings.Join(s.Folders, ", "))
	if problem, remedy := s.Folders.Check(s.WARC, s.State, l.config.Series); problem != "" {
		at.Fault(problem, remedy)
	}
	if s.FoldersFree <= s.MinFree {
		f := schema.FieldAt(l.main, "", "storage.folders_free", human.Bytes(s.FoldersFree))
		if !l.main.Has(f.Path) {
			f.Path = rootKey("storage.folders")
		}
		f.Fault("is not more than storage.min_free, at which the crawl pauses before a file is moved",
			"raise it, or lower storage.min_free")
	}
}

// source is a part of a file that settings can come from: the whole file, or the [[when]] at path.
type source struct {
	doc  *schema.Document
	path schema.Path
}

// sources returns the files that a host file's settings come from, special ones first.
func (l *loader) sources(f *hostFile) []source {
	var all []source
	for ; f != nil; f = f.above {
		all = append(all, source{doc: f.doc})
	}
	return append(all, source{doc: l.main})
}

// checkSettings reports bounds that contradict each other in the settings of a file, the first of from, and in its
// refinements. A refinement may set one bound alone: the other one then moves with it.
func checkSettings(from []source, d *draft) {
	doc := from[0].doc
	d.checkRanges(from)
	for i := range d.entries {
		if d.entries[i].doc == doc {
			d.entries[i].check()
		}
	}
	for _, w := range d.whens {
		refined := w.read(d, doc)
		refined.checkRanges([]source{{doc, w.path}})
		for _, e := range refined.entries {
			low, high := e.bounds()
			if doc.Has(low.path) && doc.Has(high.path) {
				checkBounds(doc, low, high)
			}
		}
		w.checkWhole()
	}
}

// checkRanges checks the pairs of bounds that the first source affects.
func (d *draft) checkRanges(from []source) {
	doc, path := from[0].doc, from[0].path
	for _, r := range d.ranges() {
		low := bound{r.Low, path.Key(r.Low), *r.Lower, origin(from, r.Low)}
		high := bound{r.High, path.Key(r.High), *r.Upper, origin(from, r.High)}
		if path == "" || doc.Has(low.path) && doc.Has(high.path) {
			checkBounds(doc, low, high)
		}
	}
}

// origin returns where the value of a key is set: "in file:line" or "by default".
func origin(from []source, name string) string {
	if at, set := first(from, name); set {
		return "in " + at.Doc.Origin(at.Path)
	}
	return byDefault
}

// checkWhole reports keys about whole hosts in a refinement about single URIs.
func (l *layer) checkWhole() {
	for _, name := range []string{"politeness.valence", "warc.series"} {
		if f, set := l.doc.Setting(l.path, name); set && l.criteria.DependOnURI() {
			f.Value = []any{} // it is not shown
			f.Fault("applies to the host as a whole, but this refinement to single URIs",
				"use only criteria about the time, or move the key out of the [[when]]")
		}
	}
}

// checkSeries reports a series in a file, or in the [[when]] at path, that the main file does not name: a slip must not
// put records into files that nobody looks after.
func (l *loader) checkSeries(doc *schema.Document, path schema.Path) {
	at, _ := doc.Setting(path, "warc.series")
	if s, _ := at.Value.(string); s != "" && !doc.IsBad(at.Path) && !slices.Contains(l.config.Series, s) {
		at.Fault("is not in warc.series_names of the main file", "add it there, or write one of these names")
	}
}

// checkHosts reports hosts with two files.
func (l *loader) checkHosts() {
	l.checkLayers()
	first := map[uri.Host]string{}
	for _, f := range l.files {
		if f.host == "" {
			continue
		}
		other, taken := first[f.host]
		if !taken {
			first[f.host] = f.doc.File
			continue
		}
		fault := Fault{
			Problem: fmt.Sprintf("is the second file for the host %s, after %s", f.host, other), Remedy: "join the two files",
		}
		if path := rootKey("host"); f.doc.Has(path) {
			fault = f.doc.AtValue(path, fault)
			fault.Key, fault.Value = "host", schema.Show(string(f.host))
		}
		f.doc.AddFault(fault)
	}
}

// checkLayers bounds the refinements of one host.
func (l *loader) checkLayers() {
	tooMany := func(doc *schema.Document, n int) {
		doc.AddFault(Fault{
			Key:     whenTable,
			Problem: fmt.Sprintf("%d refinements apply to one host, with refinements of its domains and of the main file", n),
			Remedy:  fmt.Sprintf("maximum: %d", maxLayers),
		})
	}
	if n := len(l.draft.whens); n > maxLayers {
		tooMany(l.main, n)
		return
	}
	for _, f := range l.files {
		if n := len(l.profileOf(f).layers); n > maxLayers {
			tooMany(f.doc, n)
		}
	}
}

// checkSeeds collects the seeds of all files. It reports seeds in the file of another host, and warns of duplicates.
func (l *loader) checkSeeds() {
	listed := map[uri.URI]Seed{}
	add := func(s seed) {
		if other, ok := listed[s.uri]; ok {
			s.at.Warn(fmt.Sprintf("is already listed in %s:%d", other.File, other.Line), "remove one")
			return
		}
		if problem, remedy := DoubtSeed(s.uri, l.config.NetworksFor(s.uri)); problem != "" {
			s.at.Warn(problem, remedy)
		}
		listed[s.uri] = Seed{URI: s.uri, File: s.at.Doc.File, Line: s.at.Doc.Line(s.at.Path)}
		l.config.Seeds = append(l.config.Seeds, listed[s.uri])
	}
	for _, f := range l.all() {
		for _, s := range f.draft.seeds {
			if host := s.uri.Host(); f.host != "" && !covers(f.host, host) {
				s.at.Fault(fmt.Sprintf("is on the host %s, but this file is for %s", host, f.host),
					"move it to the file of its host or to the main file")
				continue
			}
			add(s)
		}
	}
	hasSources := func(f *hostFile) bool { return len(f.sources()) > 0 }
	if len(l.config.Seeds) == 0 && !slices.ContainsFunc(l.all(), hasSources) {
		l.main.AddWarning(Fault{
			Key: "seeds.uris", Problem: "there are no seeds in any file",
			Remedy: "only URIs that are already in the store will be visited",
		})
	}
}

// sources returns the URIs that the keys of aspects in a file name besides seeds.
func (f *hostFile) sources() (all []seed) {
	for own := range f.draft.owned {
		for _, s := range own.Sources {
			list, set := f.doc.Setting("", s.Key)
			if !set {
				continue // the list is of another file
			}
			for i, u := range *s.URIs {
				e := schema.Field{Doc: f.doc, Name: s.Key, Path: list.Path.Element(i)}
				e.Value = f.doc.Value(e.Path)
				all = append(all, seed{u, e})
			}
		}
	}
	return all
}

// checkSources collects the feeds and sitemaps of all files, and warns of duplicates.
func (l *loader) checkSources() {
	seen := map[uri.URI]bool{}
	add := func(s seed, host uri.Host) {
		if seen[s.uri] {
			s.at.Warn("is listed twice", "remove one")
			return
		}
		seen[s.uri] = true
		from := Source{URI: s.uri, Seed: s.uri, File: s.at.Doc.File, Line: s.at.Doc.Line(s.at.Path)}
		for _, seed := range l.config.Seeds {
			if seed.URI.Host() == host && host != s.uri.Host() {
				from.Seed = seed.URI
				break
			}
		}
		l.config.Sources = append(l.config.Sources, from)
	}
	for _, f := range l.all() {
		for _, s := range f.sources() {
			add(s, f.host)
		}
	}
}

// warnScope warns of scopes that admit nothing, and of prefixes that are not used.
func (l *loader) warnScope() {
	const name, remedy = "scope.prefixes", `set by = "prefix" too`
	used := l.draft.settings.Scope.By == scope.ByPrefix
	for _, f := range l.files {
		s := f.draft.settings.Scope
		used = used || s.By == scope.ByPrefix
		if at, set := f.doc.Setting("", name); set && s.By != scope.ByPrefix {
			at.Warn("have no effect with scope.by = "+schema.Show(string(s.By)), remedy)
		}
		onHost := func(s Seed) bool { return s.URI.Host() == f.host || below(s.URI.Host(), f.host) }
		at, set := f.doc.Setting("", "scope.by")
		if set && s.By == scope.ByPrefix && len(s.Prefixes) == 0 && !slices.ContainsFunc(l.config.Seeds, onHost) {
			at.Warn("admits nothing, because the host has neither prefixes nor seeds", "set scope.prefixes")
		}
	}
	if at, set := l.main.Setting("", name); set && !used {
		at.Warn(`have no effect with scope.by = "host"`, remedy)
	}
}
