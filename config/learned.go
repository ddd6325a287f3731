package config

import "github.com/arcrawl/arcrawl/evaluators"

// sets reports whether a file sets the field, here or in an entry that this one shadows.
func (e *evaluator) sets(name string) bool { return e.origin(name) != byDefault }

// takeRuleBounds gives an entry for which no file sets wait.min or wait.max those of its rule: what a rule has learned it
// may visit sooner, and leave alone for longer, than one that feels its way.
func (e *evaluator) takeRuleBounds() {
	least, most := evaluators.DefaultBounds(e.Rule)
	if !e.sets("min") {
		e.Min = least
	}
	if !e.sets("max") {
		e.Max = most
	}
}
