package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/config"
)

// Files are the texts of a configuration.
type Files struct {
	Path  string            // of the main file
	Dir   string            // of the host files
	Texts map[string][]byte // host files by name, the main file as ""
}

// OpenFiles reads the files of a configuration.
func OpenFiles(path, dir string) (Files, error) {
	f := Files{Path: path, Dir: dir, Texts: map[string][]byte{}}
	main, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.Texts[""] = main
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".toml") {
			continue
		}
		if f.Texts[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// load returns the configuration without the host files that have faults, and the names of these files.
func (f Files) load() (*config.Config, map[string]bool, error) {
	faulty := map[string]bool{}
	c, err := config.LoadTexts(f.Path, f.Texts)
	if err == nil {
		return c, faulty, nil
	}
	var faults config.Faults
	if !errors.As(err, &faults) {
		return nil, nil, err
	}
	good := map[string][]byte{}
	for _, fault := range faults {
		faulty[filepath.Base(fault.File)] = true
	}
	for name, text := range f.Texts {
		if !faulty[name] {
			good[name] = text
		}
	}
	if c, err = config.LoadTexts(f.Path, good); err != nil {
		return nil, nil, fmt.Errorf("the configuration has faults: %w", err)
	}
	return c, faulty, nil
}

// check returns an error if other texts of host files make the configuration faulty.
func (f Files) check(changed map[string][]byte, faulty map[string]bool) error {
	all := map[string][]byte{}
	for name, text := range f.Texts {
		if !faulty[name] {
			all[name] = text
		}
	}
	for name, text := range changed {
		all[name] = text
	}
	_, err := config.LoadTexts(f.Path, all)
	return err
}
