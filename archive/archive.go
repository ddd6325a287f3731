// Package archive declares the commands for archives: to check, index, read, rewrite and package WARC files.
package archive

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// Commands returns the commands of this wing.
func Commands() []*cobra.Command {
	return cli.In(cli.Archivist,
		newVerify(), newIndex(), newHistory(), newCat(), newDiff(), newDedup(), newDeps(), newExtract(), newWacz(), newBag(),
		newOffload())
}
