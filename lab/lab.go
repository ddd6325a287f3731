// Package lab declares the commands for experiments: to play rules through histories of change, to tune a host, to
// learn from earlier visits, and to convert the jobs of other crawlers.
package lab

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// Commands returns the commands of this wing.
func Commands() []*cobra.Command {
	return cli.In(cli.Laboratory, newSim(), newTune(), newPrime(), newConvert())
}
