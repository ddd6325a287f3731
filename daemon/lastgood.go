package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// LoadConfig reads the configuration at path for a daemon that starts now. A broken main file is an error. A broken
// host file is replaced by its last good copy in the state folder; if there is no copy, its host is held. It logs
// both, and the warnings.
func LoadConfig(path string, log zerolog.Logger) (*config.Config, error) {
	c, err := config.LoadKept(path, lastGood)
	if err != nil {
		return nil, err
	}
	known := func(string) bool { return true } // the store is not open yet
	for _, w := range c.Doubts(time.Now(), known) {
		log.Warn().Msg(w.String())
	}
	for _, f := range c.Broken {
		log.Error().Str("fault", f.String()).Msg("a host file is broken: using its last good copy, or holding its host if there is none")
	}
	for _, h := range c.HeldHosts() {
		log.Error().Str("host", string(h)).Msg("holding this host: its file is broken and has no good copy; fix the file to have it visited")
	}
	return c, nil
}

// ReadConfig reads the configuration at path as a daemon would that starts now, for commands that only read. Faults of
// host files are in its Broken.
func ReadConfig(path string) (*config.Config, error) { return config.LoadKeptToRead(path, lastGood) }

// lastGoodFolder returns the folder of the last good copies of the host files.
func lastGoodFolder(state string) string { return filepath.Join(state, "last-good") }

// lastGood returns the last good copy of a host file.
func lastGood(state, name string) ([]byte, bool) {
	data, err := os.ReadFile(filepath.Join(lastGoodFolder(state), name))
	return data, err == nil
}

// saveLastGood copies the host files in force to the state folder, and removes the copies of files that do not exist
// any more. The copy of a broken file stays.
func saveLastGood(c *config.Config) error {
	dir := lastGoodFolder(c.Storage.State)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, f := range c.Broken {
		keep[filepath.Base(f.File)] = true
	}
	var errs []error
	for _, f := range c.HostFiles() {
		keep[f.Name] = true
		path := filepath.Join(dir, f.Name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.Data) {
			continue
		}
		if err := fileio.Write(path, f.Data, 0o640); err != nil {
			errs = append(errs, fmt.Errorf("copy a host file: %w", err))
		}
	}
	entries, err := os.ReadDir(dir)
	errs = append(errs, err)
	for _, e := range entries {
		if !keep[e.Name()] {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// VanishedSeeds returns the seeds of the last good host files that a configuration does not list any more. It is for a
// configuration that is not in force yet, while no daemon runs. There is no copy of the main file.
func VanishedSeeds(c *config.Config) (vanished []string) {
	texts := map[string][]byte{"": c.Texts()[""]}
	entries, err := os.ReadDir(lastGoodFolder(c.Storage.State))
	if err != nil {
		return nil // there was no daemon yet, or this user may not see its state
	}
	for _, e := range entries {
		if text, ok := lastGood(c.Storage.State, e.Name()); ok {
			texts[e.Name()] = text
		}
	}
	last, err := config.LoadTexts(c.Path, texts)
	if err != nil { // the main file has changed
		return nil
	}
	listed := map[string]bool{}
	for _, s := range c.Seeds {
		listed[s.URI.String()] = true
	}
	for _, s := range last.Seeds {
		if !listed[s.URI.String()] {
			vanished = append(vanished, s.URI.String())
		}
	}
	return vanished
}
