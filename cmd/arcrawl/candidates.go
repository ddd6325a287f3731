package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

func newScrubCandidates() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "candidates",
		Short: "List URIs that change at every visit or alternate between versions",
		Long: `candidates lists URIs whose content seems to differ at every visit: they changed at each of their last five to eight visits,
or they alternate between a few versions. arcrawl scrub suggest finds rules for them.

It reads the store. Stop the daemon first.`,
		Example: "  arcrawl scrub candidates --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			return printCandidates(c, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

func printCandidates(c *config.Config, out io.Writer) error {
	f, err := daemon.OpenStopped(c, time.Now())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	err = f.Each(func(r frontier.Record) error {
		why := r.Recent.Restless()
		if why == "" {
			return nil
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%d versions in %d visits\n", r.URI, why, r.Versions, r.Visits)
		return err
	})
	return errors.Join(err, table.Flush(), f.Close())
}
