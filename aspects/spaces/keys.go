package spaces

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Section returns the keys of the aspect.
func Section() schema.Section {
	return schema.NewSection(DefaultOptions, nil,
		schema.Bool("scope.traps", schema.InBoth, func(o *Options) *bool { return &o.Detect },
			"Detect calendars, nested folders, combinations of parameters, session ids and other traps from the contents of their pages, keep them out and report them; see `arcrawl traps`."),
		schema.Interval("scope.trap_wait", schema.InBoth, schema.Shortest, schema.Longest,
			func(o *Options) *time.Duration { return &o.Wait },
			"When a URI of a trap that is in the store is checked again. It is visited only after the trap is released."),
	)
}
