package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// maxHostFiles bounds the number of host files, far above what curators maintain by hand.
const maxHostFiles = 100_000

// hostFile is a host file that was read.
type hostFile struct {
	doc   *schema.Document
	draft *draft
	host  uri.Host  // "" if it is not known
	above *hostFile // of the nearest domain with a file that this host inherits from; nil = none
}

// loader loads one configuration.
type loader struct {
	config   Config
	folder   string // of the main file, as its path was given
	main     *schema.Document
	draft    *draft
	written  Storage // as the file has it, before its paths are made absolute
	hosts    string  // storage.hosts, as the file has it
	files    []*hostFile
	choices  map[string]textChoice // which text of a host file is read, by file name
	why      map[string]Fault      // why the last good copy of a host file is read instead of the file, by file name
	kept     func(state, name string) ([]byte, bool)
	reading  bool              // the configuration is only read: secrets need not be readable
	texts    map[string][]byte // read instead of files, by name; nil = files are read
	warnings []Fault           // about files that are not read, and about seeds
}

// Load reads the main file at path and its host files. If anything is wrong in any of them, the Config is nil and the
// error is [Faults].
func Load(path string) (*Config, error) { return new(loader).whole(path) }

// LoadToRead loads a configuration as [Load] does, for a command that only reads it. A secret that this user may not
// read is a warning.
func LoadToRead(path string) (*Config, error) { return (&loader{reading: true}).whole(path) }

// whole returns the config if nothing is wrong with it.
func (l *loader) whole(path string) (*Config, error) {
	if err := l.load(path); err != nil {
		return nil, err
	}
	return &l.config, nil
}

// load fills the config. The error is [Faults].
func (l *loader) load(path string) error {
	if err := l.openMain(path); err != nil {
		return err
	}
	if l.main.Data == nil && len(l.main.Faults) > 0 {
		return Faults(l.main.Faults)
	}
	l.readMain()
	for _, name := range l.hostFileNames() {
		l.openHostFile(name)
	}
	l.readHostFiles()
	l.check()
	l.reportLacks()
	if faults := l.collect(func(d *schema.Document) []Fault { return d.Faults }, nil); len(faults) > 0 {
		return Faults(faults)
	}
	l.resolve()
	l.warnPace()
	l.warnDoubts()
	l.config.Warnings = l.collect(func(d *schema.Document) []Fault { return d.Warnings }, l.warnings)
	var files []HostFile
	for _, f := range l.all() {
		files = append(files, HostFile{Name: filepath.Base(f.doc.File), Data: f.doc.Data})
	}
	l.config.Digest = digestOf(files)
	return nil
}

// reportLacks reports secrets that cannot be read here: as faults, or as warnings for a command that only reads.
func (l *loader) reportLacks() {
	for _, f := range l.all() {
		if l.reading {
			f.doc.Warnings = append(f.doc.Warnings, f.doc.Lacks...)
		} else {
			f.doc.Faults = append(f.doc.Faults, f.doc.Lacks...)
		}
	}
}

// openMain decodes the main file.
func (l *loader) openMain(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Faults{{File: path, Problem: "cannot be found: " + err.Error(), Remedy: "use an absolute path"}}
	}
	l.config.Path, l.folder = absolute, filepath.Dir(path)
	if l.texts != nil {
		l.main = schema.Parse(l.texts[""], path)
		return nil
	}
	l.main = schema.Read(path, path)
	return nil
}

// StorageAt reads only [storage] from the main file at path, for commands that read what a crawl has written. Faults
// elsewhere do not matter.
func StorageAt(path string) (Storage, error) {
	l, err := storageAt(path)
	return l.config.Storage, err
}

// FoldersAt returns the folders that belong to a crawl with the main file at path, and the file of its log.
func FoldersAt(path string) (folders []string, log string, err error) {
	l, err := storageAt(path)
	s := l.config.Storage
	return append(s.Folders.All(), s.State, s.WARC, l.config.HostsDir), s.Log, err
}

