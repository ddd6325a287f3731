package config

import (
	"path/filepath"
	"strings"
)

// isSecret reports whether the value of a key must not be published. The tables of seeds.about have the names of the
// keys about hosts.
func (c *catalog) isSecret(name string) bool {
	k, ok := c.key(strings.TrimPrefix(name, "seeds.about."))
	return ok && k.Secret
}

// Redacted returns the files in force as they may be published: without comments and secrets. The main file is the
// first.
func (c *Config) Redacted() ([]HostFile, error) {
	text, err := c.doc.Redacted(c.cat.isSecret)
	if err != nil {
		return nil, err
	}
	all := []HostFile{{Name: filepath.Base(c.Path), Data: text}}
	for _, f := range c.files {
		if text, err = f.doc.Redacted(c.cat.isSecret); err != nil {
			return nil, err
		}
		all = append(all, HostFile{Name: filepath.Base(f.doc.File), Series: f.series(), Data: text})
	}
	return all, nil
}

// series returns the series of WARC files that the records of a host are in, also if only a [[when]] says so.
func (f *hostFile) series() string {
	for g := f; g != nil; g = g.above {
		for _, w := range g.draft.whens {
			at, _ := g.doc.Setting(w.path, "warc.series")
			if s, _ := at.Value.(string); s != "" {
				return s
			}
		}
		if at, set := g.doc.Setting("", "warc.series"); set {
			s, _ := at.Value.(string)
			return s
		}
	}
	return ""
}

// PublicDigest returns a digest of the names and bytes that [Config.Redacted] returns, in the form of [Config.Digest].
// Unlike that digest it may be published: nobody can try out secrets with it.
func (c *Config) PublicDigest() (string, error) {
	files, err := c.Redacted()
	if err != nil {
		return "", err
	}
	return digestOf(files), nil
}

// Defaults returns the keys that the main file does not set, and what holds instead. Keys of [[wait]] are part of the
// stack that the main file has, or else of the default stack.
func (c *Config) Defaults() []Setting {
	var all []Setting
	for _, k := range c.cat.keys {
		table, _ := k.Split()
		if t, _ := c.cat.table(table); !t.List && k.Default != "" && !c.doc.Has(source{doc: c.doc}.path.Key(k.Name)) {
			all = append(all, Setting{Key: k.Name, Value: k.Default})
		}
	}
	return all
}
