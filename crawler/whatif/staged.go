package whatif

import (
	"maps"
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
	if err == nil && staged.Accept != nil {
		err = staged.Accept(loaded)
	}
	if err != nil {
		return Plan{}, err
	}
	plan, _, err := Compare(f, r, inForce, loaded, now)
	return plan, err
}
