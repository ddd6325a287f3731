// Package noise is the wing that finds rules for what differs at each fetch of a page without being new.
package noise

import (
	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/noise/ignore"
	"github.com/arcrawl/arcrawl/noise/infer"
)

// Wing returns what finds rules for pages that second looks of the crawl found noisy.
func Wing() daemon.Wing {
	return daemon.Wing{
		Name: "noise",
		Prepare: func(d *daemon.Daemon) error {
			d.Parts().NoiseFinder = infer.Finder{}
			return nil
		},
		Extend: func(*daemon.Daemon) admin.Extension { return ignore.Extension() },
	}
}
