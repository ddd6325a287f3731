package whatif

import (
	"path/filepath"

	"github.com/arcrawl/arcrawl/config"
)

// Load loads the configuration from the place of the one in force. If a file is broken, the error is
// [config.Faults], and the configuration is the one without that file; nil if there is none. accept returns an error if
// a valid configuration must not be put in force now; it may be nil.
func Load(current *config.Config, accept func(*config.Config) error) (*config.Config, error) {
	inForce := map[string][]byte{}
	for _, f := range current.HostFiles() {
		inForce[f.Name] = f.Data
	}
	loaded, err := config.LoadKept(current.Path, func(_, name string) ([]byte, bool) {
		data, ok := inForce[name]
		return data, ok
	})
	if err != nil {
		return nil, err
	}
	for _, f := range loaded.Broken {
		if _, was := inForce[filepath.Base(f.File)]; was {
			return loaded, config.Faults(loaded.Broken)
		}
	}
	if accept != nil {
		err = accept(loaded)
	}
	if err != nil {
		return nil, err
	}
	return loaded, nil
}
