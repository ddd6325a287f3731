package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
)

// defaultConfig is where the commands look for the main file.
const defaultConfig = "arcrawl.toml"

func newCheck() *cobra.Command {
	var path string
	var asJSON bool
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
			checked, err := checkConfig(cmd.Context(), path)
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), checked), err)
			}
			if err != nil {
				return err
			}
			for _, w := range checked.warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is in order: %d seeds, digest %s\n", path, checked.Seeds, checked.Digest)
			return err
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print faults and warnings as JSON")
	return cmd
}

// checked is what check has found.
type checked struct {
	Usable   bool          `json:"usable"`
	Seeds    int           `json:"seeds"`
	Digest   string        `json:"digest,omitempty"`
	Faults   []admin.Fault `json:"faults"`
	Warnings []admin.Fault `json:"warnings"`

	warnings []config.Fault
}

// checkConfig loads the configuration and looks for what is odd in it. The error is what keeps it from being used.
func checkConfig(ctx context.Context, path string) (checked, error) {
	c, err := config.Load(path)
	if err != nil {
		var faults config.Faults
		errors.As(err, &faults)
		return checked{Faults: admin.Faults(faults), Warnings: []admin.Fault{}}, err
	}
	warnings := slices.Concat(c.Warnings, c.Expired(time.Now()), idleScrubs(ctx, c))
	return checked{
		Usable: true, Seeds: len(c.Seeds), Digest: c.Digest, Faults: []admin.Fault{}, Warnings: admin.Faults(warnings), warnings: warnings,
	}, nil
}

// isFaults reports whether err is about the configuration.
func isFaults(err error) bool {
	var faults config.Faults
	return errors.As(err, &faults)
}
