package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/arcrawl/arcrawl/uri"
)

// maxHostFiles bounds how many host files are read: a hundred thousand hosts, far beyond what curators tend by hand.
const maxHostFiles = 100_000

// hostFile is a host file that was read.
type hostFile struct {
	doc   *document
	draft *draft
	host  uri.Host  // "" if it could not be told
	above *hostFile // of the nearest domain that this host inherits from; nil if none has a file
}

// loader is a configuration on its way.
type loader struct {
	config Config
	folder string // of the main file, as the path was given
	main   *document
	draft  *draft
	// written is the storage as the file has it, before its paths were made absolute.
	written Storage
	files   []*hostFile
	choice  map[string]textChoice // of the text of a host file, by name
	why     map[string]Fault      // a host file is not read as it is
	kept    func(state, name string) ([]byte, bool)
	stray   findings // faults and warnings of the folder of host files
}

// Load reads the main file at path and its host files. The error is [Faults]: all that is wrong in any of them; the
// Config is then nil.
func Load(path string) (*Config, error) {
	l := loader{folder: filepath.Dir(path)}
	if err := l.load(path); err != nil {
		return nil, err
	}
	return &l.config, nil
}

// load fills the config. The error is [Faults].
func (l *loader) load(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Faults{{File: path, Problem: "cannot be found: " + err.Error(), Remedy: "give an absolute path"}}
	}
	l.config.Path = absolute
	l.main = readDocument(path, path)
	if l.main.data == nil && len(l.main.faults) > 0 {
		return Faults(l.main.faults)
	}
	l.readMain()
	for _, name := range l.hostFileNames() {
		l.openHostFile(name)
	}
	l.readHostFiles()
	l.check()
	if faults := l.collect(func(fs findings) []Fault { return fs.faults }); len(faults) > 0 {
		return Faults(faults)
	}
	l.resolve()
	l.warnPace()
	for _, w := range l.draft.whens {
		w.warnNever("")
	}
	for _, f := range l.files {
		for _, w := range f.draft.whens {
			w.warnNever(f.host)
		}
	}
	l.config.Warnings = l.collect(func(fs findings) []Fault { return fs.warnings })
	l.config.Digest = l.digest()
	return nil
}

// collect puts the findings of all files in order.
func (l *loader) collect(of func(findings) []Fault) []Fault {
	all := sorted(of(l.main.findings))
	all = append(all, sorted(of(l.stray))...)
	for _, f := range l.files {
		all = append(all, sorted(of(f.doc.findings))...)
	}
	return all
}

// defaults gives a draft with the defaults that the key table shows, read as if a file had set them.
func defaults(c *Config, s *Settings) *draft {
	d := &draft{config: c, settings: s}
	nowhere := &document{lines: []int{0}, bad: map[string]bool{}}
	for _, k := range keys {
		var v map[string]any
		if _, err := toml.Decode("value = "+k.Default, &v); err == nil && k.Default != "" {
			k.reader.read(field{doc: nowhere, name: k.Name, value: v["value"]}, d)
		}
	}
	d.plain = d.entry
	return d
}

func (l *loader) readMain() {
	l.draft = defaults(&l.config, new(Settings))
	l.draft.shadowed = builtIn(l.draft.plain)
	l.main.read(l.draft, inMain)
	if len(l.draft.entries) == 0 {
		l.draft.entries = l.draft.shadowed
	}
	l.draft.finish(l.main, "")
	c := &l.config.Storage
	l.written = *c
	l.config.HostsDir = l.absolute(l.draft.hosts)
	c.State, c.WARC, c.Log = l.absolute(c.State), l.absolute(c.WARC), l.absolute(c.Log)
	l.config.Admin.settle(c.State, l.absolute)
}

// absolute is a path of the main file, seen from its folder.
func (l *loader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(l.config.Path), path)
}

// hostsFolder is the folder of host files, as shown in faults.
func (l *loader) hostsFolder() string {
	if filepath.IsAbs(l.draft.hosts) {
		return l.draft.hosts
	}
	return filepath.Join(l.folder, l.draft.hosts)
}

// hostFileNames lists the files that curators mean to be read, sorted.
func (l *loader) hostFileNames() []string {
	named := field{doc: l.main, name: "storage.hosts", path: pathOf("storage.hosts"), value: l.draft.hosts}
	entries, err := os.ReadDir(l.hostsFolder())
	if errors.Is(err, fs.ErrNotExist) && !l.main.has(named.path) {
		return nil
	}
	if err != nil {
		problem, remedy := unreadable(err)
		if errors.Is(err, fs.ErrNotExist) {
			remedy = "make the folder, or remove the key"
		}
		named.fault(problem, remedy)
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, ".toml"):
			names = append(names, name)
		case strings.EqualFold(filepath.Ext(name), ".toml"), strings.HasSuffix(name, ".toml.txt"):
			l.stray.warn(Fault{
				File: filepath.Join(l.hostsFolder(), name), Problem: "is passed over", Remedy: `end its name with ".toml" to have it read`,
			})
		}
	}
	if len(names) > maxHostFiles {
		named.fault(fmt.Sprintf("holds more than %d files", maxHostFiles), "divide the crawl")
		return nil
	}
	return names
}

// openHostFile parses a host file and finds out whose it is.
func (l *loader) openHostFile(name string) {
	shown := filepath.Join(l.hostsFolder(), name)
	f := &hostFile{doc: l.textOf(name, shown)}
	if f.doc == nil {
		return
	}
	l.files = append(l.files, f)
	if f.doc.root == nil {
		return
	}
	if value, named := f.doc.root["host"]; named {
		if s, ok := value.(string); ok {
			f.host, _, _ = parseHost(s) // what is wrong with it is told when the keys are read
		}
		return
	}
	var problem string
	if f.host, problem, _ = parseHost(strings.TrimSuffix(name, ".toml")); problem != "" {
		f.doc.fault(Fault{
			File: shown, Problem: "has a name that is not a host and .toml",
			Remedy: `rename it, or put host = "name" or host = "name:port" on its first line`,
		})
	}
}

// readHostFiles reads the host files, those of domains before those of the hosts below, which begin with what the domain's
// file has set.
func (l *loader) readHostFiles() {
	order := slices.Clone(l.files)
	slices.SortStableFunc(order, func(a, b *hostFile) int { return cmp.Compare(depth(a.host), depth(b.host)) })
	read := map[uri.Host]*hostFile{}
	for _, f := range order {
		base := l.draft
		for h := above(f.host); h != "" && f.above == nil; h = above(h) {
			if up := read[h]; up != nil && !isSuffix(h) {
				f.above, base = up, up.draft
			}
		}
		d := base.over()
		f.draft = &d
		f.doc.read(f.draft, inHost)
		f.draft.finish(f.doc, "")
		if read[f.host] == nil && f.host != "" {
			read[f.host] = f
		}
	}
}

// digest is over the names and bytes of all files; lengths keep one from running into the next.
func (l *loader) digest() string {
	docs := []*document{l.main}
	for _, f := range l.files {
		docs = append(docs, f.doc)
	}
	slices.SortStableFunc(docs[1:], func(a, b *document) int { return cmp.Compare(a.file, b.file) })
	h := sha256.New()
	for _, d := range docs {
		name := filepath.Base(d.file)
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(d.data))
		h.Write(d.data)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
