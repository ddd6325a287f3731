package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
)

// defaultConfig is where the commands look for the main file.
const defaultConfig = "arcrawl.toml"

func newCheck() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read the configuration and list everything that is wrong with it",
		Long: `check reads arcrawl.toml and the files of its hosts folder, and prints every fault at once, each with its file, line and
column, the value, and what would be right. Warnings are about what is odd: a rate that politeness cannot carry, an override that has
ended, a refinement that can never hold. Where the archive can be read it also looks whether scrubbing rules match anything in the
newest versions of the seeds. It changes nothing and needs no running daemon.

Exit code 0 means that the configuration can be used, 78 that it cannot.`,
		Example: "  arcrawl check --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			warnings := append(c.Warnings, c.Expired(time.Now())...)
			for _, w := range append(warnings, idleScrubs(cmd.Context(), c)...) {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is in order: %d seeds, digest %s\n", path, len(c.Seeds), c.Digest)
			return err
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// isFaults reports whether err is about the configuration.
func isFaults(err error) bool {
	var faults config.Faults
	return errors.As(err, &faults)
}
