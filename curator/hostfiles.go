package curator

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/config"
)

// configFiles are the texts of a configuration.
type configFiles struct {
	Path  string            // of the main file
	Dir   string            // of the host files
	Texts map[string][]byte // host files by name, the main file as ""
}

// openConfigFiles reads the files of a configuration.
func openConfigFiles(path, dir string) (configFiles, error) {
	f := configFiles{Path: path, Dir: dir, Texts: map[string][]byte{}}
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
		if !config.IsHostFile(name) {
			continue
		}
		if f.Texts[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// load returns the configuration without the host files that have faults, and the names of these files.
func (f configFiles) load() (*config.Config, map[string]bool, error) {
	faulty := map[string]bool{}
	c, err := config.LoadTexts(f.Path, f.Texts)
	if err == nil {
		return c, faulty, nil
	}
	var faults config.Faults
	if !errors.As(err, &faults) {
		return nil, nil, err
	}
	for _, fault := range faults {
		faulty[filepath.Base(fault.File)] = true
	}
	if c, err = config.LoadTexts(f.Path, f.without(faulty)); err != nil {
		return nil, faulty, fmt.Errorf("the configuration has faults: %w", err)
	}
	return c, faulty, nil
}

// without returns the texts of the files that are not faulty.
func (f configFiles) without(faulty map[string]bool) map[string][]byte {
	good := maps.Clone(f.Texts)
	maps.DeleteFunc(good, func(name string, _ []byte) bool { return faulty[name] })
	return good
}

// check returns an error if other texts of host files make the configuration faulty.
func (f configFiles) check(changed map[string][]byte, faulty map[string]bool) error {
	all := f.without(faulty)
	maps.Copy(all, changed)
	_, err := config.LoadTexts(f.Path, all)
	return err
}
