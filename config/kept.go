package config

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// textChoice is which text of a host file is read.
type textChoice int

const (
	asItIs  textChoice = iota // the file
	asKept                    // its last good copy
	leftOut                   // none: its host is held
)

// LoadKept is a [Load] that a broken host file does not end. In the place of such a file its last good copy is read, which
// kept gives by the state folder and the file's name without folder. Where there is none, or that is broken too, the file's host and those that
// would inherit from it are held, see [Config.Held]. What is wrong stands in [Config.Broken]. A fault of the main file, or
// of the folder of host files, ends LoadKept with [Faults].
func LoadKept(path string, kept func(state, name string) ([]byte, bool)) (*Config, error) {
	choices, why := map[string]textChoice{}, map[string]Fault{}
	var broken []Fault
	for {
		l := loader{folder: filepath.Dir(path), choice: choices, why: why, kept: kept}
		err := l.load(path)
		var faults Faults
		switch {
		case err == nil:
			l.config.Broken = broken
			return &l.config, nil
		case !errors.As(err, &faults) || l.main == nil || len(l.main.faults) > 0 || len(l.stray.faults) > 0:
			return nil, err
		}
		// Each round goes a step further for at least one file, so that there are at most two for each.
		for _, f := range l.files {
			if len(f.doc.faults) == 0 {
				continue
			}
			name := filepath.Base(f.doc.file)
			if choices[name] == asItIs {
				found := sorted(slices.Clone(f.doc.faults))
				broken, why[name] = append(broken, found...), found[0]
			}
			choices[name]++
		}
	}
}

// textOf is the text of a host file to be read, nil if none is.
func (l *loader) textOf(name, shown string) *document {
	path := l.absolute(filepath.Join(l.draft.hosts, name))
	switch l.choice[name] {
	case asKept:
		if data, ok := l.kept(l.config.Storage.State, name); ok {
			d := newDocument(shown)
			d.data = data
			d.parse()
			return d
		}
		l.choice[name] = leftOut
		fallthrough
	case leftOut:
		l.hold(name, readDocument(path, shown))
		return nil
	}
	return readDocument(path, shown)
}

// namedHost finds the key host in a text that may not be TOML.
var namedHost = regexp.MustCompile(`(?m)^[ \t]*host[ \t]*=[ \t]*["']([^"'\n]+)["']`)

// hold notes that nothing is known of how the host of a broken file wants to be treated.
func (l *loader) hold(name string, doc *document) {
	text := strings.TrimSuffix(name, ".toml")
	if m := namedHost.FindSubmatch(doc.data); m != nil {
		text = string(m[1])
	}
	h, problem, _ := parseHost(text)
	if problem != "" {
		return
	}
	if l.config.held == nil {
		l.config.held = map[uri.Host]Fault{}
	}
	l.config.held[h] = l.why[name]
}

// Held reports whether nothing of the host may be visited, because the file that would say how is broken and was never
// good, and what is wrong there. A host with a good file of its own is not held for the sake of its domain's.
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

// HeldHosts are the hosts of all broken files that were never good, sorted.
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

// WithHeld is c that also holds the hosts which another attempt to load a configuration held, and tells what was wrong there.
func (c *Config) WithHeld(attempt *Config) *Config {
	both := *c
	both.held, both.Broken = maps.Clone(c.held), attempt.Broken
	if both.held == nil {
		both.held = map[uri.Host]Fault{}
	}
	maps.Copy(both.held, attempt.held)
	return &both
}

// HostFile is a host file as it is in force.
type HostFile struct {
	Name string // without folder
	Data []byte
}

// HostFiles are the host files as they are in force, by name. Nobody writes to their data.
func (c *Config) HostFiles() []HostFile {
	all := make([]HostFile, len(c.files))
	for i, f := range c.files {
		all[i] = HostFile{Name: filepath.Base(f.doc.file), Data: f.doc.data}
	}
	return all
}

// Expired lists what has ended and stands there without effect: warnings that only the time can tell.
func (c *Config) Expired(now time.Time) []Fault {
	var all []Fault
	expired := func(doc *document, path, key string, end time.Time) {
		if !end.IsZero() && !now.Before(end) {
			at := field{doc: doc.quiet(), name: key, path: path, value: doc.value(path)}
			all = append(all, at.finding("has passed", "remove what it ends, or move it into the future"))
		}
	}
	for _, w := range c.main.layers {
		expired(w.doc, under(w.path, "until"), "when.until", w.criteria.until)
	}
	for _, f := range c.files {
		expired(f.doc, under("", "until"), "until", f.draft.until)
		for _, w := range f.draft.whens {
			expired(w.doc, under(w.path, "until"), "when.until", w.criteria.until)
		}
	}
	return all
}
