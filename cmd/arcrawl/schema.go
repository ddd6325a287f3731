package main

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/reference"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [main|host]",
		Short: "Print the JSON Schema of the configuration files",
		Long: `schema prints a JSON Schema (draft 7) of the main file (default), or of the host files. Editors use it to complete and
explain keys, for example taplo with this first line of the file:

  #:schema ./arcrawl.schema.json

It describes each key, its type and its bounds. Only arcrawl check finds contradictions between keys and between files.`,
		Example: `  arcrawl schema > arcrawl.schema.json
  arcrawl schema host > hosts.d/host.schema.json`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{config.InMain, config.InHost},
		RunE: func(cmd *cobra.Command, args []string) error {
			scope := config.InMain
			if len(args) == 1 {
				scope = args[0]
			}
			s, err := reference.Schema(scope)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(s)
			return err
		},
	}
}
