package noise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/arcrawl/arcrawl/admin/api"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// File is a host file and its text with further rules.
type File struct {
	Path   string
	Before []byte // nil: there is no file
	After  []byte
}

// Stage returns the file of a host with rules added to its [change] table. It writes nothing. Rules in force that come
// from the main file are added too, because the list of a host replaces it.
func Stage(c *config.Config, h uri.Host, wanted ScrubRules, now time.Time) (File, error) {
	name, ok := c.Sites().FileOf[h]
	if !ok {
		name = config.HostFileName(h) + ".toml"
	}
	f := File{Path: filepath.Join(c.HostsDir, name)}
	var err error
	if f.Before, err = os.ReadFile(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	text := f.Before
	if err != nil && name != string(h)+".toml" {
		text = []byte("host = " + config.Quote(string(h)) + "\n")
	}
	s := c.ForHost(h, now)
	inForce := config.Own[aspect.Options](&s)
	if len(wanted.Scrub) > 0 {
		wanted.Scrub = slices.Concat(inForce.Scrub, wanted.Scrub)
	}
	if len(wanted.ScrubCSS) > 0 {
		wanted.ScrubCSS = slices.Concat(inForce.ScrubCSS, wanted.ScrubCSS)
	}
	if f.After, err = AddScrubRules(text, wanted); err != nil {
		return f, fmt.Errorf("%s: %w", f.Path, err)
	}
	return f, nil
}

// digest returns the digest of the text before the change.
func (f File) digest() string {
	sum := sha256.Sum256(f.Before)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Diff returns the change of the file.
func (f File) Diff() string {
	return udiff.Unified(f.Path, f.Path+" with the rules", string(f.Before), string(f.After))
}

// staged returns the file for a check of the configuration.
func (f File) staged() api.Staged {
	return api.Staged{Only: true, Hosts: []api.StagedHost{{Name: filepath.Base(f.Path), Text: string(f.After)}}}
}

// Write replaces the file as a whole and keeps its mode.
func (f File) Write() error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o750); err != nil {
		return err
	}
	return fileio.Edit(f.Path, f.After)
}

// Restore undoes Write.
func (f File) Restore() error {
	if f.Before == nil {
		return os.Remove(f.Path)
	}
	return fileio.Edit(f.Path, f.Before)
}
