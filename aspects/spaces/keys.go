package spaces

import "github.com/arcrawl/arcrawl/config/schema"

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Vars: []schema.Var{
			schema.Bool("scope.traps", schema.InBoth, &o.Detect,
				"Detect calendars, nested folders, combinations of parameters, session ids and other traps from the contents of their pages, keep them out and report them; see `arcrawl traps`."),
			schema.Interval("scope.trap_wait", schema.InBoth, schema.Shortest, schema.Longest, &o.Wait,
				"When a URI of a trap that is in the store is checked again. It is visited only after the trap is released."),
		},
	}
}
