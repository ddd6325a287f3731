package access

import (
	"fmt"
	"strings"
)

// Role says what a caller may do.
type Role int

// The roles. Each may do what the ones before it may do.
const (
	None    Role = iota // only health and readiness
	Read                // look at everything, change nothing
	Curate              // decide what is collected: seeds, host files, captures, scrubbing rules, alarms, traps
	Operate             // everything: also the main file, pauses, reloads, the queue, holds of hosts
)

// String returns the name of a role in a file of tokens or users.
func (r Role) String() string { return [...]string{"none", "read", "curate", "operate"}[r] }

// RoleNames returns the names of the roles that a caller may have, for people.
func RoleNames() string {
	var names []string
	for _, r := range []Role{Read, Curate, Operate} {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}

// ParseRole returns the role with a name.
func ParseRole(name string) (Role, error) {
	for _, r := range []Role{Read, Curate, Operate} {
		if r.String() == name {
			return r, nil
		}
	}
	return None, fmt.Errorf("unknown role %q; valid roles: %s", name, RoleNames())
}