// storageAt reads [storage].
func storageAt(path string) (*loader, error) {
	l, none := new(loader), new(loader)
	if err := l.openMain(path); err != nil {
		return none, err
	}
	if l.main.Root != nil {
		l.readMain()
		l.checkStorage()
	}
	ours := func(f Fault) bool { return strings.HasPrefix(f.Key+".", "storage.") }
	if l.main.Root == nil || slices.ContainsFunc(l.main.Faults, ours) {
		return none, Faults(schema.Sorted(l.main.Faults))
	}
	return l, nil
}

// Where reads only [admin] from the main file at path, for commands that look for a daemon. Faults elsewhere do not
// matter: while a file is broken, the daemon runs with its last good configuration and can be reached.
func Where(path string) (Admin, error) {
	var l loader
	if err := l.openMain(path); err != nil {
		return Admin{}, err
	}
	if l.main.Root == nil && len(l.main.Faults) > 0 {
		return Admin{}, Faults(l.main.Faults)
	}
	l.readMain()
	return l.config.Admin, nil
}

// collect returns the faults or warnings of all files in order. It puts others after the main file.
func (l *loader) collect(of func(*schema.Document) []Fault, others []Fault) []Fault {
	all := append(schema.Sorted(of(l.main)), schema.Sorted(others)...)
	for _, f := range l.files {
		all = append(all, schema.Sorted(of(f.doc))...)
	}
	return all
}

// readMain reads the main file into a draft.
func (l *loader) readMain() {
	l.draft = coreCatalog().newDraft(&l.config)
	l.main.Secrets, l.main.Named = l.secretsFolder(), map[string]bool{}
	newReader(l.main, l.draft, InMain).file()
	if len(l.draft.entries) == 0 {
		l.draft.entries = builtIn(l.draft.plain)
	}
	l.draft.finish(l.main, "")
	c := &l.config
	l.written, l.hosts = c.Storage, c.HostsDir
	c.HostsDir = l.absolute(c.HostsDir)
	c.Storage.State, c.Storage.WARC = l.absolute(c.Storage.State), l.absolute(c.Storage.WARC)
	c.Storage.Log = l.absolute(c.Storage.Log)
	c.Storage.Secrets = l.absolute(c.Storage.Secrets)
	for i, path := range c.Storage.Elsewhere {
		c.Storage.Elsewhere[i] = l.absolute(path)
	}
	c.Storage.Folders.Resolve(l.absolute)
	c.Admin.Resolve(c.Storage.State, l.absolute)
	c.Mail.Resolve(l.absolute)
	c.Fixity.Resolve(l.absolute)
	for _, path := range []string{
		c.Admin.TLSKey, c.Admin.TokenFile, c.Admin.UserFile, c.Mail.PasswordFile, c.Fixity.SignKey,
	} {
		if name, err := filepath.Rel(c.Storage.Secrets, path); err == nil && filepath.IsLocal(name) {
			l.main.Named[schema.PlaceOf("file", name)] = true
		}
	}
}

// absolute returns the absolute form of a path in the main file.
func (l *loader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(l.config.Path), path)
}

// hostsFolder returns the folder of host files, as shown in faults.
func (l *loader) hostsFolder() string {
	if filepath.IsAbs(l.hosts) {
		return l.hosts
	}
	return filepath.Join(l.folder, l.hosts)
}

