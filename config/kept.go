package config

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// textChoice says which text of a host file is read.
type textChoice int

const (
	asItIs  textChoice = iota // the file
	asKept                    // its last good copy
	leftOut                   // none: its host is held
)

// LoadKept loads a configuration even if host files are broken. It reads the last good copy of such a file instead.
// kept returns that copy, by the state folder and the name of the file without folder. If there is no copy, or the
// copy is broken too, the file's host and the hosts that would inherit from it are held; see [Config.Held]. The faults
// are in [Config.Broken]. A fault in the main file, or of the folder of host files, ends LoadKept with [Faults].
func LoadKept(path string, kept func(state, name string) ([]byte, bool)) (*Config, error) {
	return loadKept(path, kept, false)
}

// LoadKeptToRead loads a configuration as [LoadKept] does, for a command that only reads it. A secret that this user
// may not read is a warning.
func LoadKeptToRead(path string, kept func(state, name string) ([]byte, bool)) (*Config, error) {
	return loadKept(path, kept, true)
}

func loadKept(path string, kept func(state, name string) ([]byte, bool), reading bool) (*Config, error) {
	choices, why := map[string]textChoice{}, map[string]Fault{}
	var broken []Fault
	for {
		l := loader{choices: choices, why: why, kept: kept, reading: reading}
		err := l.load(path)
		var faults Faults
		switch {
		case err == nil:
			l.config.Broken = broken
			return &l.config, nil
		case !errors.As(err, &faults) || l.main == nil || len(l.main.Faults) > 0:
			return nil, err
		}
		// Each round makes the next choice for at least one file, so there are at most two rounds for each file.
		for _, f := range l.files {
			if len(f.doc.Faults) == 0 {
				continue
			}
			name := filepath.Base(f.doc.File)
			if choices[name] == asItIs {
				own := schema.Sorted(slices.Clone(f.doc.Faults))
				broken, why[name] = append(broken, own...), own[0]
			}
			choices[name]++
		}
	}
}

// textOf returns the text of a host file that is read, nil if none is.
func (l *loader) textOf(name, shown string) *schema.Document {
	if l.texts != nil {
		doc := schema.Parse(l.texts[name], shown)
		doc.Staged = l.reading
		return doc
	}
	path := l.absolute(filepath.Join(l.hosts, name))
	switch l.choices[name] {
	case asKept:
		if data, ok := l.kept(l.config.Storage.State, name); ok {
			return schema.Parse(data, shown)
		}
		l.choices[name] = leftOut
		fallthrough
	case leftOut:
		l.hold(name, schema.Read(path, shown))
		return nil
	}
	return schema.Read(path, shown)
}

// hostKey finds the key host in a text that may not be TOML.
var hostKey = regexp.MustCompile(`(?m)^[ \t]*host[ \t]*=[ \t]*["']([^"'\n]+)["']`)

// hold holds the host of a broken file.
func (l *loader) hold(name string, doc *schema.Document) {
	text := strings.TrimSuffix(name, ".toml")
	if m := hostKey.FindSubmatch(doc.Data); m != nil {
		text = string(m[1])
	}
	h, problem, _ := schema.ParseHost(text)
	if problem != "" {
		return
	}
	if l.config.held == nil {
		l.config.held = map[uri.Host]Fault{}
	}
	l.config.held[h] = l.why[name]
}

// Held reports whether a host must not be visited because its file is broken and never was good. It also returns the
// fault. A host with a good file of its own is not held because of its domain's file.
func (c *Config) Held(h uri.Host) (why Fault, held bool) {
	if len(c.held) == 0 {
		return Fault{}, false
	}
	for first := true; h != ""; h, first = above(h), false {
		if c.hosts[h] != nil && (first || c.hosts[h].inherited) {
			return Fault{}, false
		}
		if why, held = c.held[h]; held && (first || !isSuffix(h)) {
			return why, true
		}
	}
	return Fault{}, false
}

// HeldHosts returns the hosts of all broken files that never were good, sorted.
func (c *Config) HeldHosts() []uri.Host {
	var all []uri.Host
	for h := range c.held {
		if _, held := c.Held(h); held {
			all = append(all, h)
		}
	}
	slices.Sort(all)
	return all
}

// WithHeld returns c with the held hosts and the faults of attempt, another attempt to load a configuration.
func (c *Config) WithHeld(attempt *Config) *Config {
	both := *c
	both.held, both.Broken = maps.Clone(c.held), attempt.Broken
	if both.held == nil {
		both.held = map[uri.Host]Fault{}
	}
	maps.Copy(both.held, attempt.held)
	return &both
}

// HostFile is a host file in force.
type HostFile struct {
	Name   string // without folder
	Series string // of the WARC files of its host; only [Config.Redacted] says it
	Data   []byte
}

// HostFiles returns the host files in force, by name. Their data must not be modified.
func (c *Config) HostFiles() []HostFile {
	all := make([]HostFile, len(c.files))
	for i, f := range c.files {
		all[i] = HostFile{Name: filepath.Base(f.doc.File), Data: f.doc.Data}
	}
	return all
}

// Texts returns the texts of the files in force: host files by their names, the main file as "".
func (c *Config) Texts() map[string][]byte {
	all := map[string][]byte{"": c.doc.Data}
	for _, f := range c.HostFiles() {
		all[f.Name] = f.Data
	}
	return all
}

// LoadTexts loads a configuration as if its files at path had these texts; see [Config.Texts]. If anything is wrong in
// any of them, the error is [Faults].
func LoadTexts(path string, texts map[string][]byte) (*Config, error) {
	return (&loader{texts: texts, reading: true}).whole(path)
}

// LoadTextsToRun loads texts as [LoadTexts] does, for a daemon that is going to run with them. It reads the secrets of
// the texts; a secret that cannot be read is a fault.
func LoadTextsToRun(path string, texts map[string][]byte) (*Config, error) {
	return (&loader{texts: texts}).whole(path)
}

// Expired returns warnings of refinements and files that have expired.
func (c *Config) Expired(now time.Time) []Fault {
	var all []Fault
	add := func(doc *schema.Document, path schema.Path, key string, end time.Time) {
		if !end.IsZero() && !now.Before(end) {
			f := schema.Field{Doc: doc, Name: key, Path: path, Value: doc.Value(path)}
			all = append(all, f.Finding("has passed", "remove the expired settings, or set a later date"))
		}
	}
	for _, w := range c.main.layers {
		add(w.doc, w.path.Child("until"), "when.until", w.criteria.Until)
	}
	moments := c.cat.moments() // not for each file, because there may be many files, and this is asked once a minute
	for _, f := range c.files {
		add(f.doc, rootKey("until"), "until", f.draft.until)
		for _, k := range moments {
			if path := rootKey(k.Name); f.doc.Has(path) {
				if at, err := time.Parse(time.RFC3339, f.draft.shown()(k)); err == nil {
					add(f.doc, path, k.Name, at)
				}
			}
		}
		for _, w := range f.draft.whens {
			add(w.doc, w.path.Child("until"), "when.until", w.criteria.Until)
		}
	}
	return all
}
