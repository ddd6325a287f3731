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
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// hostFile is a host file and its text with further rules.
type hostFile struct {
	path   string
	before []byte // nil: there is no file
	after  []byte
}

// stageRules returns the file of a host with rules added to its [change] table. It writes nothing. Rules in force that
// come from the main file are added too, because the list of a host replaces it.
func stageRules(c *config.Config, h uri.Host, wanted digest.Spec, now time.Time) (hostFile, error) {
	name, ok := c.Sites().FileOf[h]
	if !ok {
		name = config.HostFileName(h) + ".toml"
	}
	f := hostFile{path: filepath.Join(c.HostsDir, name)}
	var err error
	if f.before, err = os.ReadFile(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	text := f.before
	if err != nil && name != string(h)+".toml" {
		text = []byte("host = " + config.Quote(string(h)) + "\n")
	}
	s := c.ForHost(h, now)
	inForce := config.Own[aspect.Options](&s)
	if len(wanted.Regexes) > 0 {
		wanted.Regexes = slices.Concat(inForce.Scrub, wanted.Regexes)
	}
	if len(wanted.Selectors) > 0 {
		wanted.Selectors = slices.Concat(inForce.ScrubCSS, wanted.Selectors)
	}
	if f.after, err = addScrubRules(text, wanted); err != nil {
		return f, fmt.Errorf("%s: %w", f.path, err)
	}
	return f, nil
}

// digest returns the digest of the text before the change.
func (f hostFile) digest() string {
	sum := sha256.Sum256(f.before)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// diff returns the change of the file.
func (f hostFile) diff() string {
	return udiff.Unified(f.path, f.path+" with the rules", string(f.before), string(f.after))
}

// staged returns the file for a check of the configuration.
func (f hostFile) staged() api.Staged {
	return api.Staged{Only: true, Hosts: []api.StagedHost{{Name: filepath.Base(f.path), Text: string(f.after)}}}
}

// write replaces the file as a whole and keeps its mode.
func (f hostFile) write() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return err
	}
	return fileio.Edit(f.path, f.after)
}

// restore undoes write.
func (f hostFile) restore() error {
	if f.before == nil {
		return os.Remove(f.path)
	}
	return fileio.Edit(f.path, f.before)
}
