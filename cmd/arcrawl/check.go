package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newCheck() *cobra.Command {
	var path string
	var asJSON, store bool
	cmd := &cobra.Command{
		Use:   "check [--store]",
		Short: "Check the configuration, or the store of a stopped daemon, and list every fault",
		Long: `check reads arcrawl.toml and the host files, and prints every fault with file, line, column, value, and what would be right.
It warns of settings that are valid but doubtful: more requests than a public host should get, more visits than politeness allows,
an override that has ended, a rule that can never match, a seed at a private address, a host file that is empty or applies to nothing.
arcrawl status counts the same warnings. If check can read the archive, it also checks that scrubbing rules match the newest versions
of the seeds. It names seeds that are in force and not listed any more: seeds of the running daemon, or else of the last good host files.
It changes nothing and needs no running daemon; if one runs, check asks it which hosts the crawl knows. arcrawl reload --dry-run
shows what a configuration would change in a running crawl. Without permission to read the main file it checks the host files only, and says so.

Exit code 0: the configuration is valid. Exit code 78: it has faults.

With --store it reads the whole store of a stopped daemon instead, compares it with its checksums, and compares each entry with the
entries that belong to it. For each fault it prints the file or entry, what the fault means, and what to do. To check the archive, use
arcrawl verify. Exit code 0: the store is undamaged. Exit code 65: it is damaged. Exit code 69: a daemon uses it.`,
		Example: "  arcrawl check --config /etc/arcrawl/arcrawl.toml\n  arcrawl check --store --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if store {
				return checkStore(cmd, path)
			}
			return checkFiles(cmd, path, asJSON)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cli.JSONFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&store, "store", false, "check the store of a stopped daemon for damage instead of the configuration")
	return cmd
}

// checkFiles checks the configuration and prints the result.
func checkFiles(cmd *cobra.Command, path string, asJSON bool) (err error) {
	var result checkResult
	what := path
	if cli.MayRead(path) {
		result, err = checkConfig(cmd.Context(), path)
	} else {
		result, what, err = checkHostFiles(path)
		fmt.Fprintf(cmd.ErrOrStderr(), "only host files: you may not read %s\n", path)
	}
	if asJSON {
		return errors.Join(cli.WriteJSON(cmd.OutOrStdout(), result), err)
	}
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
	}
	with := ""
	if n := len(result.Warnings); n > 0 {
		with = "; " + human.Count(n, "warning")
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is valid: %s, digest %s%s\n", what,
		human.Count(result.Seeds, "seed"), result.Digest, with)
	return err
}

// checkResult is the result of check.
type checkResult struct {
	Usable   bool           `json:"usable"`
	Seeds    int            `json:"seeds"`
	Digest   string         `json:"digest,omitempty"`
	Faults   []config.Fault `json:"faults"`
	Warnings []config.Fault `json:"warnings"`
}

// checkConfig loads the configuration and collects its warnings. The error lists the faults of an invalid
// configuration.
func checkConfig(ctx context.Context, path string) (checkResult, error) {
	c, err := config.LoadToRead(path)
	if err != nil {
		return resultOf(nil, err, nil)
	}
	result, err := resultOf(c, nil, knownHosts(ctx, c.Admin))
	result.Warnings = append(result.Warnings, vanishedSeeds(ctx, c)...)
	result.Warnings = append(result.Warnings, checkWings(c)...)
	return result, err
}

// resultOf returns the result of loading a configuration. knows reports whether the crawl knows a host.
func resultOf(c *config.Config, err error, knows func(pattern string) bool) (checkResult, error) {
	if err != nil {
		var faults config.Faults
		errors.As(err, &faults)
		return checkResult{Faults: append([]config.Fault{}, faults...), Warnings: []config.Fault{}}, err
	}
	return checkResult{
		Usable: true, Seeds: len(c.Seeds), Digest: c.Digest, Faults: []config.Fault{},
		Warnings: append([]config.Fault{}, c.Doubts(time.Now(), knows)...),
	}, nil
}

// knownHosts returns a function that asks the running daemon whether it knows a host. It returns nil if none answers.
func knownHosts(ctx context.Context, at config.Admin) func(pattern string) bool {
	if at.Socket == "" {
		return nil
	}
	client := api.NewClient(at.Socket)
	return func(pattern string) bool {
		list, _, err := client.List(ctx, frontier.Selection{Host: pattern}, "", 1)
		return err == nil && len(list) > 0
	}
}

// isFaults reports whether err lists faults of the configuration.