// hostFileNames returns the names of the host files, sorted.
func (l *loader) hostFileNames() []string {
	if l.texts != nil {
		return l.textNames()
	}
	key := l.hostsKey()
	entries, err := os.ReadDir(l.hostsFolder())
	if errors.Is(err, fs.ErrNotExist) && !l.main.Has(key.Path) {
		return nil
	}
	if err != nil {
		problem, remedy := schema.Unreadable(err)
		if errors.Is(err, fs.ErrNotExist) {
			remedy = "create the folder, or remove the key"
		}
		key.Fault(problem, remedy)
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case IsHostFile(name):
			names = append(names, name)
		case misleads(name) && strings.Contains(strings.ToLower(name), ".toml"):
			l.warnings = append(l.warnings, Fault{
				File: l.hostsFolder(), Problem: fmt.Sprintf("contains %+q, which is skipped", name),
				Remedy: "rename it: its name has characters that are not shown, or that change the direction of text",
			})
		case strings.EqualFold(filepath.Ext(name), ".toml"), strings.HasSuffix(name, ".toml.txt"):
			l.warnings = append(l.warnings, Fault{
				File: filepath.Join(l.hostsFolder(), name), Problem: "is skipped",
				Remedy: `end its name with ".toml" to have it read`,
			})
		}
	}
	if len(names) > maxHostFiles {
		key.Fault(fmt.Sprintf("contains more than %d files", maxHostFiles), "divide the crawl")
		return nil
	}
	return names
}

// hostsKey returns the key that names the folder of the host files.
func (l *loader) hostsKey() schema.Field {
	const name = "storage.hosts"
	return schema.Field{Doc: l.main, Name: name, Path: schema.Path("").Key(name), Value: l.hosts}
}

// textNames returns the names of the texts that are read in place of host files, sorted.
func (l *loader) textNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(l.texts)) {
		switch {
		case name == "": // the main file
		case misleads(name):
			l.hostsKey().Fault(fmt.Sprintf("would contain the file %+q", name),
				"choose a name without characters that are not shown, or that change the direction of text")
		default:
			names = append(names, name)
		}
	}
	return names
}

// IsHostFile reports whether a file with this name in the folder of the host files is read. A name with a line end or
// another character that could mislead a reader of a log or a page is not.
func IsHostFile(name string) bool {
	return strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".") && filepath.Base(name) == name &&
		!misleads(name)
}

// misleads reports whether a name has characters that are not shown, or that change the direction of text.
func misleads(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// openHostFile decodes a host file and finds the host that it applies to.
func (l *loader) openHostFile(name string) {
	shown := filepath.Join(l.hostsFolder(), name)
	f := &hostFile{doc: l.textOf(name, shown)}
	if f.doc == nil {
		return
	}
	f.doc.Secrets, f.doc.Reserved = l.config.Storage.Secrets, l.main.Named
	l.files = append(l.files, f)
	if f.doc.Root == nil {
		return
	}
	if v, named := f.doc.Root["host"]; named {
		if s, ok := v.(string); ok {
			f.host, _, _ = schema.ParseHost(s) // its fault is reported when the keys are read
		}
		return
	}
	var problem string
	if f.host, problem, _ = schema.ParseHost(strings.TrimSuffix(name, ".toml")); problem != "" {
		f.doc.AddFault(Fault{
			Problem: "has a name that is not a host followed by .toml",
			Remedy:  `rename it, or put host = "name" or host = "name:port" on its first line`,
		})
	}
}

// readHostFiles reads the host files. A domain comes before the hosts below it, which start with the settings of the
// domain.
func (l *loader) readHostFiles() {
	order := slices.Clone(l.files)
	slices.SortStableFunc(order, func(a, b *hostFile) int {
		return cmp.Compare(depth(a.host), depth(b.host))
	})
	read := map[uri.Host]*hostFile{}
	for _, f := range order {
		base := l.draft
		for h := above(f.host); h != "" && f.above == nil; h = above(h) {
			if up := read[h]; up != nil && !isSuffix(h) {
				f.above, base = up, up.draft
			}
		}
		f.draft = base.over()
		newReader(f.doc, f.draft, InHost).file()
		f.draft.finish(f.doc, "")
		if read[f.host] == nil && f.host != "" {
			read[f.host] = f
		}
	}
}

// all returns the main file, as the file of no host, and the host files.
func (l *loader) all() []*hostFile {
	return append([]*hostFile{{doc: l.main, draft: l.draft}}, l.files...)
}

// digestOf returns a digest of the names and bytes of files. Lengths keep names and bytes apart.
func digestOf(files []HostFile) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d\n", len(f.Name), f.Name, len(f.Data))
		h.Write(f.Data)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
