package sim

import (
	"fmt"
	"strings"
	"time"
)

// Policies returns the names that [Named] accepts.
func Policies() []string {
	var names []string
	for _, n := range named() {
		names = append(names, n.name)
	}
	return names
}

// Named returns the policy with the given short name.
func Named(name string) (Policy, error) {
	for _, n := range named() {
		if n.name == name {
			return n.policy, nil
		}
	}
	return Policy{}, fmt.Errorf("unknown policy %q; valid policies: %s", name, strings.Join(Policies(), ", "))
}

// shortNamed is a policy and its name on a command line.
type shortNamed struct {
	name   string
	policy Policy
}

func named() []shortNamed {
	list := []shortNamed{
		{"uniform", Uniform()},
		{"classic", Classic()},
		{"stretched", Stretched()},
		{"nutch", Nutch()},
		{"stormcrawler", StormCrawler()},
		{"target", Target()},
		{"estimated", Estimated()},
		{"learned", Learned(MaxWait)},
		{"learned-90d", Learned(90 * 24 * time.Hour)},
		{"learned-versions", LearnedVersions(90 * 24 * time.Hour)},
		{"learned-once", LearnedOnce(90 * 24 * time.Hour)},
		{"learned-dated", Dated(90 * 24 * time.Hour)},
		{"known", Known()},
		{"clairvoyant", Clairvoyant()},
	}
	for w := TrueIndex; w <= TurningIndex; w++ {
		list = append(list, shortNamed{"index-" + w.String(), Learned(90*24*time.Hour).Indexed(w, false)})
	}
	return append(list, shortNamed{"index-half", Learned(90*24*time.Hour).Indexed(TrueIndex, true)})
}
