// Package noise is the wing that finds scrubbing rules for what differs at each fetch of a page without being new: for
// second looks of the crawl, on the command line, and in the dashboard. The dashboard lists such pages, finds rules
// that hide a difference and no main content, shows what they would have hidden, and adds them to the host file.
package noise

import (
	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/daemon"
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
		Extend: func(d *daemon.Daemon) admin.Extension { return extension(captures.NewLiveReader(d.Archived())) },
	}
}
