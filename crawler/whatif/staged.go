package whatif

import (
	"maps"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
)

// Staged holds the texts of a configuration that is not in force, to see what it would change.
type Staged struct {
	Main  []byte            // nil = the main file in force
	Hosts map[string][]byte // host files, by their names without folder
	// Only says that Hosts has only the files that differ: the other host files in force stay.
	Only bool
	// Remote says that they came over the network: they must not choose programs that this machine runs.
	Remote bool
	// Accept returns an error if a valid configuration must not be put in force now; nil accepts all.
	Accept func(*config.Config) error
}

// texts returns the texts of all staged files.
func (s Staged) texts(inForce *config.Config) map[string][]byte {
	was := inForce.Texts()
	all := map[string][]byte{"": was[""]}
	if s.Only {
		all = was
	}
	maps.Copy(all, s.Hosts)
	if s.Main != nil {
		all[""] = s.Main
	}
	return all
}

// PlanStaged returns what would change if a staged configuration replaced the one in force. It changes nothing. The
// error is [config.Faults] if the staged configuration is faulty.
func PlanStaged(
	f *frontier.Frontier, r *robots.Copies, inForce *config.Config, staged Staged, now time.Time,
) (Plan, error) {
	loaded, err := config.LoadTexts(inForce.Path, staged.texts(inForce))
	if err == nil && staged.Remote {
		err = inForce.CheckPrograms(loaded)
	}
	if err == nil && staged.Accept != nil {
		err = staged.Accept(loaded)
	}
	if err != nil {
		return Plan{}, err
	}
	plan, _, err := Compare(f, r, inForce, loaded, now)
	return plan, err
}

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
