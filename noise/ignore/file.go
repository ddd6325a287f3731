package ignore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/patch"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
	"github.com/arcrawl/arcrawl/uri"
)

// file is a host file and its text with further rules.
type file struct {
	Path   string
	Before []byte // nil: there is no file
	After  []byte
}

// stage returns the file of a host with rules added to its [change] table. It writes nothing. inForce are the rules of
// the host in force: those that come from the main file are added too, because the list of a host replaces it.
func stage(c *config.Config, h uri.Host, inForce, wanted patch.Rules) (file, error) {
	name, ok := c.Sites().FileOf[h]
	if !ok {
		name = reference.HostFileName(h) + ".toml"
	}
	f := file{Path: filepath.Join(c.HostsDir, name)}
	var err error
	if f.Before, err = os.ReadFile(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	text := f.Before
	if err != nil && name != string(h)+".toml" {
		text = []byte("host = " + reference.Quote(string(h)) + "\n")
	}
	all := patch.Rules{}
	if len(wanted.Scrub) > 0 {
		all.Scrub = append(append(all.Scrub, inForce.Scrub...), wanted.Scrub...)
	}
	if len(wanted.ScrubCSS) > 0 {
		all.ScrubCSS = append(append(all.ScrubCSS, inForce.ScrubCSS...), wanted.ScrubCSS...)
	}
	if f.After, err = patch.AddRules(text, all); err != nil {
		return f, fmt.Errorf("%s: %w", f.Path, err)
	}
	return f, nil
}

// digest returns the digest of the text before the change.
func (f file) digest() string {
	sum := sha256.Sum256(f.Before)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// diff returns the change of the file.
func (f file) diff() string {
	return udiff.Unified(f.Path, f.Path+" with the rules", string(f.Before), string(f.After))
}

// staged returns the file for a check of the configuration.
func (f file) staged() api.Staged {
	return api.Staged{Only: true, Hosts: []api.StagedHost{{Name: filepath.Base(f.Path), Text: string(f.After)}}}
}

// write replaces the file as a whole and keeps its mode.
func (f file) write() error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o750); err != nil {
		return err
	}
	return atomicfile.Edit(f.Path, f.After)
}
