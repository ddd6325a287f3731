package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/digest/trial"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newCheck() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and list every fault",
		Long: `check reads arcrawl.toml and the host files, and prints every fault with file, line, column, value, and what would be right.
It warns of settings that are valid but doubtful: more visits than politeness allows, an override that has ended, a refinement that
can never apply. If it can read the archive, it also checks that scrubbing rules match the newest versions of the seeds. It changes
nothing and needs no running daemon.

Exit code 0: the configuration is valid. Exit code 78: it has faults.`,
		Example: "  arcrawl check --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := checkConfig(cmd.Context(), path)
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), result), err)
			}
			if err != nil {
				return err
			}
			for _, w := range result.warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is valid: %s, digest %s\n", path, human.Count(result.Seeds, "seed"),
				result.Digest)
			return err
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print faults and warnings as JSON")
	return cmd
}

// checkResult is the result of check.
type checkResult struct {
	Usable   bool        `json:"usable"`
	Seeds    int         `json:"seeds"`
	Digest   string      `json:"digest,omitempty"`
	Faults   []api.Fault `json:"faults"`
	Warnings []api.Fault `json:"warnings"`

	warnings []config.Fault
}

// checkConfig loads the configuration and collects its warnings. The error lists the faults of an invalid
// configuration.
func checkConfig(ctx context.Context, path string) (checkResult, error) {
	c, err := config.Load(path)
	if err != nil {
		var faults config.Faults
		errors.As(err, &faults)
		return checkResult{Faults: api.Faults(faults), Warnings: []api.Fault{}}, err
	}
	warnings := slices.Concat(c.Warnings, c.Expired(time.Now()), idleRules(ctx, c))
	return checkResult{
		Usable: true, Seeds: len(c.Seeds), Digest: c.Digest, Faults: []api.Fault{},
		Warnings: api.Faults(warnings), warnings: warnings,
	}, nil
}

// idleRules returns warnings for scrubbing rules that match nothing in the archive. An archive without an index that
// takes longer to read than scrubPatience is skipped.
func idleRules(ctx context.Context, c *config.Config) []config.Fault {
	ctx, cancel := context.WithTimeout(ctx, scrubPatience)
	defer cancel()
	return trial.IdleRules(ctx, c, time.Now())
}

// scrubPatience is how long check may read the archive.
const scrubPatience = 20 * time.Second

// isFaults reports whether err lists faults of the configuration.
func isFaults(err error) bool {
	var faults config.Faults
	return errors.As(err, &faults)
}

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
