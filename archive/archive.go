// Package archive is the wing for archives: commands to check, index, read, rewrite and package WARC files, and what
// looks after the archive of a running crawl.
package archive

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
)

// Wing returns what looks after the archive of a running crawl.
func Wing() daemon.Wing { return keep.Wing() }

// Commands returns the commands of this wing.
func Commands() []*cobra.Command {
	return cli.In(cli.Archivist,
		newVerify(), newIndex(), newHistory(), newCat(), newDiff(), newDedup(), newDeps(), newExtract(), newWacz(), newBag(),
		newOffload())
}
