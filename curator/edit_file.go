package curator

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// maxText is the maximum size of a text in bytes. Larger files are edited on disk.
const maxText = 1 << 20

// errRole says that only operators edit the main file.
var errRole = errors.New("the main file needs the role operate")

// editor edits the files of a configuration.
type editor struct {
	Config  *config.Config                           // in force
	Known   []config.Fault                           // warnings about it
	Effect  func(whatif.Staged) (whatif.Plan, error) // of other texts
	Writing *sync.Mutex                              // held while files of the configuration are written
	// Commit records a change of files of one folder that was written; nil = not.
	Commit func(what string, files ...string) api.Committed
	Who    access.Caller
	Now    time.Time
}

// file is a file as it is on disk.
type file struct {
	name   string // "" is the main file
	path   string
	text   []byte
	exists bool
}

// digest returns the digest of the text; "" if there is no file.
func (f file) digest() string {
	if !f.exists {
		return ""
	}
	return textDigest(f.text)
}

// open reads a file. It refuses names that lead elsewhere.
func (w editor) open(name string) (file, error) {
	f := file{name: name, path: w.Config.Path}
	if name == "" {
		if w.Who.Role < access.Operate {
			return f, errors.Join(admin.ErrRole, errRole)
		}
	} else {
		if !config.IsHostFile(name) || strings.Contains(name, "\\") || len(name) > 255 {
			return f, admin.Fault("%q is not the name of a host file; write for example www.news.example.toml", name)
		}
		f.path = filepath.Join(w.Config.HostsDir, name)
	}
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return f, admin.Fault("read %s: %w", f.path, err)
	case !info.Mode().IsRegular():
		return f, admin.Fault("%s is not a plain file, for example a link; edit it on disk", f.path)
	case info.Size() > maxText:
		return f, admin.Fault("%s has more than 1 MB; edit it on disk", f.path)
	}
	if f.text, err = os.ReadFile(f.path); err != nil {
		return f, admin.Fault("read %s: %w", f.path, err)
	}
	if !utf8.Valid(f.text) {
		return f, admin.Fault("%s is not in UTF-8; edit it on disk", f.path)
	}
	f.exists = true
	return f, nil
}

// List returns the names of the host files.
func (w editor) List() (EditFiles, error) {
	out := EditFiles{Main: w.Config.Path, Dir: w.Config.HostsDir, Files: []EditName{}, Fields: w.shared()}
	entries, err := os.ReadDir(w.Config.HostsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, admin.Fault("list the host files: %w", err)
	}
	index := w.Config.Sites()
	hosts := map[string]uri.Host{}
	for h, name := range index.FileOf {
		hosts[name] = h
	}
	for _, e := range entries {
		name := e.Name()
		if !config.IsHostFile(name) {
			continue
		}
		out.Files = append(out.Files, EditName{Name: name, Host: string(hosts[name]), About: index.Files[name]})
	}
	return out, nil
}

// Open returns a file by its name, or the file of a host. A host without a file has a template.
func (w editor) Open(name, host string) (EditFile, error) {
	template := ""
	if host != "" {
		h, problem, remedy := schema.ParseHost(host)
		if problem != "" {
			return EditFile{}, admin.Fault("%q %s; %s", host, problem, remedy)
		}
		host = string(h)
		var ok bool
		if name, ok = w.Config.Sites().FileOf[h]; !ok {
			name = config.HostFileName(h) + ".toml"
			template = config.NewHostFile(h, []string{"https://" + host + "/"})
		}
	}
	f, err := w.open(name)
	if err != nil {
		return EditFile{}, err
	}
	if !f.exists && template == "" {
		return EditFile{}, admin.Fault("there is no file %s; somebody may have removed or renamed it", f.path)
	}
	out := EditFile{Name: name, Path: f.path, Exists: f.exists, Digest: f.digest(), Text: string(f.text)}
	if !f.exists {
		out.Text = template
	}
	out.Host = string(w.hostOf(f.name, out.Text))
	out.Fields = w.fields(f.name, out.Text)
	return out, nil
}

// hostOf returns the host of a file.
func (w editor) hostOf(name, text string) uri.Host {
	if name == "" {
		return ""
	}
	doc := schema.Parse([]byte(text), name)
	if s, ok := doc.Value(schema.Path("").Key("host")).(string); ok {
		return uri.Host(s)
	}
	for h, file := range w.Config.Sites().FileOf {
		if file == name {
			return h
		}
	}
	return uri.Host(strings.TrimSuffix(name, ".toml"))
}

// staged returns the texts of the configuration in force with other texts of files. A nil text removes the file.
func (w editor) staged(changed map[string][]byte) whatif.Staged {
	all := w.Config.Texts()
	maps.Copy(all, changed)
	maps.DeleteFunc(all, func(_ string, text []byte) bool { return text == nil })
	s := whatif.Staged{Main: all[""], Hosts: all, Remote: w.Who.Way != access.Socket}
	delete(s.Hosts, "")
	return s
}

// planOf returns an effect without the warnings that are in force already, unless they are about files that change.
func (w editor) planOf(effect whatif.Plan, files ...string) *whatif.Plan {
	effect.Warnings = slices.DeleteFunc(slices.Clone(effect.Warnings), func(f config.Fault) bool {
		return !slices.Contains(files, filepath.Base(f.File)) && slices.Contains(w.Known, f)
	})
	return &effect
}

// faultsOf returns the faults that an error holds.
func faultsOf(err error) []config.Fault {
	var all config.Faults
	if !errors.As(err, &all) {
		return nil
	}
	all = slices.Clone(all)
	return append([]config.Fault{}, all[:min(len(all), maxFaults)]...)
}

// maxFaults is the maximum number of faults in an answer.
const maxFaults = 200
